"""A report of eight queries of sales, which it makes itself; prints a RESULT line for each, by name. Spark is as it
comes.

Usage: eight.py [reversed]: the last query comes first.
"""
import sys

from pyspark.sql import SparkSession


def work(column, rounds):
    """What a user's expression computes of each row: so many hashes of it."""
    digest = f"aggregate(sequence(1, {rounds}), cast({column} as string), (acc, i) -> sha2(acc, 256))"
    return f"pmod(xxhash64({digest}), 1000003)"


QUERIES = {
    "days": f"SELECT day, count(*) AS n, sum({work('id', 60)}) AS v FROM sales GROUP BY day ORDER BY v DESC, day",
    "customers": f"""SELECT customer, sum(amount) AS paid, max({work('id + 1', 40)}) AS v FROM sales
        GROUP BY customer ORDER BY paid DESC, customer LIMIT 20""",
    "ranks": f"""SELECT sum(v) FROM (SELECT {work('id + 2', 80)} AS v,
        rank() OVER (PARTITION BY customer ORDER BY amount DESC, id) AS place FROM sales) WHERE place <= 3""",
    "items": f"""SELECT item, count(DISTINCT customer) AS n, sum({work('id + 3', 50)}) AS v FROM sales
        GROUP BY item HAVING n > 10 ORDER BY v DESC, item""",
    "absent": f"""SELECT count(*) AS n, sum({work('c.id', 90)}) AS v FROM sales c LEFT ANTI JOIN
        (SELECT customer FROM sales WHERE day < 40) s ON c.id = s.customer""",
    "pairs": f"""SELECT a.item, count(*) AS n FROM (SELECT item, {work('id + 4', 60)} AS v FROM sales) a
        JOIN (SELECT DISTINCT amount FROM sales) b ON a.v = b.amount GROUP BY a.item ORDER BY n DESC, a.item""",
    "regions": f"""SELECT region, day, sum({work('id + 5', 70)}) AS v FROM sales
        GROUP BY ROLLUP (region, day) ORDER BY v DESC, region, day""",
    "halves": f"""SELECT half, sum(v) AS v FROM (SELECT 1 AS half, {work('id + 6', 110)} AS v FROM sales WHERE day < 180
        UNION ALL SELECT 2 AS half, {work('id + 7', 110)} AS v FROM sales WHERE day >= 180) GROUP BY half ORDER BY half""",
}

spark = SparkSession.builder.appName("e2e-eight").getOrCreate()
spark.range(0, 40_000, 1, 8).selectExpr(
    "id", "pmod(xxhash64(id, 1), 2000) AS customer", "pmod(xxhash64(id, 2), 400) AS item",
    "pmod(xxhash64(id, 3), 365) AS day", "pmod(xxhash64(id, 4), 25) AS region",
    "pmod(xxhash64(id, 5), 100000) AS amount").createOrReplaceTempView("sales")
names = list(QUERIES)
if len(sys.argv) > 1:
    names.reverse()
answers = {}
for name in names:
    rows = spark.sql(QUERIES[name]).collect()
    answers[name] = f"{len(rows)} {[tuple(row) for row in rows[:3]]}"
for name in QUERIES:
    print(f"RESULT {name} {answers[name]}")
spark.stop()
