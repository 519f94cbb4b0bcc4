package org.apache.spark.pacer

import java.io.IOException
import java.nio.file.{Files, Path, Paths}

import scala.util.Try

/**
 * The session of a driver that `pacer submit` has started, where Linux divides CPUs by session
 * (autogroup). A stage cannot make up for a driver that computes between two stages and has half of
 * a CPU beside others that start, so the driver of an application whose deadline can be kept comes
 * before them, if it has the right to (root's). Without that it is on a par with other sessions,
 * even if pacer submit had it yield: the program may have given the deadline itself. One whose
 * deadline cannot be kept yields to both, as one without a deadline does from its start. A driver
 * that leads no session shares one with others, as with the shell of a terminal: it leaves that alone.
 */
private[spark] final class DriverSession(file: Path = Paths.get("/proc/self/autogroup"), leads: Boolean = DriverSession.leads) {
  import DriverSession._

  private var told = Option.empty[Place] // Guarded by this.

  /** Whether it is to come before others. */
  def first: Boolean = synchronized(told.contains(First))

  /** Gives the session its place among others. It does nothing where that cannot be told. */
  def take(place: Place): Unit = synchronized {
    if (!told.contains(place)) {
      told = Some(place)
      val nice = Try(Files.readString(file).trim).toOption.filter(_ => leads).collect { case Nice(n) => n.toInt }
      for (now <- nice) place match {
        case First if write(First.nice, 1) =>
        case Behind => if (now < Behind.nice || now == Starting) write(Behind.nice, Tries)
        case _ => if (now != Even.nice) write(Even.nice, Tries)
      }
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

  /** A place among sessions, by the numbers of sharing.Nice (supervisor/sharing/params.go): the weight of First is nine times that of Even, that of Behind a third of it. */
  sealed abstract class Place(val nice: Int)
  case object First extends Place(-10)
  case object Even extends Place(0)
  case object Behind extends Place(5)

  /** What `pacer submit` gives the session of one that starts and whose deadline cannot be kept. */
  private val Starting = 10

  /** Whether this process leads its session: proc_pid_stat(5), its first field and its sixth. */
  private def leads: Boolean = Try {
    val stat = Files.readString(Paths.get("/proc/self/stat"))
    stat.drop(stat.lastIndexOf(')') + 2).split(' ')(3) == stat.takeWhile(_ != ' ')
  }.getOrElse(false)

  /** Linux takes one write in 100 ms from all that are not root. */
  private val Tries = 5
  private val BetweenMillis = 110L
}
