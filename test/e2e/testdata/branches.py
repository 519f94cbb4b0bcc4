"""Two generated branches, joined, grouped and sorted; prints RESULT lines.

Usage: branches.py [SCALE [PAUSE]]: 1 is about 12 core-seconds; PAUSE seconds
pass in the driver before the context stops. Ordinary PySpark.
"""
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toil import toil

PARTITIONS = 16


def branch(spark, rows, salt):
    return (spark.range(0, rows, 1, PARTITIONS)
            .select(F.expr(f"pmod(xxhash64(id, {salt}), 20000)").alias("k"), toil(f"id + {salt}", 120).alias("v"))
            .groupBy("k").agg(F.sum("v").alias("v"), F.count("*").alias("n")))


spark = (SparkSession.builder.appName("e2e-branches")
         .config("spark.sql.adaptive.coalescePartitions.enabled", "false")  # Few bytes, much work.
         .config("spark.sql.autoBroadcastJoinThreshold", "-1")
         .config("spark.sql.shuffle.partitions", str(PARTITIONS)).getOrCreate())
scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
rows = int(50_000 * scale)
a = branch(spark, rows, 1).alias("a")
b = branch(spark, rows, 2).withColumnRenamed("k", "j").alias("b")
joined = a.join(b, F.expr("a.k = pmod(b.j * 7, 20000)")).select(
    F.expr("pmod(a.k, 5000)").alias("g"), toil("a.v + b.v", 120).alias("v"), F.expr("a.n * b.n").alias("n"))
out = joined.groupBy("g").agg(F.sum("v").alias("v"), F.sum("n").alias("n")).select("g", toil("v", 200).alias("v"), "n")
for row in out.orderBy(F.desc("v"), "g").limit(5).collect():
    print(f"RESULT {row.g} {row.v} {row.n}")
if len(sys.argv) > 2:
    time.sleep(float(sys.argv[2]))
spark.stop()
