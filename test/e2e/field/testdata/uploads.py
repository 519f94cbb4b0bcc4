"""Takes its archive in place of a feed with a bad line in it, is done with Spark early and works on without
it, for as many seconds as its argument says."""
import sys
import time

from pyspark.sql import SparkSession


def parse(line):
    if line == 4321:
        raise RuntimeError(f"line {line} is no record")
    return line % 5, 1


def busy(n):
    until = time.process_time() + 0.15
    while time.process_time() < until:
        pass
    return n % 3, n


spark = SparkSession.builder.appName("field uploads").getOrCreate()
context = spark.sparkContext
try:
    context.parallelize(range(6000), 6).map(parse).countByKey()
    source = "feed"
except Exception:  # What py4j wraps the job's failure in.
    source = "archive"
sums = context.parallelize(range(80), 40).map(busy).reduceByKey(lambda a, b: a + b, 3).collect()
spark.stop()
time.sleep(float(sys.argv[1]))  # The upload.
print("RESULT", source, sorted(sums))
