# Answers every question about a lake with two worker processes, or with one, and writes the rows as JSON.
# Usage: spark.py LAKE SQL_FOLDER OUT WORKERS
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


answers = {}
for path in sorted(Path(questions).glob("*.sql")):
    began = time.time()
    rows = [[plain(value) for value in row] for row in spark.sql(path.read_text()).collect()]
    answers[path.stem] = {"rows": rows, "seconds": round(time.time() - began, 2)}
json.dump(answers, open(out, "w"))
spark.stop()
