"""A barrier stage of two tasks that wait for each other, and a resource profile for one stage."""
from pyspark import BarrierTaskContext
from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import SparkSession


def meet(rows):
    sums = BarrierTaskContext.get().allGather(str(sum(rows)))
    yield sum(int(s) for s in sums)


spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
print("RESULT barrier", sc.parallelize(range(100), 2).barrier().mapPartitions(meet).collect())
try:
    profile = ResourceProfileBuilder().require(TaskResourceRequests().cpus(2)).build
    sc.parallelize(range(2), 2).withResources(profile).count()
    print("RESULT profile taken")
except Exception as e:
    print("RESULT profile refused:", str(e).splitlines()[1 if "\n" in str(e) else 0])
spark.stop()
