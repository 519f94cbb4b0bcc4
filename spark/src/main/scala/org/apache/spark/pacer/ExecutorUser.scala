package org.apache.spark.pacer

import java.nio.file.{Files, Paths}

import scala.util.Try

import org.apache.spark.api.plugin.DriverPlugin

/**
 * The driver's side of [[PacerPlugin]]: it hears from each executor whose it is, and says once, before
 * the first task, what follows where that is not the driver's user. What a task may not write would
 * show at the end of a run only.
 *
 * @param own the driver's user id, nothing where that is not known
 * @param say where a line goes
 */
private[spark] final class ExecutorUser(own: Option[Int] = ExecutorUser.own, say: String => Unit = ExecutorUser.say) extends DriverPlugin {
  private var told = false // Guarded by this.

  override def receive(message: AnyRef): AnyRef = synchronized {
    message match {
      case user: Integer if !told && own.exists(_ != user) =>
        told = true
        say(s"executors run as user id $user, the driver as ${own.get}: they can read and write only what is open to that user " +
          "(node.executor-user names another one)")
      case _ => ()
    }
    null
  }
}

private[spark] object ExecutorUser {
  /** The user id of this process, nothing where that is not told. */
  def own: Option[Int] = Try(Files.getAttribute(Paths.get("/proc/self"), "unix:uid")).toOption.collect { case id: Integer => id }

  // scalastyle:off println
  private def say(line: String): Unit = System.err.println("pacer: " + line)
  // scalastyle:on println
}
