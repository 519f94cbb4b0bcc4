"""Runs on machines that are taken away: in each of its jobs, as many as its argument says, the first try of a task
takes its executor with it."""
import os
import signal
import sys
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession


def jvm(pid):
    """The nearest JVM above a process."""
    with open(f"/proc/{pid}/comm") as name:
        if name.read().strip() == "java":
            return pid
    with open(f"/proc/{pid}/stat") as stat:
        return jvm(int(stat.read().rsplit(")", 1)[1].split()[1]))


def part(index, rows):
    if index == 1 and TaskContext.get().attemptNumber() == 0:
        os.kill(jvm(os.getppid()), signal.SIGKILL)
        time.sleep(30)
    return [sum(rows)]


spark = SparkSession.builder.getOrCreate()
jobs = range(int(sys.argv[1]))
print("RESULT", [spark.sparkContext.parallelize(range(100 + k), 4).mapPartitionsWithIndex(part).sum() for k in jobs])
spark.stop()
