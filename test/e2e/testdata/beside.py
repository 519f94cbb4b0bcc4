"""A job that asks a program beside it for a weight, says what it computes by that, and exits with a code.

Usage: beside.py HOST:PORT CODE
"""
import socket
import sys
import time

from pyspark.sql import SparkSession

host, port = sys.argv[1].rsplit(":", 1)
for _ in range(600):
    try:
        with socket.create_connection((host, int(port))) as c:
            weight = int(c.makefile().readline())
            break
    except ConnectionRefusedError:
        time.sleep(0.1)  # It starts at the same time.
spark = SparkSession.builder.getOrCreate()
total = spark.range(0, 1000, 1, 4).selectExpr(f"sum(id) * {weight}").first()[0]
print("RESULT", spark.sparkContext.appName, total, flush=True)
spark.stop()
sys.exit(int(sys.argv[2]))
