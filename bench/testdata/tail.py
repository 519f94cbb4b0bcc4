"""One long stage of many equal tasks; prints a RESULT line.

Usage: tail.py [SCALE]: 1 is about 30 core-seconds. Ordinary PySpark.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = (SparkSession.builder.appName("bench-tail")
         .config("spark.sql.adaptive.enabled", "false").config("spark.sql.shuffle.partitions", "1").getOrCreate())
scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
digest = "aggregate(sequence(1, 400), cast(id as string), (acc, i) -> sha2(acc, 256))"
row = (spark.range(0, int(60_000 * scale), 1, 120)
       .select(F.expr(f"pmod(xxhash64({digest}), 1000003)").alias("v")).agg(F.sum("v").alias("v")).collect()[0])
print(f"RESULT {row.v}")
spark.stop()
