"""Sales by shop and the best of them, as a report that sets nothing; prints RESULT lines.

Usage: daily.py [SCALE [SHOPS]]: 1 and 40,000 are about 15 core-seconds in three stages. Adaptive execution
merges the partitions of both shuffles. Ordinary PySpark.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toil import toil

spark = SparkSession.builder.appName("e2e-daily").getOrCreate()
scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
each = int(sys.argv[2]) if len(sys.argv) > 2 else 40_000
sales = (spark.range(0, int(120_000 * scale), 1, 24)
         .select(F.expr(f"pmod(xxhash64(id), {each})").alias("shop"), toil("id", 120).alias("amount")))
shops = (sales.groupBy("shop").agg(F.sum("amount").alias("amount"), F.count("*").alias("n"))
         .select("shop", toil("amount", 300).alias("amount"), "n", F.sha2(F.col("shop").cast("string"), 512).alias("name")))
areas = shops.groupBy((F.col("shop") % 1000).alias("area")).agg(F.sum("amount").alias("amount"), F.max("name").alias("name"))
for row in areas.orderBy(F.desc("amount"), "area").limit(5).collect():
    print(f"RESULT {row.area} {row.amount} {row.name[:12]}")
spark.stop()
