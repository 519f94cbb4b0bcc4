"""A program of SQL that runs each night, on tables that differ from one night to the next: Spark is as it comes, and
adaptive execution plans some of the queries otherwise. Prints of each case a line RESULT with its answer, and a line
STAGES with the ids of its stages.

Usage: nights.py DIRECTORY NIGHT [make]: night 1 or 2; make writes the tables of both.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

directory, night = sys.argv[1], int(sys.argv[2])
second = night == 2
spark = SparkSession.builder.appName("e2e-nights").getOrCreate()
context = spark.sparkContext


def write(path, rows, *columns, files=4, **options):
    spark.range(0, rows, 1, files).selectExpr(*columns).write.parquet(f"{directory}/{path}", **options)


def make():
    for n in (1, 2):
        write(f"{n}/orders", 500_000 if n == 2 else 2_000, "id AS k", "id * 7 AS v")
        write(f"{n}/people", 250_000 if n == 2 else 2_000, "id AS k", "sha2(string(id), 256) AS name")
        write(f"{n}/parts", 250_000, f"id % {31 + n} AS part", "sha2(string(id), 256) AS page", files=1,
              partitionBy="part")
        write(f"{n}/sales", 30_000, "id % 500 AS k", "id AS v")
        write(f"{n}/clicks", 400_000, f"IF(id % 10 < {8 if n == 2 else 0}, 7, id % 1000) AS k",
              "sha2(string(id), 256) AS page")
    write("facts", 200_000, "id % 100000 AS k", "id AS v")
    write("all", 250_000, "id AS k", "sha2(string(id), 256) AS name")


def table(name):
    return spark.read.parquet(f"{directory}/{name}")


def tonight(name):
    return table(f"{night}/{name}")


def merge():
    """Partitions are merged in the first night; in the second one there are no more of them than it takes."""
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    found = tonight("orders").groupBy("k").agg(F.sum("v").alias("v")).agg(F.sum("v"), F.count("*")).collect()
    spark.conf.unset("spark.sql.shuffle.partitions")
    return found


def dimension():
    """A table passes the 10 MB up to which a join sends it to all."""
    joined = table("all").withColumnRenamed("name", "other").join(tonight("people"), "k")
    return joined.groupBy((F.col("k") % 5).alias("g")).agg(F.max("name"), F.max("other")).orderBy("g").collect()


def filtered():
    """Of a large table a filter leaves little in the first night, which is seen when it has run."""
    left = table("all").where(f"pmod(xxhash64(k), 100) < {100 if second else 1}")
    others = table("all").withColumnRenamed("name", "other")
    return others.join(left, "k").agg(F.max("name"), F.max("other"), F.count("*")).collect()


def directories():
    """A table has 33 directories in the second night: a job lists them."""
    return tonight("parts").agg(F.max("page"), F.countDistinct("part")).collect()


def tries():
    """What is wanted stands in the first partition, or in the last ones."""
    return spark.range(0, 100_000, 1, 10).where(f"id >= {90_000 if second else 100}").take(3)


def shown():
    """A sorted table is shown."""
    spark.range(0, 100_000, 1, 4).selectExpr("id % 13 AS k").groupBy("k").count().orderBy("k").show(3)
    return "shown"


def cached():
    """A table is read again from memory, from which the second night has lost it."""
    kept = table("facts").groupBy("k").agg(F.sum("v").alias("v")).cache()
    first = kept.count()
    if second:
        for rdd in context._jsc.getPersistentRDDs().values():
            rdd.unpersist(True)
    return first, kept.groupBy((F.col("k") % 3).alias("g")).agg(F.sum("v").alias("v")).orderBy("g").collect()


def dated():
    """A table has its date in its name."""
    name = f"sales_2026_11_{25 + night}"
    spark.sql(f"CREATE TABLE {name} USING parquet LOCATION '{directory}/{night}/sales'")
    sums = f"SELECT k % 7 AS g, sum(v) AS v FROM {name} WHERE k < {490 + night} GROUP BY g ORDER BY g"
    found = spark.sql(sums).collect()
    spark.sql(f"DROP TABLE {name}")
    return found


def skewed():
    """Most rows have one key in the second night, and the partition of it is split."""
    small = {"skewJoin.skewedPartitionThresholdInBytes": "1m", "advisoryPartitionSizeInBytes": "1m",
             "skewJoin.skewedPartitionFactor": "2"}
    for key, value in small.items():
        spark.conf.set(f"spark.sql.adaptive.{key}", value)
    spark.conf.set("spark.sql.shuffle.partitions", 8)
    joined = tonight("clicks").join(table("facts").where("v < 2000").hint("merge"), "k")
    found = joined.agg(F.max("page"), F.count("*")).collect()
    for key in small:
        spark.conf.unset(f"spark.sql.adaptive.{key}")
    spark.conf.unset("spark.sql.shuffle.partitions")
    return found


def empty():
    """One side of a join has no rows in the second night."""
    left = table("all").where(f"pmod(xxhash64(k), 1000) >= {1000 if second else 10}")
    return left.join(table("facts"), "k").groupBy("v").agg(F.max("name").alias("n")).agg(F.count("*")).collect()


def reused():
    """Both sides of a join read one exchange."""
    counts = table("facts").groupBy("k").agg(F.count("*").alias("n"))
    return counts.alias("a").join(counts.alias("b"), F.expr("a.k = b.k + 1")).agg(F.sum("a.n"), F.sum("b.n")).collect()


def pruned():
    """The partitions that are read follow from another table, which is large in the second night."""
    joined = tonight("parts").join(tonight("people"), F.expr("part = k")).where("name LIKE '%ab%'")
    return joined.agg(F.max("page"), F.count("*")).collect()


if len(sys.argv) > 3:
    make()
else:
    for case in (merge, dimension, filtered, directories, tries, shown, cached, dated, skewed, empty, reused, pruned):
        context.addJobTag(case.__name__)
        print(f"RESULT {case.__name__} {case()}")
        context.removeJobTag(case.__name__)
        jobs = context._jsc.sc().statusTracker().getJobIdsForTag(case.__name__)
        stages = sorted({s for job in jobs for s in context.statusTracker().getJobInfo(job).stageIds})
        print(f"STAGES {case.__name__} {' '.join(str(s) for s in stages)}")
spark.stop()
