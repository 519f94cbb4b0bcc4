"""JSON lines to partitioned Parquet and back, with a file of --files and a checkpoint, below a directory of its own."""
import json
import os
import sys

from pyspark import SparkFiles
from pyspark.sql import SparkSession, functions as F

lake = sys.argv[1]
os.makedirs(lake, exist_ok=True)
with open(os.path.join(lake, "raw.json"), "w") as raw:
    for n in range(40_000):
        print(json.dumps({"n": n, "city": n % 12, "paid": n * 37 % 1009}), file=raw)
spark = SparkSession.builder.appName("field lake").getOrCreate()
spark.sparkContext.setCheckpointDir(os.path.join(lake, "checkpoints"))
with open(SparkFiles.get("cities.csv")) as lines:
    cities = spark.createDataFrame([(int(a), b) for a, b in (line.strip().split(",") for line in lines)], "city int, name string")
table = os.path.join(lake, "table")
rows = spark.read.json(os.path.join(lake, "raw.json")).join(F.broadcast(cities), "city")
rows.write.mode("overwrite").partitionBy("name").parquet(table)
paid = spark.read.parquet(table).checkpoint().groupBy("name").agg(F.sum("paid").alias("paid"))
print("RESULT", [tuple(r) for r in paid.orderBy("name").limit(5).collect()], len([d for d in os.listdir(table) if "=" in d]))
spark.stop()
