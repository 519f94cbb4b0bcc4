"""A long job, and questions that somebody asks beside it from another thread, in a pool of their own. Its arguments are for
how many seconds of CPU time the job is and how many questions there are; it says how long each was waited for."""
import sys
import time

from pyspark import InheritableThread
from pyspark.sql import SparkSession

TASKS = 60


def busy(n, each):
    until = time.process_time() + each
    while time.process_time() < until:
        pass
    return n % 4, 1


each, questions = float(sys.argv[1]) / TASKS, int(sys.argv[2])
spark = SparkSession.builder.appName("field asks").getOrCreate()
context = spark.sparkContext
answers = []


def ask():
    context.setLocalProperty("spark.scheduler.pool", "interactive")
    for number in range(questions):
        time.sleep(2)
        began = time.monotonic()
        answers.append(context.parallelize(range(100), 2).map(lambda n: n + number).sum())
        print("ASKED %.2f" % (time.monotonic() - began), flush=True)


context.parallelize(range(2), 2).count()  # Executors are there.
asks = InheritableThread(target=ask)
asks.start()
sums = context.parallelize(range(TASKS), TASKS).map(lambda n: busy(n, each)).reduceByKey(lambda a, b: a + b, 2).collect()
asks.join()
spark.stop()
print("RESULT", sorted(sums), answers)
