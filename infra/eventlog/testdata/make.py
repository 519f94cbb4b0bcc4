"""Makes the logs of one version of Spark by real runs: make.py DIR VERSION, by the Python that has it.
Each log is DIR/VERSION-LAYOUT-CODEC/ with what Spark has written there.

The application has one of everything that a log tells of: RDDs of Python and of the JVM, named and
cached ones, SQL with adaptive execution, a broadcast, a job that fails."""

import glob
import os
import shutil
import signal
import subprocess
import sys
import time

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

# Each log names every jar of Spark: a short path makes all of them short.
HOME = "/tmp/s"
if os.path.islink(HOME):
    os.remove(HOME)
os.symlink(os.path.dirname(pyspark.__file__), HOME)
os.environ.update(SPARK_HOME=HOME, PYSPARK_PYTHON=sys.executable)

LOGS, VERSION = os.path.abspath(sys.argv[1]), sys.argv[2]
HERE = os.path.abspath(__file__)


def application(sc, pad):
    spark = SparkSession(sc)
    words = sc.textFile(HERE, 2).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(lambda a, b: a + b, 2)
    words.setName("the words").cache()
    assert words.count() > 10
    assert words.filter(lambda pair: pair[1] > 1).count() > 1

    table = spark.range(0, 4000, 1, 2).withColumn("k", col("id") % 7)
    names = spark.range(0, 7, 1, 1).withColumn("name", col("id") * 2)
    assert len(table.join(names, table.k == names.id).groupBy("name").count().collect()) == 7
    try:
        sc.parallelize([0, 1], 2).map(lambda n: 1 // n).collect()
    except Exception as e:
        print("as it should:", type(e).__name__)
    for _ in range(pad):
        sc.setJobDescription("x" * (1 << 20))
        sc.parallelize([0, 1], 1).count()


def run(layout, codec, pad=0, share=False):
    logs = os.path.join(LOGS, f"{VERSION}-{layout}-{codec}")
    to = os.path.join(LOGS, "running") if share else logs
    os.makedirs(to)
    conf = {
        "spark.master": "local[2]", "spark.app.name": "events " + VERSION, "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2", "spark.eventLog.enabled": "true", "spark.eventLog.dir": "file://" + to,
        "spark.eventLog.compress": str(codec != "plain").lower(),
        "spark.eventLog.rolling.enabled": str(layout in ("rolling", "several")).lower(),
        "spark.eventLog.rolling.maxFileSize": "10m",
    }
    if codec != "plain":
        conf["spark.eventLog.compression.codec"] = codec
    sc = SparkContext(conf=SparkConf().setAll(conf.items()))
    application(sc, pad)
    if share:  # While it runs a log is another one: the end is open.
        shutil.copytree(to, logs)
    sc.stop()
    SparkSession._instantiatedSession = None
    if share:
        shutil.rmtree(to)


def compact(layout, codec):
    """The history server compacts all files but the newest one."""
    logs = os.path.join(LOGS, f"{VERSION}-compacted-{codec}")
    shutil.copytree(os.path.join(LOGS, f"{VERSION}-{layout}-{codec}"), logs)
    settings = {
        "fs.logDirectory": "file://" + logs, "fs.update.interval": "1s", "ui.port": "0",
        "fs.eventLog.rolling.maxFilesToRetain": "1", "fs.eventLog.rolling.compaction.score.threshold": "0.1",
    }
    server = subprocess.Popen(
        [os.path.join(HOME, "bin", "spark-class"), "org.apache.spark.deploy.history.HistoryServer"],
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1",
             "SPARK_HISTORY_OPTS": " ".join(f"-Dspark.history.{k}={v}" for k, v in settings.items())},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(120):
        time.sleep(1)
        if glob.glob(logs + "/*/*.compact"):
            break
    time.sleep(3)
    server.send_signal(signal.SIGTERM)
    server.wait()


codecs = ["zstd", "lz4", "snappy", "lzf"]
if VERSION.startswith("4.3"):
    for codec in ("zstd", "lz4", "lzf"):
        run("rolling", codec)
    for codec in ("zstd", "lz4"):
        run("inprogress", codec, share=True)
    run("several", "zstd", pad=11)
    compact("several", "zstd")
elif VERSION.startswith("4.0"):
    run("rolling", "zstd")
if VERSION.startswith("3.5"):
    codecs.append("plain")
for codec in codecs:
    run("single", codec)
shutil.rmtree(os.path.join(LOGS, f"{VERSION}-several-zstd"), ignore_errors=True)  # All logs together are small.
for crc in glob.glob(LOGS + "/**/.*.crc", recursive=True):
    os.remove(crc)
