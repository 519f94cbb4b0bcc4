package org.apache.spark.pacer

import java.util.concurrent.locks.LockSupport

import scala.collection.mutable
import scala.concurrent.duration._

import org.apache.spark.{Heartbeat, HeartbeatReceiver, HeartbeatResponse, SparkEnv}
import org.apache.spark.executor.ExecutorMetrics
import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.EXECUTOR_HEARTBEAT_INTERVAL
import org.apache.spark.rpc.RpcTimeout
import org.apache.spark.util.{AccumulatorV2, RpcUtils}

/**
 * Beats for an executor whose own beats have ended. Spark's heartbeater asks the accumulators of
 * running tasks, and the first exception of any of them ends its beats for good, while the tasks go
 * on (docs/spark.md, S80). What these counted so far comes with their results.
 *
 * @param heartbeater Spark's thread that beats, once it is there
 * @param beat        sends one beat
 */
private[spark] final class HeartbeatWatch(heartbeater: () => Option[Thread], beat: () => Unit) extends Logging {
  import HeartbeatWatch._

  private var found = Option.empty[Thread]
  private var ended, complained = false

  /** To be called once an interval. */
  def look(): Unit = try {
    if (found.isEmpty) found = heartbeater()
    if (!ended && found.exists(hasEnded)) {
      ended = true
      logWarning("pacer: Spark's heartbeats have ended, an accumulator has thrown: Pacer sends them from now on")
    }
    if (ended) beat()
  } catch {
    case e: Throwable => // The driver may be there again later, and no other thread beats.
      if (!complained) logWarning("pacer: a heartbeat was not sent", e)
      complained = true
  }
}

private[spark] object HeartbeatWatch {
  /** Spark's thread that beats. */
  val ThreadName = "executor-heartbeater"

  /** Watches this JVM's executor for as long as goesOn. */
  def start(goesOn: () => Boolean): Unit = {
    val watcher = new Thread(() => {
      var watch = Option.empty[HeartbeatWatch]
      while (goesOn()) {
        val env = SparkEnv.get
        if (watch.isEmpty && env != null && env.blockManager != null) watch = Some(of(env))
        watch.foreach(_.look())
        LockSupport.parkNanos(watch.fold(1000L)(_ => env.conf.get(EXECUTOR_HEARTBEAT_INTERVAL)) * 1000000L)
      }
    }, "pacer-heartbeat")
    watcher.setDaemon(true)
    watcher.start()
  }

  /** A watch over the executor of this environment. */
  def of(env: SparkEnv): HeartbeatWatch = {
    val patience = new RpcTimeout(env.conf.get(EXECUTOR_HEARTBEAT_INTERVAL).millis, EXECUTOR_HEARTBEAT_INTERVAL.key)
    lazy val driver = RpcUtils.makeDriverRef(HeartbeatReceiver.ENDPOINT_NAME, env.conf, env.rpcEnv)
    new HeartbeatWatch(() => named(ThreadName), () => {
      val beat = Heartbeat(env.executorId, Array.empty[(Long, Seq[AccumulatorV2[_, _]])], env.blockManager.blockManagerId,
        mutable.Map.empty[(Int, Int), ExecutorMetrics])
      if (driver.askSync[HeartbeatResponse](beat, patience).reregisterBlockManager) env.blockManager.reregister()
    })
  }

  /** The youngest thread of that name, without a stop of all others. */
  private[pacer] def named(name: String): Option[Thread] = {
    val root = Iterator.iterate(Thread.currentThread().getThreadGroup)(_.getParent).takeWhile(_ != null).toSeq.last
    val all = new Array[Thread](2 * root.activeCount() + 16)
    all.take(root.enumerate(all)).filter(_.getName == name).maxByOption(_.getId)
  }

  /**
   * Whether the one thread of a timer has nothing scheduled: it waits without a time for something to
   * come. One that is through with its timer is at its end.
   */
  private[pacer] def hasEnded(thread: Thread): Boolean = thread.getState == Thread.State.WAITING &&
    thread.getStackTrace.exists(f => f.getClassName.endsWith("DelayedWorkQueue") && f.getMethodName == "take")
}
