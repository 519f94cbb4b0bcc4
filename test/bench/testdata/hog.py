"""Uses all that it is given: tasks count, or read a large file over and over, for some seconds; prints RESULT and its size.

Usage: hog.py cpu|cache SECONDS FILE. Ordinary PySpark.
"""
import sys
import time

from pyspark.sql import SparkSession

kind, seconds, path = sys.argv[1], float(sys.argv[2]), sys.argv[3]


def uses(_):
    end, done = time.time() + seconds, 0
    while time.time() < end:
        if kind == "cpu":
            done += sum(range(100000)) > 0
            continue
        with open(path, "rb", buffering=0) as f:
            while time.time() < end:
                piece = f.read(1 << 20)
                if not piece:
                    break
                done += 1
    return done


spark = SparkSession.builder.appName("bench-hog-" + kind).getOrCreate()
print("RESULT", spark.sparkContext.parallelize(range(2), 2).map(uses).filter(lambda n: n > 0).count())
spark.stop()
