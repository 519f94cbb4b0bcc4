"""A map and a reduce of some seconds; its argument is for how many seconds of CPU time."""
import sys
import time

from pyspark.sql import SparkSession

TASKS = 40


def busy(n, each):
    until = time.process_time() + each
    while time.process_time() < until:
        pass
    return n % 4, 1


each = float(sys.argv[1]) / TASKS
spark = SparkSession.builder.appName("field works").getOrCreate()
print("RESULT", sorted(spark.sparkContext.parallelize(range(TASKS), TASKS).map(lambda n: busy(n, each)).reduceByKey(lambda a, b: a + b, 2).collect()))
spark.stop()
