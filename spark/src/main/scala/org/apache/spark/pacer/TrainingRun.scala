package org.apache.spark.pacer

import scala.util.control.NonFatal

import org.apache.spark.{HeartbeatReceiver, SparkConf, SparkContext, SparkEnv}
import org.apache.spark.internal.Logging
import org.apache.spark.rpc.RpcEnv

/**
 * A small application that loads what drivers and executors load: the training
 * run of a class-data archive (package executor of the node controller). It is
 * started by spark-submit's main class with a local master, and its JVM writes
 * the archive when it exits.
 *
 * It runs RDD and SQL stages with shuffles, sorts and joins, asks an endpoint
 * over the network as an executor does, and names the classes of the processes
 * that it is not: the executor's back end, the Python driver's gateway. What a
 * Spark does not have is passed over, so one list serves 4.0 to 4.3.
 */
object TrainingRun extends Logging {

  def main(args: Array[String]): Unit = {
    val sc = new SparkContext(new SparkConf())
    try {
      Seq[() => Unit](() => records(sc), () => queries(), () => network(sc), () => others()).foreach { part =>
        try part() catch {
          case NonFatal(e) => logWarning("pacer: a part of the training run failed", e)
        }
      }
    } finally {
      sc.stop()
    }
  }

  private def records(sc: SparkContext): Unit = {
    val pairs = sc.parallelize(1 to 2000, 2).map(i => (i % 50, i))
    pairs.reduceByKey(_ + _).sortByKey().collect()
    pairs.groupByKey().mapValues(_.size).join(pairs.mapValues(_.toString)).cache().count()
    sc.broadcast(Array.fill(1000)(1)).value.length
  }

  /** By reflection: the jar is compiled against Spark's core alone. */
  private def queries(): Unit = {
    val api = Class.forName("org.apache.spark.sql.SparkSession", true, loader)
    val builder = api.getMethod("builder").invoke(null)
    val session = Class.forName("org.apache.spark.sql.SparkSession$Builder", true, loader).getMethod("getOrCreate").invoke(builder)
    val sql = api.getMethod("sql", classOf[String])
    val collect = Class.forName("org.apache.spark.sql.Dataset", true, loader).getMethod("collect")
    Queries.foreach(text => collect.invoke(sql.invoke(session, text)))
  }

  /** What an executor does to reach its driver. */
  private def network(sc: SparkContext): Unit = {
    val env = SparkEnv.get
    val client = RpcEnv.create("training-run", sc.conf.get("spark.driver.host"), -1, sc.conf, env.securityManager, clientMode = true)
    try client.setupEndpointRef(env.rpcEnv.address, HeartbeatReceiver.ENDPOINT_NAME) finally client.shutdown()
  }

  private def others(): Unit = Others.foreach { name =>
    try Class.forName(name, false, loader) catch {
      case _: ClassNotFoundException | _: LinkageError => ()
    }
  }

  private def loader: ClassLoader = Thread.currentThread().getContextClassLoader

  private val Queries = Seq(
    "SELECT id % 10 AS k, count(*), sum(id), avg(id), max(cast(id AS string)) FROM range(0, 5000, 1, 2) GROUP BY 1 ORDER BY 1",
    "SELECT a.id, b.id FROM range(2000) a JOIN range(1000) b ON a.id = b.id * 2 WHERE a.id > 10 ORDER BY b.id DESC LIMIT 20",
    "SELECT /*+ MERGE(b) */ count(DISTINCT a.id) FROM range(2000) a JOIN range(1000) b ON a.id = b.id")

  private val Others = Seq.empty[String]
}
