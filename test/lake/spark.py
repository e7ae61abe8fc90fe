# Answers every question about a lake with two worker processes, or with one, and writes each row as a line of JSON, into a file for each
# question. Says on stdout how many seconds each took.
# Usage: spark.py LAKE SQL_FOLDER OUT_FOLDER WORKERS
import json
import sys
import time
from collections import defaultdict
from pathlib import Path

from pyspark.sql import SparkSession

lake, questions, out, workers = sys.argv[1:5]
spark = (
    SparkSession.builder.master(f"local-cluster[{workers},1,1024]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "4")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
files = defaultdict(list)
for file in json.load(open(f"{lake}/index.json"))["files"]:
    files[file["table"].split(".")[1]].append(f"{lake}/{file['path']}")
for table, paths in files.items():
    spark.read.parquet(*paths).createOrReplaceTempView(table)


def plain(value):
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if hasattr(value, "strftime") else value


seconds = {}
for path in sorted(Path(questions).glob("*.sql")):
    began = time.time()
    with open(f"{out}/{path.stem}.ndjson", "w") as file:
        # One partition at a time: a year has millions of captures.
        for row in spark.sql(path.read_text()).toLocalIterator(prefetchPartitions=True):
            file.write(json.dumps([plain(value) for value in row]) + "\n")
    seconds[path.stem] = round(time.time() - began, 2)
print(json.dumps(seconds))
spark.stop()
