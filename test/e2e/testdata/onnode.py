"""A small job in cluster mode: says what it computes with a module that came with it, and exits with a code.

Usage: onnode.py CODE
"""
import sys

from pyspark.sql import SparkSession

from toil import toil

spark = SparkSession.builder.appName("e2e-onnode").getOrCreate()
print("RESULT", spark.range(0, 1000, 1, 4).select(toil("id", 3).alias("v")).selectExpr("count(v)").collect(), flush=True)
spark.stop()
if sys.argv[1] != "0":
    print("this program exits with", sys.argv[1], file=sys.stderr)
sys.exit(int(sys.argv[1]))
