"""Three stages that show how real executors answer to a quota: equal tasks, a
lone task, and tasks of which one has most of the records; prints RESULT lines.

Usage: plant.py [LONE]: the lone task takes LONE times as long. 1 is
about 33 core-seconds in all. Ordinary PySpark.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toil import toil


def answer(name, frame):
    row = frame.agg(F.sum("v").alias("v"), F.count("*").alias("n")).collect()[0]
    print(f"RESULT {name} {row.v} {row.n}")


spark = (SparkSession.builder.appName("e2e-plant")
         .config("spark.sql.adaptive.coalescePartitions.enabled", "false")  # Few bytes, much work.
         .config("spark.sql.shuffle.partitions", "12").getOrCreate())
lone = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
rows = 10_000
# 200 equal tasks.
answer("equal", spark.range(0, 45 * rows, 1, 200).select(toil("id").alias("v")))
# One task.
spark.range(0, int(lone * rows), 1, 1).select(toil("id").alias("v")).agg(F.sum("v")).collect()
# Of 12 reducers one has six times the mean of the others.
keyed = spark.range(0, 10 * rows, 1, 4).select(F.expr("if(pmod(id, 3) = 0, 0, pmod(xxhash64(id), 600))").alias("k"), "id")
answer("skewed", keyed.repartition(12, "k").select(toil("id").alias("v")))
spark.stop()
