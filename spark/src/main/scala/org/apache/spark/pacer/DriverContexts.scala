package org.apache.spark.pacer

import java.util.UUID

import scala.collection.mutable

/**
 * One of the SparkContexts that a JVM makes, one after another. Each is an application of the same
 * submission, with a deadline clock that starts with it.
 *
 * @param number from 0; one that could not start has its number to itself
 * @param start  when it began, in milliseconds of the Unix epoch; the first one with its submission
 * @param before how much of the submission's time had passed by then, in seconds
 * @param clock  its deadline clock
 * @param given  the setting of a key that the submission has, for all contexts
 */
private[spark] final case class DriverContext(
    number: Int,
    start: Long,
    before: Double,
    clock: DeadlineClock,
    given: String => Option[String])

/** Counts the contexts of a JVM; safe to call from any thread. */
private[spark] final class DriverContexts(given: String => Option[String] = sys.props.get) {
  private var count = 0
  private var submission: DeadlineClock = _
  private val runs = mutable.Map[String, Int]().withDefaultValue(0)

  /** The submission of a JVM to which nobody has given one. */
  val own: String = UUID.randomUUID().toString

  /**
   * The context that begins now.
   *
   * @param submitted when the submission was made, epoch milliseconds, if that is known
   */
  def next(submitted: Option[Long]): DriverContext = synchronized {
    val first = count == 0
    if (first) submission = DeadlineClock.since(submitted)
    count += 1
    if (first) DriverContext(0, DeadlineClock.startMillis(submitted), 0, submission, given)
    else {
      val before = submission.elapsed()
      DriverContext(count - 1, System.currentTimeMillis(), before, submission.later(before), given)
    }
  }

  /**
   * The profile of a context that would have that one: of several with the same the k-th has its
   * own, NAME#k.
   */
  def profile(name: String): String = synchronized(if (runs(name) == 0) name else s"$name#${runs(name) + 1}")

  /** To be called when a context that would have that profile has been taken in. */
  def registered(name: String): Unit = synchronized(runs(name) += 1)
}

private[spark] object DriverContexts {
  /** Those of this JVM. */
  val here = new DriverContexts()
}
