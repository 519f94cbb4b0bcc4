"""Generated records, grouped and ranked; prints RESULT lines.

Usage: chain.py [SCALE]: 1 is about 15 core-seconds, half of it in each of its
two stages. Ordinary PySpark.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toil import toil

PARTITIONS = 16

spark = (SparkSession.builder.appName("e2e-chain")
         .config("spark.sql.adaptive.coalescePartitions.enabled", "false")  # Few bytes, much work.
         .config("spark.sql.shuffle.partitions", str(PARTITIONS)).getOrCreate())
scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
groups = (spark.range(0, int(150_000 * scale), 1, PARTITIONS)
          .select(F.expr("pmod(xxhash64(id), 20000)").alias("k"), toil("id", 120).alias("v"))
          .groupBy("k").agg(F.sum("v").alias("v"), F.count("*").alias("n")))
for row in groups.select("k", toil("v", int(900 * scale)).alias("v"), "n").orderBy(F.desc("v"), "k").limit(5).collect():
    print(f"RESULT {row.k} {row.v} {row.n}")
spark.stop()
