package org.apache.spark.scheduler.pacer

import org.apache.spark.SparkContext
import org.apache.spark.pacer.Stderr.say
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend

/**
 * Waits for the executors that the planner has nodes start; everything else is Spark's
 * coarse-grained back end. What is said to the planner is [[PacerApplication]]'s.
 *
 * Nothing here holds this object's own lock, which is Spark's: see the lock order in the
 * package's documentation.
 */
private[scheduler] final class PacerSchedulerBackend(scheduler: StageBoundTaskScheduler, sc: SparkContext)
  extends CoarseGrainedSchedulerBackend(scheduler, sc.env.rpcEnv) {

  import PacerSchedulerBackend._

  private var saidLate = false
  private val counted = new ThreadLocal[String] // The executor that slots counts.

  private def application = scheduler.planned

  override def applicationId(): String = application.reply.map(_.appId).getOrElse(super.applicationId())

  override def defaultParallelism(): Int =
    conf.getInt("spark.default.parallelism", application.reply.map(_.slots).filter(_ > 0).getOrElse(super.defaultParallelism()))

  /**
   * Ready with most of the executors that the planner promised, with one after a while, without any
   * after WaitNanos; never while the application is queued.
   */
  override def isReady(): Boolean = application.awaited.exists { case (wanted, since) => areThere(wanted, since) }

  private def areThere(wanted: Int, since: Long): Boolean = {
    val up = scheduler.present
    val waited = System.nanoTime() - since
    val there = enough(up, wanted)
    val goOn = there || waited >= patience(up, scheduler.settings.deadline)
    if (goOn && !there && !saidLate) {
      saidLate = true
      say(s"$up of $wanted executors came up within ${waited / 1000000000L} s, going on" +
        (if (up == 0) s" without: see pacer logs ${applicationId()}" else ""))
    }
    goOn
  }

  override def sufficientResourcesRegistered(): Boolean = isReady()

  /**
   * What a barrier stage can have at a time, which is not all executors (docs/spark.md, S10). Until they
   * are there nobody knows better: the stage waits, and not the DAG scheduler that asks.
   */
  override def maxNumConcurrentTasks(rp: ResourceProfile): Int =
    if (application.begun()) scheduler.boundable(slots(rp, _)) else Int.MaxValue

  /** The slots of one executor, by Spark's own count of all that are active. */
  private def slots(rp: ResourceProfile, executor: String): Int = {
    counted.set(executor)
    try super.maxNumConcurrentTasks(rp) finally counted.remove()
  }

  override def isExecutorActive(id: String): Boolean =
    (counted.get == null || counted.get == id) && super.isExecutorActive(id)
}

private[scheduler] object PacerSchedulerBackend {
  /** How long the first stage waits for promised executors at most. */
  private val WaitNanos = 60L * 1000 * 1000 * 1000

  /** Whether the first stage may begin: with 80 % of those promised, as in stock Spark, for of many the slowest decides. */
  private[pacer] def enough(up: Int, wanted: Int): Boolean = up > 0 && 5 * up >= 4 * wanted

  /** How long it waits for more than those that are up: a tenth of the deadline in seconds, if there is one, with one at least. */
  private[pacer] def patience(up: Int, deadline: Double): Long =
    if (up > 0 && deadline > 0) math.min(WaitNanos, (deadline * 1e8).toLong) else WaitNanos
}
