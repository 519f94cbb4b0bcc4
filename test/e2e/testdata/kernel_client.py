"""Runs the cells of a notebook in a kernel of Jupyter, as an editor does, and prints what they print.

Usage: kernel_client.py MASTER JAR. A group of jobs with a deadline runs twice: the second time its profile is known.
"""
import sys

from jupyter_client.manager import start_new_kernel

CELLS = [
    f"""
from pyspark.sql import SparkSession
spark = (SparkSession.builder.appName("e2e-jupyter").master("{sys.argv[1]}").config("spark.jars", "{sys.argv[2]}")
         .config("spark.executor.memory", "768m").config("spark.driver.memory", "512m").config("spark.ui.enabled", "false").getOrCreate())
sc = spark.sparkContext
""",
    """
def report(deadline):
    sc.setLocalProperty("spark.pacer.group.name", "e2e-cell")
    sc.setLocalProperty("spark.pacer.group.deadline", deadline)
    print("RESULT", spark.range(0, 2_000_000, 1, 8).selectExpr("pmod(id, 10) k", "id v").groupBy("k").sum("v").count())
    sc.setLocalProperty("spark.pacer.group.deadline", None)
""",
    "report('10m')",
    "report('1m')",
    "import time; time.sleep(5); spark.stop()",
]

kernel, client = start_new_kernel(kernel_name="python3")
failed = False
for cell in CELLS:
    reply = client.execute_interactive(cell, timeout=300)
    failed = failed or reply["content"]["status"] != "ok"
client.stop_channels()
kernel.shutdown_kernel()
sys.exit(failed)
