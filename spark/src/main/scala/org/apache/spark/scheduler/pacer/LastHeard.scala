package org.apache.spark.scheduler.pacer

import scala.collection.mutable

/**
 * When the driver has heard its executors last, and which of those that the planner hears
 * nothing of either are to be given up.
 *
 * An executor beats every interval, for the first time one to two intervals after its start
 * (Spark's Executor.startDriverHeartbeater). One that has missed a beat and half of the next,
 * and not less than [[LastHeard.Slack]], on a node that the planner has lost, is taken for
 * lost; one that the driver hears goes on.
 *
 * One that is silent for [[LastHeard.Quiet]] though its node is heard is worth a look: its tasks may
 * go on without beats.
 *
 * Times are those of a monotonic clock, in nanoseconds, as arguments. Thread-safe.
 */
private[pacer] final class LastHeard(interval: Long) {
  private val silence = interval + math.max(interval / 2, LastHeard.Slack)
  private val last = mutable.Map[String, Long]()
  private val due = mutable.Map[String, Long]() // When an executor that is not heard is silent.
  private val quieted = mutable.Set[String]()
  private var nodeLost = Seq.empty[String]

  def registered(executor: String, now: Long): Unit = synchronized {
    last(executor) = now
    due(executor) = now + interval + silence
  }

  def beat(executor: String, now: Long): Unit = synchronized {
    quieted -= executor
    if (due.contains(executor)) {
      last(executor) = now
      due(executor) = now + silence
    }
  }

  def gone(executor: String): Unit = synchronized {
    last.remove(executor)
    due.remove(executor)
    quieted -= executor
  }

  /** Takes over whose nodes the planner has lost. */
  def follow(lost: Seq[String]): Unit = synchronized { nodeLost = lost }

  /** Those to give up now. */
  def silent(now: Long): Seq[String] = synchronized(nodeLost.filter(due.get(_).exists(_ - now <= 0)))

  /** Those on nodes that the planner hears that are silent for Quiet, each once until it beats again. */
  def quiet(now: Long): Seq[String] = synchronized {
    val found = due.collect { case (id, at) if now - at >= 0 && now - last(id) >= LastHeard.Quiet => id }
      .filterNot(id => quieted(id) || nodeLost.contains(id)).toSeq.sorted
    quieted ++= found
    found
  }

  /** For how long an executor has not been heard, 0 when it is not known. */
  def since(executor: String, now: Long): Long = synchronized(last.get(executor).fold(0L)(now - _))
}

private[pacer] object LastHeard {
  /** How late a beat may be: one of an executor with little CPU, or over a connection that sends again. */
  val Slack = 3000000000L

  /** How long an executor whose node is heard may be silent without a word. */
  val Quiet = 10000000000L
}
