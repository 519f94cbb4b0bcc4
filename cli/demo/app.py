"""The application that `make demo` runs: an ordinary PySpark program.

It knows nothing of Pacer. Its data are generated, its answer is the same in
every run, and its work is done by the executors' JVMs (SQL, no Python
functions):

    events (range) --+                                       two branches that
                     +-- group by key -- re-key --+          can run side by side
    orders (range) --+                            +-- join -- group -- top rows
                     +-- group by key -- re-key --+

That is six stages of the same number of tasks each, of about half a second a
task on one core. Usage: app.py [SCALE], where 1 is about 130 core-seconds.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

PARTITIONS = 36
# Keys at scale 1, rows of a key in each input.
KEYS, ROWS = 150_000, 4
# How many hashes a row of each stage is worth.
INPUT, BY_KEY, MATCHES, GROUPS = 1000, 4000, 4000, 4000


def toil(rows, rounds, seed, by):
    """For each value of column by, the sum of `rounds` hashes for each of its rows."""
    spread = rows.select(by, seed.alias("seed"), F.explode(F.expr(f"sequence(1, {rounds})")).alias("round"))
    return spread.groupBy(by).agg(F.sum(F.expr("pmod(xxhash64(seed, round), 1000003)")).alias("value"))


def branch(spark, keys, salt):
    """One input: its rows by key, then its keys, spread anew for the join."""
    rows = spark.range(0, keys * ROWS, 1, PARTITIONS).select(
        F.col("id"), F.expr(f"pmod(xxhash64(id, {salt}), {keys})").alias("key"))
    by_key = toil(rows, INPUT, F.col("id"), "key")
    return toil(by_key.select(F.expr(f"pmod(key * 7919 + 13, {keys})").alias("match"), "value"), BY_KEY, F.col("value"), "match")


def main(scale):
    spark = (SparkSession.builder.appName("pacer-demo")
             .config("spark.sql.adaptive.enabled", "false")
             .config("spark.sql.autoBroadcastJoinThreshold", "-1")
             .config("spark.sql.shuffle.partitions", str(PARTITIONS))
             .config("spark.ui.showConsoleProgress", "false")
             .getOrCreate())
    spark.sparkContext.setLogLevel("WARN")
    keys = int(KEYS * scale)
    events, orders = branch(spark, keys, 1), branch(spark, keys, 2)
    joined = events.alias("e").join(orders.alias("o"), "match").select(
        F.expr("pmod(match * 31, 1000000007)").alias("grp"), (F.col("e.value") + F.col("o.value")).alias("value"))
    groups = toil(joined, MATCHES, F.col("value"), "grp")
    top = toil(groups, GROUPS, F.col("value"), "grp").orderBy(F.desc("value"), "grp").limit(5)
    for row in top.collect():
        print(f"group {row.grp}: {row.value}")
    spark.stop()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
