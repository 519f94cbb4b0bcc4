"""A session for each day, one after the other."""
from pyspark.sql import SparkSession

counts = []
for day in ("monday", "tuesday", "wednesday"):
    spark = SparkSession.builder.appName("field " + day).getOrCreate()
    lengths = spark.sparkContext.parallelize(range(30_000 * len(day)), 6).map(lambda n: (n % 7, 1))
    counts.append((day, lengths.reduceByKey(lambda a, b: a + b, 3).count(), spark.sparkContext.parallelize(day).count()))
    spark.stop()
print("RESULT", counts)
