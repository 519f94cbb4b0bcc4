"""Python on the tables of tables.py: pandas UDFs of each kind, in batches and by group; prints a RESULT line for
each step. Spark is as it comes.

Usage: scores.py TABLES STEPS: names with commas between them.
"""
import sys

import numpy as np
import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf
from pyspark.sql.types import DoubleType


def smooth(values, rounds):
    """Some of numpy's time for each value."""
    out = np.asarray(values, dtype="float64")
    for _ in range(rounds):
        out = np.sqrt(np.abs(np.sin(out) * 100 + np.cos(out)))
    return out


@pandas_udf(DoubleType())
def score(amount: pd.Series, day: pd.Series) -> pd.Series:
    return pd.Series(smooth(amount + day, 350))


@pandas_udf(DoubleType())
def median(amount: pd.Series) -> float:
    return float(np.median(smooth(amount, 350)))


def clean(batches):
    for batch in batches:
        kept = batch[batch["amount"] > 10.0]
        yield kept.assign(weight=smooth(kept["amount"], 350))[["item", "weight"]]


def trend(group):
    y = smooth(group["amount"], 350)
    slope = np.polyfit(group["day"], y, 1)[0]
    return pd.DataFrame({"item": [int(group["item"].iloc[0])], "slope": [float(slope)]})


def segment(group):
    spent = group.assign(amount=smooth(group["amount"], 350)).groupby("customer")["amount"].sum()
    return pd.DataFrame({"day": [int(group["day"].iloc[0])], "wide": [float(spent.max() - spent.min())]})


def total(rows, column):
    found = rows.agg(F.count("*").alias("n"), F.sum(column).alias("v")).collect()[0]
    return f"{found.n} {found.v:.3f}"


STEPS = {
    "clean": lambda sales: total(sales.mapInPandas(clean, "item int, weight double").groupBy("item").agg(
        F.max("weight").alias("weight")), "weight"),
    "scores": lambda sales: total(sales.groupBy("customer").agg(F.max(score("amount", "day")).alias("best")), "best"),
    "trends": lambda sales: total(sales.groupBy("item").applyInPandas(trend, "item int, slope double"), "slope"),
    "medians": lambda sales: total(sales.groupBy("item").agg(median("amount").alias("middle")), "middle"),
    "segments": lambda sales: total(sales.groupBy("day").applyInPandas(segment, "day int, wide double"), "wide"),
}

tables, steps = sys.argv[1:]
spark = SparkSession.builder.appName("scores").getOrCreate()
sales = spark.read.parquet(f"{tables}/sales")
for name in steps.split(","):
    print(f"RESULT {name} {STEPS[name](sales)}")
spark.stop()
