"""Tasks of a second each that mostly wait; prints RESULT and how many there were.

Usage: lend.py SECONDS. Two of them run side by side and use a tenth of a core together. Ordinary PySpark.
"""
import sys
import time

from pyspark.sql import SparkSession


def waits(_):
    began = time.process_time()
    while time.process_time() - began < 0.05:
        pass
    time.sleep(0.95)
    return 1


spark = SparkSession.builder.appName("bench-lend").getOrCreate()
tasks = 2 * int(sys.argv[1])
print("RESULT", spark.sparkContext.parallelize(range(tasks), tasks).map(waits).sum())
spark.stop()
