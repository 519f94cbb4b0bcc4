"""Has a master of its own, as it was written."""
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").appName("field laptop").getOrCreate()
print("RESULT", spark.sparkContext.parallelize(range(90_000), 6).map(lambda n: n * n % 101).sum())
spark.stop()
