"""Asks a short question of files every half a second until a file is there; prints LATENCY, when it was asked and seconds.

Usage: query.py DIRECTORY STOP, with files of text in DIRECTORY. Ordinary PySpark.
"""
import os
import sys
import time

from pyspark.sql import SparkSession

directory, stop = sys.argv[1], sys.argv[2]
spark = SparkSession.builder.appName("bench-query").getOrCreate()
lines = spark.sparkContext.textFile(directory, 2)
due = time.time()
while not os.path.exists(stop):
    began = time.time()
    n = lines._jrdd.count()
    print("LATENCY", began, time.time() - began, n, flush=True)
    due = max(due + 0.5, time.time())
    time.sleep(max(0, due - time.time()))
spark.stop()
