"""One load with dlt: history as slowly changing dimension, type 2. Arguments: work, URL, database."""

import sys
from itertools import islice

import dlt
import requests
from dlt.destinations import postgres


def records(work, url):
    if work == "flat":
        for line in islice(requests.get(url, stream=True).iter_lines(), 1, None):
            key, name, at, value = line.decode().split(",")
            yield {"key": int(key), "name": name, "at": at, "value": int(value)}
        return
    body = requests.get(url).json()
    if work == "items":
        yield from body
    else:
        for name, record in body.items():
            yield {"name": name, **record}


work, url, database = sys.argv[1:]
disposition = "append" if work == "flat" else {"disposition": "merge", "strategy": "scd2"}
pipeline = dlt.pipeline(work, destination=postgres(database), dataset_name=work, progress=None)
pipeline.run(
    dlt.resource(records(work, url), name=work),
    write_disposition=disposition,
    loader_file_format="csv",
)
