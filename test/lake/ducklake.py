# Attaches the DuckLake catalogue of a lake with DuckDB's own extension, and writes what it finds as JSON: the rows of each view,
# how many rows each table has, and which files it opens for the last day of a table.
# Usage: ducklake.py LAKE OUT
import json
import os
import re
import sys
from pathlib import Path

import duckdb
import duckdb_extension_ducklake

lake, out = sys.argv[1:3]
[extension] = Path(duckdb_extension_ducklake.__file__).parent.glob("extensions/*/*.duckdb_extension")
db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
db.execute(f"load '{extension}'")
db.execute(f"attach 'ducklake:{lake}/history.ducklake' as lake (read_only, data_path '{lake}/', override_data_path true)")
names = db.execute("select table_name, table_type from information_schema.tables where table_catalog = 'lake'").fetchall()


def plain(value):
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if hasattr(value, "strftime") else value


def rows(sql):
    return [[plain(value) for value in row] for row in db.execute(sql).fetchall()]


[[last]] = rows("select (max(observed_at) - interval 1 day)::varchar from lake.world_sample")
[[_, plan]] = rows(f"explain analyze select count(*) from lake.world_sample where observed_at >= '{last}'")
with_types = rows("select table_name, column_name, data_type from information_schema.columns where table_catalog = 'lake'")
# From another folder the files are found by paths that start from it.
os.chdir(lake)
db.execute("attach 'ducklake:history.ducklake' as near (read_only)")
found = {
    "views": {name: rows(f'from lake."{name}"') for name, kind in names if kind == "VIEW"},
    "tables": {name: rows(f'select count(*) from near."{name}"')[0][0] for name, kind in names if kind != "VIEW"},
    "filesOfLastDay": int(re.search(r"Total Files Read: (\d+)", plan).group(1)),
    "types": {f"{table}.{column}": kind for table, column, kind in with_types},
}
json.dump(found, open(out, "w"))
