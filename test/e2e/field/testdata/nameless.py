"""Has no name but its file's."""
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
numbers = spark.sparkContext.parallelize(range(150_000), 6)
print("RESULT", numbers.map(lambda n: (n % 29, n)).reduceByKey(max, 4).values().sum())
spark.stop()
