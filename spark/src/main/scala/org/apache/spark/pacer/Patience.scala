package org.apache.spark.pacer

import java.io.IOException

import org.apache.spark.internal.Logging

/**
 * Tries again what fails by something that may pass while a driver starts: the planner says so, for
 * its node is away for a moment. Where the planner was there a moment ago, because `pacer submit`
 * has asked it, that is everything but its refusal: a standby takes over, or a NATS server starts
 * again and refuses everybody until a planner tells it whom to let in.
 *
 * @param asked  whether the planner was there a moment ago
 * @param until  on System.nanoTime: from then on nothing is tried again
 * @param pause  between two attempts
 */
private[spark] final class Patience(asked: Boolean, until: Long, pause: Long = PlannerClient.HeartbeatMillis) extends Logging {

  /** What attempt returns, or throws when it is too late, or would be the same again. */
  def have[T](attempt: => T): T = {
    try return attempt catch {
      case e: Exception if passes(e) && System.nanoTime() < until =>
        logInfo(s"pacer: ${e.getMessage}; trying again")
    }
    Thread.sleep(pause)
    have(attempt)
  }

  private def passes(e: Exception): Boolean = e match {
    case r: RefusedException => r.fault.kind == Wire.KindTransient
    case _: IOException => asked
    case _ => false
  }
}

private[spark] object Patience {
  /** How long is enough: a node is lost after 5 s, a standby serves within that. */
  private val Nanos = 15L * 1000 * 1000 * 1000

  def fromNow(asked: Boolean): Patience = new Patience(asked, System.nanoTime() + Nanos)
}
