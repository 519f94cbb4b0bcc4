package org.apache.spark.pacer

import java.lang.management.ManagementFactory

/**
 * The clock that a deadline is read on (docs/decisions/003): seconds since the wrapper
 * was executed, or since this JVM started when there was none. It runs on
 * System.nanoTime, so that setting the wall clock moves no deadline.
 *
 * @param startMillis when it started, in milliseconds of the Unix epoch
 * @param nowMillis   the wall clock now
 * @param nanos       the monotonic clock
 */
private[spark] final class DeadlineClock private (before: Double, base: Long, nanos: () => Long) {
  // A wall clock that was set back since must not give a negative time.
  def this(startMillis: Long, nowMillis: Long, nanos: () => Long) =
    this(math.max(0L, nowMillis - startMillis) / 1e3, nanos(), nanos)

  /** Seconds on the deadline clock. */
  def elapsed(): Double = before + (nanos() - base) / 1e9

  /** A clock that started when this one showed since, in seconds. */
  def later(since: Double): DeadlineClock = new DeadlineClock(before - since, base, nanos)

  /** The reading for a moment that the wall clock showed as millis a short while ago. */
  def at(millis: Long, wallNow: Long): Double = math.max(0.0, elapsed() - (wallNow - millis) / 1e3)
}

private[spark] object DeadlineClock {
  /** A clock started when the wrapper was executed (epoch milliseconds), or with the JVM. */
  def since(submitted: Option[Long]): DeadlineClock =
    new DeadlineClock(startMillis(submitted), System.currentTimeMillis(), () => System.nanoTime())

  /** When it started, in epoch milliseconds. */
  def startMillis(submitted: Option[Long]): Long = {
    val jvm = ManagementFactory.getRuntimeMXBean.getStartTime
    // The wrapper ran before this JVM; a later time is a mistake or another host's clock.
    submitted.filter(s => s > 0 && s <= jvm + 1000).getOrElse(jvm)
  }
}
