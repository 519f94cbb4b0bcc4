"""The cells of a notebook, run as a kernel runs them: the same group three times, with jobs beside and between.

Usage: kernel_groups.py MASTER JAR GROUP. The first run teaches; the others have 1.8 times what it took. Prints the answer of
each run as RESULT, and what it took of its deadline as GROUP.
"""
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toil import toil

spark = (SparkSession.builder.appName("e2e-notebook").master(sys.argv[1]).config("spark.jars", sys.argv[2])
         .config("spark.executor.memory", "768m").config("spark.driver.memory", "512m").config("spark.ui.enabled", "false")
         .config("spark.sql.adaptive.coalescePartitions.enabled", "false").config("spark.sql.shuffle.partitions", "16").getOrCreate())
sc = spark.sparkContext


def report():
    sums = (spark.range(0, 100_000, 1, 32).select(F.expr("pmod(xxhash64(id), 1000)").alias("k"), toil("id", 200).alias("v"))
            .groupBy("k").agg(F.sum("v").alias("v")))
    return sums.select(F.sum(toil("v", 9000)).alias("v")).collect()[0].v


def group(deadline):
    sc.setLocalProperty("spark.pacer.group.deadline", deadline)


spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect()
sc.setLocalProperty("spark.pacer.group.name", sys.argv[3])
deadline = 600.0
for run in range(3):
    group(f"{deadline * 1000:.0f}ms")
    began = time.monotonic()
    print("RESULT", report())
    took = time.monotonic() - began
    print(f"GROUP {took:.3f} {deadline:.3f}", flush=True)
    if run == 0:
        deadline = 1.8 * took
    if run == 1:
        group(None)
        spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect()
group("soon")
print("RESULT", spark.range(0, 100, 1, 2).count())
group(None)
time.sleep(5)
spark.stop()
