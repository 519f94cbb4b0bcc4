package org.apache.spark.pacer

import java.io.IOException
import java.nio.file.{Files, Path, Paths}

import scala.util.Try

/**
 * The session of a driver that `pacer submit` has started. Where Linux divides CPUs by session
 * (autogroup), it yields to others if nobody has given a deadline by then: a program may give
 * one itself.
 */
private[spark] object DriverSession {
  /** How a session that yields reads: the nice value is that of pacer submit. */
  private val Yields = "nice 5"

  /** Linux takes one write in 100 ms from all that are not root. */
  private val Tries = 5
  private val BetweenMillis = 110L

  /** Has the session yield no more. It does nothing where it does not yield, or cannot be told. */
  def comesFirst(file: Path = Paths.get("/proc/self/autogroup")): Unit =
    if (Try(Files.readString(file)).toOption.exists(_.trim.endsWith(Yields))) write(file, Tries)

  private def write(file: Path, tries: Int): Unit =
    try Files.writeString(file, "0")
    catch {
      case _: IOException if tries > 1 =>
        Thread.sleep(BetweenMillis)
        write(file, tries - 1)
      case _: IOException => // Its turns come later than they could, and nothing else.
    }
}
