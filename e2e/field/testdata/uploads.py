"""Is done with Spark early and works on without it, for as many seconds as its argument says."""
import sys
import time

from pyspark.sql import SparkSession


def busy(n):
    until = time.process_time() + 0.15
    while time.process_time() < until:
        pass
    return n % 3, n


spark = SparkSession.builder.appName("field uploads").getOrCreate()
sums = spark.sparkContext.parallelize(range(80), 40).map(busy).reduceByKey(lambda a, b: a + b, 3).collect()
spark.stop()
time.sleep(float(sys.argv[1]))  # The upload.
print("RESULT", sorted(sums))
