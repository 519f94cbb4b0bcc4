"""Makes the tables that report.py and scores.py read.

Usage: tables.py DIRECTORY [ROWS]: so many sales, 750,000 by default, of 20,000 customers and 400 items.
"""
import sys

from pyspark.sql import SparkSession

directory = sys.argv[1]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 750_000
spark = SparkSession.builder.appName("bench-tables").getOrCreate()


def drawn(salt, below):
    """A number of each row that looks drawn at random, below a bound."""
    return f"cast(pmod(xxhash64(id, {salt}), {below}) as int)"


tables = {
    "sales": (rows, 12, f"id, {drawn(1, 20_000)} AS customer, {drawn(2, 400)} AS item, {drawn(3, 365)} AS day, "
                        f"cast({drawn(4, 100_000)} AS double) / 100 AS amount"),
    "customers": (20_000, 2, f"cast(id AS int) AS customer, concat('region ', {drawn(5, 25)}) AS region, "
                             "sha2(string(id), 256) AS name"),
    "items": (400, 1, "cast(id AS int) AS item, concat('category ', pmod(id, 20)) AS category, "
                      "1 + pmod(id, 50) AS price"),
}
for name, (count, files, columns) in tables.items():
    spark.range(0, count, 1, files).createOrReplaceTempView("ids")
    spark.sql(f"SELECT {columns} FROM ids").write.mode("overwrite").parquet(f"{directory}/{name}")
spark.stop()
