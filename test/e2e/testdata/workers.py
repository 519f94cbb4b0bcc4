"""Python workers hash records, group them and say in what interpreter they ran.

Usage: workers.py, with --py-files toil.py and --archives data.zip#data.
"""
import os
import sys

from pyspark import SparkFiles
from pyspark.sql import SparkSession


def work(row):
    import toil
    with open(os.path.join(SparkFiles.getRootDirectory(), "data", "salt.txt")) as f:
        salt = f.read().strip()
    return row.id % 7, toil.digest(f"{salt}-{row.id}")


spark = SparkSession.builder.appName("e2e-workers").getOrCreate()
sc = spark.sparkContext
# Few tasks, whose records the JVM has read long before the workers are through them.
sums = spark.range(0, 600, 1, 4).rdd.map(work).reduceByKey(lambda a, b: (a + b) % 1000003, 4)
print("RESULT", sorted(sums.collect()))
print("PYTHON", sc.parallelize(range(2), 2).map(lambda _: (sys.executable, os.environ.get("E2E_PYTHON"))).distinct().collect())
spark.stop()
