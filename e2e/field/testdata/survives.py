"""Counts a feed with a bad line in it; when that job fails, it goes on with the archive."""
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("field survives").getOrCreate()
context = spark.sparkContext


def parse(line):
    if line == 4321:
        raise RuntimeError(f"line {line} is no record")
    return line % 5, 1


try:
    context.parallelize(range(6000), 6).map(parse).countByKey()
    source = "feed"
except Exception:  # What py4j wraps the job's failure in.
    source = "archive"
pairs = context.parallelize(range(400_000), 6).map(lambda n: (n % 17, n)).reduceByKey(lambda a, b: a ^ b)
print("RESULT", source, sorted(pairs.collect())[:4])
spark.stop()
