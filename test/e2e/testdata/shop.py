"""What a shop sells, by customer and by region, and what comes back; prints RESULT lines.

Usage: shop.py [SCALE]: 1 is about 12 core-seconds in seven stages. It has the name that --name gives it. Ordinary
PySpark.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from toil import toil

PARTITIONS = 16

spark = (SparkSession.builder
         .config("spark.sql.adaptive.coalescePartitions.enabled", "false")  # Few bytes, much work.
         .config("spark.sql.autoBroadcastJoinThreshold", "-1")
         .config("spark.sql.shuffle.partitions", str(PARTITIONS)).getOrCreate())
scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0


def table(name, rows, rounds):
    """Rows by the key of that name, with a value v_NAME that takes so much work."""
    return (spark.range(0, int(rows * scale), 1, PARTITIONS)
            .select(F.expr(f"pmod(xxhash64(id, {rounds}), 20000)").alias(name), toil("id", rounds).alias("v"))
            .groupBy(name).agg(F.sum("v").alias("v_" + name)))


sold = table("orders", 40_000, 120).join(table("customers", 30_000, 100), F.expr("orders = pmod(customers * 7, 20000)"))
regions = (sold.select(F.expr("pmod(orders, 5000)").alias("region"), toil("v_orders + v_customers", 100).alias("v"))
           .groupBy("region").agg(F.sum("v").alias("v")).select("region", toil("v", 250).alias("v")))
kept = (regions.join(table("returns", 15_000, 90), F.expr("region = returns"))
        .select("region", toil("v + v_returns", 150).alias("v")))
for row in kept.orderBy(F.desc("v"), "region").limit(5).collect():
    print(f"RESULT {row.region} {row.v}")
spark.stop()
