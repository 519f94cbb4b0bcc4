package org.apache.spark.pacer

import java.io.File

import org.apache.spark.SparkConf

/**
 * Every setting of an executor that Spark knows, and whose it is to carry out. A cluster manager has to
 * carry out most of them: what Pacer does not is named, once, before the first task.
 */
private[spark] object ExecutorSettings {
  /** A setting, and why Pacer leaves it aside, "" where it is carried out. */
  final case class Row(key: String, aside: String = "")

  private val LogsAreTrimmed = "nodes bound the logs of executors (node.log-bytes)"
  private val OwnBound = "the planner bounds how often executors are replaced"

  /** By Pacer: in the registration, or on the executor's command line. */
  private val carried = Seq("cores", "memory", "memoryOverhead", "memoryOverheadFactor", "minMemoryOverhead", "pyspark.memory",
    "defaultExtraClassPath", "extraClassPath", "defaultJavaOptions", "extraJavaOptions", "extraLibraryPath", "id",
    "limitActiveProcessorCount.enabled")

  /** By Spark, in the executor or in the driver, under any cluster manager. */
  private val sparks = Seq("allowSparkContext", "decommission.forceKillTimeout", "decommission.killInterval", "decommission.signal",
    "heartbeat.dropZeroAccumulatorUpdates", "heartbeat.maxFailures", "heartbeatInterval", "isolatedSessionCache.size",
    "killOnFatalError.depth", "logs.redirectConsoleOutputs", "metrics.fileSystemSchemes", "metrics.pollingInterval",
    "processTreeMetrics.enabled", "python.worker.log.details", "syncLogLevel.enabled", "userClassPathFirst")

  /** By nobody: `instances` goes with the other counts of executors ([[PacerConf.complete]]). */
  private val aside = Seq("instances" -> "the planner chooses the executors", "failuresValidityInterval" -> OwnBound, "maxNumFailures" -> OwnBound,
    "logs.rolling.enableCompression" -> LogsAreTrimmed, "logs.rolling.maxRetainedFiles" -> LogsAreTrimmed,
    "logs.rolling.maxSize" -> LogsAreTrimmed, "logs.rolling.strategy" -> LogsAreTrimmed, "logs.rolling.time.interval" -> LogsAreTrimmed)

  /** The whole list: one row for each setting of Spark 4.0 to 4.3. */
  val rows: Seq[Row] = (carried ++ sparks).map(Row(_)).map(r => r.copy(key = "spark.executor." + r.key)) ++
    aside.map { case (key, why) => Row("spark.executor." + key, why) } :+
    Row("spark.local.dir", "the scratch of executors is on their node's disk (node.work)")

  /** Variables of an executor's environment that its node says. */
  private val ofNode = Seq("JAVA_HOME", "SPARK_HOME", "SPARK_LOCAL_DIRS", "SPARK_LOCAL_IP")

  /** The lines that name what is left aside of a configuration. */
  def setAside(conf: SparkConf): Seq[String] = {
    val settings = rows.filter(r => r.aside.nonEmpty && r.key != "spark.executor.instances" && conf.contains(r.key))
      .groupMap(_.aside)(_.key).toSeq.sortBy(_._2.head).map { case (why, keys) => s"${keys.mkString(", ")} ${are(keys)} set aside: $why" }
    val variables = ofNode.map("spark.executorEnv." + _).filter(conf.contains)
    val resources = conf.getAll.map(_._1).filter(k => k.startsWith("spark.executor.resource.") && k.endsWith(".amount")).sorted.toSeq
    settings ++
      Option.when(variables.nonEmpty)(s"${variables.mkString(", ")} ${are(variables)} set aside: the node says it") ++
      Option.when(resources.nonEmpty)(s"${resources.mkString(", ")}: no node divides these among executors, each has what its discovery script finds")
  }

  /** The path of native libraries in front of the one that the user gives by the environment. */
  def libraries(conf: SparkConf, env: Map[String, String]): Map[String, String] =
    conf.getOption("spark.executor.extraLibraryPath").filter(_.nonEmpty).fold(env) { path =>
      env + (LibraryPath -> (Seq(path) ++ env.get(LibraryPath).filter(_.nonEmpty)).mkString(File.pathSeparator))
    }

  private val LibraryPath = "LD_LIBRARY_PATH"

  private def are(keys: Seq[String]): String = if (keys.size == 1) "is" else "are"

  /** What a driver's environment says of the machine and its user, which executors need as any JVM does. */
  val ofMachine: Set[String] = Set("TZ", "LANG", "LANGUAGE", "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
    "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY")

  /** The part of a driver's environment that its executors get: so that Python workers find the same interpreter, and what is of the machine. */
  def inherited(env: Map[String, String]): Map[String, String] = env.filter { case (k, v) =>
    k == "PATH" || k == "PYSPARK_PYTHON" || v.nonEmpty && v != "C" && v != "POSIX" && (ofMachine(k) || k.startsWith("LC_"))
  }
}
