"""Saves a model into the directory of its argument, where each task writes a file of its own, and reads it again."""
import os
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
model = sys.argv[1]
spark.sparkContext.parallelize(range(1000), 4).map(lambda n: n * n).saveAsTextFile(model)
weights = spark.sparkContext.textFile(model).map(int).sum()
print("RESULT", weights, sorted(part for part in os.listdir(model) if part.startswith("part-")))
spark.stop()
