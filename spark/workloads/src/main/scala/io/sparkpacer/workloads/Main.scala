package io.sparkpacer.workloads

import org.apache.spark.{SparkConf, SparkContext}

/**
 * Runs a workload: `spark-submit --class io.sparkpacer.workloads.Main pacer-workloads.jar
 * NAME [--slice | --scale X] [--SETTING VALUE]...`. The last line that it prints is
 * `RESULT NAME CHECKSUM`. A wrong command line is one line on the standard error and
 * exit code 64.
 */
object Main {
  private val ExitUsage = 64

  def main(args: Array[String]): Unit = {
    if (args.contains("--help")) {
      print(Arguments.usage)
    } else Arguments.parse(args.toSeq) match {
      case Left(fault) =>
        System.err.println(s"workloads: $fault")
        sys.exit(ExitUsage)
      case Right(a) => run(a)
    }
  }

  private def run(a: Arguments): Unit = {
    val sc = new SparkContext(new SparkConf().setAppName(s"workload-${a.workload.name}")
      .setIfMissing("spark.ui.showConsoleProgress", "false")
      // As with the originals' thousands of partitions: below the threshold each task
      // writes a file per partition, which would cost more than the records do.
      .setIfMissing("spark.shuffle.sort.bypassMergeThreshold", "1"))
    try {
      sc.setLogLevel("WARN")
      println(s"running $a")
      println(s"RESULT ${a.workload.name} ${a.workload.run(sc, a)}")
    } finally sc.stop()
  }
}
