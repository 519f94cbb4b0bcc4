"""A streaming query of a few micro-batches: runs unpaced under Pacer."""
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("e2e-stream").getOrCreate()
query = (spark.readStream.format("rate").option("rowsPerSecond", 10).load()
         .writeStream.format("noop").trigger(processingTime="500 milliseconds").start())
query.awaitTermination(4)
query.stop()
print("RESULT streamed")
spark.stop()
