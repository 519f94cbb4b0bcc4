"""A small job, and an end: an exit code, or "raise", "stay" (ten minutes without Spark), "once FILE" (the first try fails).

It has no name of its own: its name is that of its caller.
"""
import os
import sys
import time

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print("RESULT", spark.range(0, 1000, 1, 4).selectExpr("sum(id)").collect()[0][0], flush=True)
how = sys.argv[1] if len(sys.argv) > 1 else "0"
if how == "raise":
    raise ValueError("this application fails")
if how == "stay":
    time.sleep(600)
if how == "once":
    how = "0" if os.path.exists(sys.argv[2]) else "1"
    open(sys.argv[2], "w").close()
spark.stop()
sys.exit(int(how))
