"""Keeps rows as objects on the executors' heap and passes over them again and again; prints RESULT and how many it saw.

Usage: cached.py KIND ROWS PASSES, KIND being text or arrays. Ordinary PySpark, whose rows stay in the JVM.
"""
import sys

from pyspark.sql import SparkSession

COLUMNS = {"text": "concat('row-', id, repeat('x', 80)) v", "arrays": "transform(sequence(1, 12), x -> cast(id + x as double)) v"}

kind, rows, passes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
spark = SparkSession.builder.appName("bench-cached").getOrCreate()
level = spark.sparkContext._jvm.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
kept = spark.range(0, rows, 1, 8).selectExpr("id", COLUMNS[kind])._jdf.toJavaRDD().persist(level)
print("RESULT", sum(kept.count() for _ in range(passes)))
spark.stop()
