"""Writes into an object store and reads that back; prints RESULT lines.

Usage: objects.py text DIR             one task's lines, by saveAsTextFile
       objects.py lines DIR FILES [only]  so many files of a MiB each, by a DataFrame; they are not read with "only"
       objects.py days DIR             a table of three days by Parquet, and a day more by another job
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

what, out = sys.argv[1:3]
spark = SparkSession.builder.appName("e2e-objects").getOrCreate()
if what == "text":
    spark.sparkContext.parallelize(["a", "b"], 1).saveAsTextFile(out)
    print("RESULT", sorted(spark.sparkContext.textFile(out).collect()))
elif what == "lines":
    files = int(sys.argv[3])
    lines = spark.range(0, files << 14, 1, files).select(F.rpad(F.col("id").cast("string"), 63, ".").alias("value"))
    lines.write.mode("overwrite").text(out)
    if len(sys.argv) == 4:
        read = spark.read.text(out)
        print("RESULT", read.count(), read.select(F.sum(F.regexp_replace("value", r"\.", "").cast("long"))).first()[0])
elif what == "days":
    def write(first, last):
        days = spark.range(first * 1000, last * 1000, 1, 2).withColumn("day", F.expr("id div 1000"))
        days.repartition(3).write.mode("append").partitionBy("day").parquet(out)
    write(0, 3)
    write(3, 4)
    for row in spark.read.parquet(out).groupBy("day").agg(F.count("*").alias("n"), F.sum("id").alias("v")).orderBy("day").collect():
        print("RESULT", row.day, row.n, row.v)
spark.stop()
