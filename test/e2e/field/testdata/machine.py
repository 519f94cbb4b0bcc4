"""Tells what executors find on their machine: a line for each fact that is asked for."""
import sys
import time

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def worker(tell):
    return spark.sparkContext.parallelize([0], 1).map(lambda _: tell()).first()


def executor(method, key):
    return spark.range(1).selectExpr(f"java_method('java.lang.System', '{method}', '{key}')").first()[0]


def named():
    who = executor("getProperty", "field.who")
    return bool(who) and "{{" not in who


FACTS = {
    "python": lambda: worker(lambda: sys.prefix),
    "zone": lambda: worker(lambda: time.strftime("%z")),
    "named": named,
    "libraries": lambda: executor("getenv", "LD_LIBRARY_PATH"),
}
for fact in sys.argv[1:]:
    print("RESULT", fact, FACTS[fact]())
spark.stop()
