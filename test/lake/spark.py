# Answers every question about a lake with two worker processes, or with one, which write their rows as lines of JSON into a folder for each
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

seconds = {}
for path in sorted(Path(questions).glob("*.sql")):
    began = time.time()
    rows = spark.sql(path.read_text()).write.option("ignoreNullFields", "false")
    rows.option("timestampFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSSSSX").json(f"{out}/{path.stem}")
    seconds[path.stem] = round(time.time() - began, 2)
print(json.dumps(seconds))
spark.stop()
