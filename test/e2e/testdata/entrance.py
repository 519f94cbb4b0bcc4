"""Sums a column by key; prints RESULT lines. Ordinary PySpark, all settings Spark's own.

Usage: entrance.py [WORK [UNTIL | MASTER JAR]]: WORK is about its core-seconds. With UNTIL it
keeps its context until that file is there. With MASTER and JAR it is run by python3 alone and
gives them to SparkSession.builder.
"""
import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

work = float(sys.argv[1]) if len(sys.argv) > 1 else 0
builder = SparkSession.builder
if len(sys.argv) > 3:
    builder = (builder.appName("e2e-builder").master(sys.argv[2]).config("spark.jars", sys.argv[3])
               .config("spark.executor.memory", "768m").config("spark.driver.memory", "512m").config("spark.ui.enabled", "false"))
spark = builder.getOrCreate()
if work > 0:
    digest = "aggregate(sequence(1, 120), cast(id as string), (acc, i) -> sha2(acc, 256))"
    spark.range(0, int(work * 10_000), 1, 64).select(F.expr(f"xxhash64({digest})").alias("v")).agg(F.max("v")).collect()
rows = spark.range(0, 100_000, 1, 8).selectExpr("pmod(id, 10) k", "id v").groupBy("k").sum("v").orderBy("k").limit(3).collect()
for row in rows:
    print("RESULT", *row)
while len(sys.argv) == 3 and not os.path.exists(sys.argv[2]):
    time.sleep(0.1)
spark.stop()
