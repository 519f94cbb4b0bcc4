"""Caches blocks off the heap, 70 bytes for each of the rows of its second
argument, and sorts one in three of them (or its third argument) again and again, until
the file named by its first argument is there. Prints each different answer once: there is one."""
import os
import sys

from pyspark import StorageLevel
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("offheap").getOrCreate()
columns = ["id"] + [f"xxhash64(id, {i}) AS c{i}" for i in range(8)]
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
cached = spark.range(0, rows, 1, 16).selectExpr(*columns).persist(StorageLevel.OFF_HEAP)
cached.createOrReplaceTempView("t")
part = int(sys.argv[3]) if len(sys.argv) > 3 else 3
answers, rounds = {}, 0
print("cached", cached.count(), flush=True)
while True:
    done = os.path.exists(sys.argv[1])
    row = spark.sql(
        f"""SELECT sum(r * (c2 % 1000)) AS s, bit_xor(c3 + r) AS x FROM (
             SELECT c2, c3, row_number() OVER (PARTITION BY id % 4 ORDER BY c1) AS r FROM t WHERE id % {part} = 0)"""
    ).first()
    everything = spark.sql("SELECT bit_xor(c4) AS x, count(*) AS n FROM t").first()
    answers[(row.s, row.x, everything.x, everything.n)] = None
    rounds += 1
    print("round", rounds, flush=True)
    if done:
        break
for a in answers:
    print("RESULT", a)
print("ROUNDS", rounds)
spark.stop()
