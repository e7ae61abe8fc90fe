"""Writes a response as messages of the Singer specification, for target-postgres. Arguments: work, URL."""

import json
import sys
from itertools import islice

import requests


def write(message):
    sys.stdout.write(json.dumps(message) + "\n")


def schema_of(records):
    """Every field that occurs, and what it holds: text, numbers, truth, or a nested value as JSON."""
    properties = {}
    for record in records:
        for name, value in record.items():
            kind = {str: "string", bool: "boolean", int: "number", float: "number"}.get(type(value), "object")
            kinds = properties.setdefault(name, set())
            kinds.add("array" if isinstance(value, list) else kind)
    return {"properties": {name: {"type": ["null", *sorted(kinds)]} for name, kinds in properties.items()}}


work, url = sys.argv[1:]
if work == "flat":
    lines = (line.decode().split(",") for line in islice(requests.get(url, stream=True).iter_lines(), 1, None))
    records = ({"key": int(key), "name": name, "at": at, "value": int(value)} for key, name, at, value in lines)
    types = {"key": "integer", "name": "string", "at": "string", "value": "integer"}
    schema, key = {"properties": {name: {"type": kind} for name, kind in types.items()}}, "key"
    schema["properties"]["at"]["format"] = "date-time"
else:
    body = requests.get(url).json()
    records = body if work == "items" else [{"name": name, **record} for name, record in body.items()]
    schema, key = schema_of(records), "internalName" if work == "items" else "name"
write({"type": "SCHEMA", "stream": work, "schema": schema, "key_properties": [key]})
for record in records:
    write({"type": "RECORD", "stream": work, "record": record})
