"""A streaming query of a few micro-batches: runs unpaced under Pacer."""
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("e2e-stream").getOrCreate()
query = (spark.readStream.format("rate").option("rowsPerSecond", 10).load()
         .writeStream.format("noop").trigger(processingTime="500 milliseconds").start())
while not query.lastProgress or query.lastProgress["batchId"] < 2:
    query.awaitTermination(0.2)
query.stop()
print("RESULT streamed")
spark.stop()
