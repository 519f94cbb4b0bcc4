"""A stage that runs well, and an exception after it."""
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("e2e-raises").getOrCreate()
print("RESULT", spark.range(1000).selectExpr("sum(id)").collect())
raise ValueError("this application fails")
