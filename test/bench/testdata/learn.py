"""A pipeline of pyspark.ml on generated rows: features, a classifier and what is told of it; prints a RESULT line for
each step. Spark is as it comes.

Usage: learn.py STEPS [ROWS]: names with commas between them; 100,000 rows by default.
"""
import sys

from pyspark.ml import Pipeline
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.clustering import KMeans
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import OneHotEncoder, StandardScaler, StringIndexer, VectorAssembler
from pyspark.ml.stat import Correlation
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

NUMBERS = [f"x{i}" for i in range(20)]

steps = sys.argv[1].split(",")
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
spark = SparkSession.builder.appName("learn").getOrCreate()


def prepare():
    raw = spark.range(0, rows, 1, 8).select(
        F.expr("concat('kind ', pmod(xxhash64(id, 99), 12))").alias("kind"),
        *[F.expr(f"cast(pmod(xxhash64(id, {i}), 2001) - 1000 as double) / 1000").alias(x)
          for i, x in enumerate(NUMBERS)])
    raw = raw.withColumn("label", F.expr("cast(x0 + x1 * x2 - 0.5 * x3 + 0.2 * x4 > 0 as double)"))
    features = Pipeline(stages=[
        StringIndexer(inputCol="kind", outputCol="index", stringOrderType="alphabetAsc"),
        OneHotEncoder(inputCols=["index"], outputCols=["kinds"]),
        VectorAssembler(inputCols=NUMBERS + ["kinds"], outputCol="wide"),
        StandardScaler(inputCol="wide", outputCol="features")])
    data = features.fit(raw).transform(raw).select("label", "features").cache()
    return data, data.count()


def classify():
    model = LogisticRegression(maxIter=20, regParam=0.01, tol=0.0).fit(data)
    return model, f"{model.intercept:.4f}"


def correlate():
    return f"{Correlation.corr(data, 'features', 'spearman').head()[0][0, 1]:.4f}"


def cluster():
    model = KMeans(k=8, seed=7, maxIter=8, initMode="random").fit(data)
    return f"{model.summary.trainingCost:.0f}"


def evaluate():
    return f"{BinaryClassificationEvaluator().evaluate(model.transform(data)):.4f}"


for step in steps:
    if step == "prepare":
        data, said = prepare()
    elif step == "classify":
        model, said = classify()
    else:
        said = {"correlate": correlate, "cluster": cluster, "evaluate": evaluate}[step]()
    print(f"RESULT {step} {said}")
spark.stop()
