"""A report of the queries of TPC-H on the tables that tpch.py makes; writes the answers to a file. Spark is as it comes.

Usage: queries.py DIRECTORY KIND NUMBERS ANSWERS: which texts, "same" or "dates", the numbers of the queries in their
order, with commas between them, and the file.
"""
import decimal
import json
import sys

from pyspark.sql import SparkSession

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def plain(value):
    """What JSON has no form for."""
    return float(value) if isinstance(value, decimal.Decimal) else str(value)


directory, kind, numbers, path = sys.argv[1:]
with open(f"{directory}/queries.json") as file:
    texts = json.load(file)[kind]
spark = SparkSession.builder.appName("queries").getOrCreate()
for table in TABLES:
    spark.read.parquet(f"{directory}/{table}.parquet").createOrReplaceTempView(table)
answers = {number: spark.sql(texts[number]).collect() for number in numbers.split(",")}
spark.stop()
with open(path, "w") as file:
    json.dump(answers, file, default=plain)
