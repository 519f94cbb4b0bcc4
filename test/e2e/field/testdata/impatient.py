"""A job that its program waits for no longer than its argument says, in seconds: else it gives up, with exit code 9."""
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, TimeoutError

from pyspark.sql import SparkSession

TASKS = 30


def busy(n):
    until = time.process_time() + 0.4
    while time.process_time() < until:
        pass
    return n


spark = SparkSession.builder.appName("field impatient").getOrCreate()
job = ThreadPoolExecutor(1).submit(lambda: spark.sparkContext.parallelize(range(TASKS), TASKS).map(busy).sum())
try:
    print("RESULT", job.result(float(sys.argv[1])))
except TimeoutError:
    print("RESULT gave up", flush=True)
    os._exit(9)
spark.stop()
