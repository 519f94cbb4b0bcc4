"""Connected components of a generated graph: a loop that ends when no label changes, as many times as the longest
way is long; prints a RESULT line for each step. Spark is as it comes.

Usage: components.py LENGTH STEPS: the ways are up to LENGTH edges long; names with commas between them.
"""
import sys

from pyspark.sql import SparkSession

WAYS, PARTITIONS = 12_000, 4

length, steps = int(sys.argv[1]), sys.argv[2].split(",")
spark = SparkSession.builder.appName("components").getOrCreate()
context = spark.sparkContext


def way(n):
    """The edges of way n, both ways: its vertices are in no order."""
    hops = 2 + n * 7919 % (length - 1)
    at = [n * 100 + (n + i * 37) % 100 for i in range(hops + 1)]
    return [edge for a, b in zip(at, at[1:]) for edge in ((a, b), (b, a))]


edges = context.parallelize(range(WAYS), PARTITIONS).flatMap(way).partitionBy(PARTITIONS).cache()


def degrees():
    counts = edges.mapValues(lambda _: 1).reduceByKey(lambda a, b: a + b, PARTITIONS)
    return sorted(counts.map(lambda pair: (pair[1], 1)).reduceByKey(lambda a, b: a + b, 2).collect())


def stars():
    seconds = edges.join(edges, PARTITIONS).filter(lambda found: found[1][0] < found[1][1])
    return seconds.map(lambda found: (found[0] % 10, 1)).reduceByKey(lambda a, b: a + b, 2).count()


def components():
    labels, rounds, changed = edges.keys().distinct(PARTITIONS).map(lambda v: (v, v)).cache(), 0, 1
    while changed > 0:
        heard = edges.join(labels, PARTITIONS).map(lambda found: found[1])
        next_labels = labels.union(heard).reduceByKey(min, PARTITIONS).cache()
        changed = labels.join(next_labels, PARTITIONS).filter(lambda found: found[1][0] != found[1][1]).count()
        labels.unpersist()
        labels, rounds = next_labels, rounds + 1
    return labels, rounds


for step in steps:
    if step == "components":
        labels, said = components()
    elif step == "sizes":
        sizes = labels.map(lambda pair: (pair[1], 1)).reduceByKey(lambda a, b: a + b, PARTITIONS)
        said = sorted(sizes.map(lambda pair: (pair[1], 1)).reduceByKey(lambda a, b: a + b, 2).collect())
    else:
        said = {"degrees": degrees, "stars": stars}[step]()
    print(f"RESULT {step} {said}")
spark.stop()
