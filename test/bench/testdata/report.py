"""A report of SQL queries on the tables of tables.py; prints a RESULT line for each. Spark is as it comes:
adaptive execution merges partitions and plans joins anew as it likes.

Usage: report.py TABLES QUERIES [QUERIES]: names with commas between them; the second ones run beside each
other, in three threads.
"""
import sys
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession


def work(column, rounds=10):
    """What a user's expression computes of each row: so many hashes of it."""
    digest = f"aggregate(sequence(1, {rounds}), cast({column} as string), (acc, i) -> sha2(acc, 256))"
    return f"pmod(xxhash64({digest}), 1000003)"


QUERIES = {
    "days": f"SELECT day, count(*) AS n, sum({work('id')}) AS v FROM sales GROUP BY day ORDER BY v DESC, day",
    "customers": f"""SELECT customer, round(sum(amount), 2) AS paid, max({work('id + 1')}) AS v FROM sales
        GROUP BY customer ORDER BY paid DESC, customer LIMIT 20""",
    "categories": f"""SELECT category, count(*) AS n, sum({work('id + 2')} * price) AS v FROM sales
        JOIN items USING (item) GROUP BY category ORDER BY category""",
    "regions": f"""SELECT region, category, sum({work('id + 3')}) AS v FROM sales JOIN customers USING (customer)
        JOIN items USING (item) GROUP BY region, category ORDER BY v DESC, region, category""",
    "ranks": f"""SELECT day, sum(v) AS v FROM (SELECT day, {work('id + 4')} AS v,
        rank() OVER (PARTITION BY customer ORDER BY amount DESC, id) AS place FROM sales) WHERE place <= 3
        GROUP BY day ORDER BY day""",
    "items": f"""SELECT item, count(DISTINCT customer) AS n, sum({work('id + 5', 5)}) AS v FROM sales GROUP BY item
        HAVING n > 10 ORDER BY v DESC, item""",
    "absent": f"""SELECT count(*) AS n, sum({work('c.customer', 60)}) AS v FROM customers c LEFT ANTI JOIN
        (SELECT customer FROM sales WHERE pmod({work('id + 6', 5)}, 3) = 0 AND day < 40) s USING (customer)""",
    "pairs": f"""SELECT a.item, count(*) AS n, sum({work('a.id + b.id', 3)}) AS v FROM sales a JOIN sales b
        ON a.customer = b.customer AND a.day = b.day + 1 GROUP BY a.item ORDER BY n DESC, v, a.item""",
    "returns": f"""SELECT region, day, sum({work('id + 7')}) AS v FROM sales JOIN customers USING (customer)
        WHERE amount > 100 GROUP BY ROLLUP (region, day) ORDER BY v DESC, region, day""",
}


def answer(name):
    rows = spark.sql(QUERIES[name]).collect()
    return f"RESULT {name} {len(rows)} {[tuple(row) for row in rows[:3]]}"


tables, *parts = sys.argv[1:]
spark = SparkSession.builder.appName("report").getOrCreate()
for table in ("sales", "customers", "items"):
    spark.read.parquet(f"{tables}/{table}").createOrReplaceTempView(table)
for name in parts[0].split(","):
    print(answer(name))
if len(parts) > 1:
    with ThreadPoolExecutor(3) as threads:
        for line in threads.map(answer, parts[1].split(",")):
            print(line)
spark.stop()
