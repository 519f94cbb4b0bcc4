"""The application that `make demo` runs: an ordinary PySpark program.

It knows nothing of Pacer. Its data are generated, its answer is the same in
every run, and its work is done by the executors' JVMs (SQL expressions, no
Python functions):

    events (range) --+                                       two branches that
                     +-- group by key -- re-key --+          can run side by side
    orders (range) --+                            +-- join -- group -- top rows
                     +-- group by key -- re-key --+

That is six stages of the same number of tasks each, of about half a second a
task on one core. Usage: app.py [SCALE], where 1 is about 120 core-seconds.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

PARTITIONS = 36
KEYS = 360_000
# Rounds of hashing for a row, by stage.
EVENTS, ORDERS, EVENT_KEYS, ORDER_KEYS, MATCHES, GROUPS = 160, 160, 220, 220, 360, 420


def toil(column, rounds):
    """A number that takes `rounds` rounds of SHA-256 over column to find."""
    digest = f"aggregate(sequence(1, {rounds}), cast({column} as string), (acc, i) -> sha2(acc, 256))"
    return F.expr(f"pmod(xxhash64({digest}), 1000003)")


def branch(spark, rows, rounds, rounds_by_key, salt):
    """One input: its rows, then its keys, spread anew for the join."""
    read = spark.range(0, rows, 1, PARTITIONS).select(
        F.expr(f"pmod(xxhash64(id, {salt}), {KEYS})").alias("key"), toil("id", rounds).alias("value"))
    keys = read.groupBy("key").agg(F.sum("value").alias("total"), F.count("*").alias("n"))
    return keys.select(
        F.expr(f"pmod(key * 7919 + 13, {KEYS})").alias("match"),
        toil(f"total + {salt}", rounds_by_key).alias("value"), "n")


def main(scale):
    spark = (SparkSession.builder.appName("pacer-demo")
             .config("spark.sql.adaptive.enabled", "false")
             .config("spark.sql.autoBroadcastJoinThreshold", "-1")
             .config("spark.sql.shuffle.partitions", str(PARTITIONS))
             .config("spark.ui.showConsoleProgress", "false")
             .getOrCreate())
    spark.sparkContext.setLogLevel("WARN")
    rows = int(KEYS * scale)
    events = branch(spark, rows, EVENTS, EVENT_KEYS, 1)
    orders = branch(spark, rows, ORDERS, ORDER_KEYS, 2)
    joined = events.alias("e").join(orders.alias("o"), "match").select(
        F.expr("pmod(match * 31, 1000000007)").alias("grp"), (F.col("e.n") * F.col("o.n")).alias("pairs"),
        toil("e.value + o.value", MATCHES).alias("value"))
    groups = joined.groupBy("grp").agg(F.sum("value").alias("value"), F.sum("pairs").alias("pairs"))
    top = groups.select("grp", "pairs", toil("value", GROUPS).alias("score")).orderBy(F.desc("score"), "grp").limit(5)
    for row in top.collect():
        print(f"group {row.grp}: pairs {row.pairs}, score {row.score}")
    spark.stop()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
