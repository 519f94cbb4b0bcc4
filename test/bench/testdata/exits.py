"""A job of some seconds that says what it computes and exits with a code of its own; prints RESULT and a count.

Usage: exits.py CODE. Ordinary PySpark.
"""
import sys
import time

from pyspark.sql import SparkSession


def waits(_):
    time.sleep(0.5)
    return 1


spark = SparkSession.builder.appName("bench-exits").getOrCreate()
print("RESULT", spark.sparkContext.parallelize(range(8), 8).map(waits).sum(), flush=True)
spark.stop()
sys.exit(int(sys.argv[1]))
