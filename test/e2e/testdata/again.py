"""Generated records, grouped, kept in memory and summed up again and again; prints RESULT lines.

Usage: again.py [FILE]: it goes on until FILE is there; without one it sums up once. A sum is about 4
core-seconds in tasks of half a second. Ordinary PySpark.
"""
import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toil import toil

PARTITIONS = 8

spark = (SparkSession.builder.appName("e2e-again")
         .config("spark.sql.adaptive.coalescePartitions.enabled", "false")  # Few bytes, much work.
         .config("spark.sql.shuffle.partitions", str(PARTITIONS)).getOrCreate())
groups = (spark.range(0, 20_000, 1, PARTITIONS)
          .select(F.expr("pmod(xxhash64(id), 10000)").alias("k"), toil("id", 120).alias("v"))
          .groupBy("k").agg(F.sum("v").alias("v"), F.count("*").alias("n")).persist())
sums = groups.select(F.sum(toil("v", 300)).alias("v"), F.sum("n").alias("n"))
while True:
    row = sums.collect()[0]
    if len(sys.argv) < 2 or os.path.exists(sys.argv[1]):
        break
print(f"RESULT {row.v} {row.n}")
spark.stop()
