package org.apache.spark.pacer

import java.io.IOException
import java.nio.file.{Files, Path, Paths}

import scala.util.Try

/**
 * The session of a driver that `pacer submit` has started, where Linux divides CPUs by session
 * (autogroup). A stage cannot make up for a driver that computes between two stages and has half of
 * a CPU beside others that start, so the driver of an application whose deadline can be kept comes
 * before them, if it has the right to (root's). Without that it is on a par with other sessions,
 * even if pacer submit had it yield: the program may have given the deadline itself.
 */
private[spark] final class DriverSession(file: Path = Paths.get("/proc/self/autogroup")) {
  import DriverSession._

  private var told = Option.empty[Boolean] // Guarded by this.

  /** Whether it is to come before others. */
  def first: Boolean = synchronized(told.contains(true))

  /** Has the session come before others, or be on a par with them. It does nothing where it cannot be told. */
  def comesFirst(yes: Boolean): Unit = synchronized {
    if (!told.contains(yes)) {
      told = Some(yes)
      val nice = Try(Files.readString(file).trim).toOption.collect { case Nice(n) => n.toInt }
      if (nice.nonEmpty && !(yes && write(First, 1)) && !nice.contains(0)) write(Even, Tries)
    }
  }

  private def write(nice: Int, tries: Int): Boolean =
    try {
      Files.writeString(file, nice.toString)
      true
    } catch {
      case _: IOException if tries > 1 =>
        Thread.sleep(BetweenMillis)
        write(nice, tries - 1)
      case _: IOException => false
    }
}

private[spark] object DriverSession {
  private val Nice = """.*nice (-?\d+)""".r

  /** The weight of a session with First is nine times that of one with Even. */
  private val First = -10
  private val Even = 0

  /** Linux takes one write in 100 ms from all that are not root. */
  private val Tries = 5
  private val BetweenMillis = 110L
}
