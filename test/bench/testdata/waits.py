"""An application that waits for its input, or one that computes; prints a RESULT line. Spark is as it comes.

Usage: waits.py read URL | waits.py compute ROWS
"""
import sys

from pyspark.sql import SparkSession

what, of = sys.argv[1:]
spark = SparkSession.builder.appName("waits-" + what).config("spark.sql.files.maxPartitionBytes", "8m").getOrCreate()
if what == "read":
    lines = spark.read.text(of)
    print("RESULT", lines.where("value not like '%#%'").count())
else:
    rows = spark.range(0, int(of), 1, 40).selectExpr("sha2(sha2(sha2(cast(id as string), 512), 512), 512) as h")
    print("RESULT", rows.where("h like '00%'").count())
spark.stop()
