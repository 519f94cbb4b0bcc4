package org.apache.spark.pacer

import java.nio.file.{Files, Paths}

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.rpc.{RpcEnv, ThreadSafeRpcEndpoint}
import org.apache.spark.util.RpcUtils

/**
 * Hears in the driver from each executor whose it is, and says once, before the first task, what
 * follows where that is not the driver's user. What a task may not write would show at the end of a run
 * only. It is no driver's side of [[PacerPlugin]]: Spark has made those when the planner's address is read.
 *
 * @param own the driver's user id, nothing where that is not known
 * @param say where a line goes
 */
private[spark] final class ExecutorUser(
    override val rpcEnv: RpcEnv,
    own: Option[Int] = ExecutorUser.own,
    say: String => Unit = Stderr.say) extends ThreadSafeRpcEndpoint {
  private var told = false

  override def receive: PartialFunction[Any, Unit] = {
    case user: Int =>
      if (!told && own.exists(_ != user)) {
        told = true
        say(s"executors run as user id $user, the driver as ${own.get}: they can read and write only what is open to that user " +
          "(node.executor-user names another one)")
      }
  }
}

private[spark] object ExecutorUser {
  private val Name = "pacer-executor-user"

  /** Has a driver hear of it. */
  def hear(env: RpcEnv): Unit = env.setupEndpoint(Name, new ExecutorUser(env))

  /** Tells the driver of the executor that this process is, on a thread of its own: the driver's answer takes a while. */
  def tell(env: SparkEnv): Unit = own.foreach { id =>
    val teller = new Thread(() => Try(RpcUtils.makeDriverRef(Name, env.conf, env.rpcEnv).send(id)), "pacer-executor-user")
    teller.setDaemon(true)
    teller.start()
  }

  /** The user id of this process, nothing where that is not told. */
  def own: Option[Int] = Try(Files.getAttribute(Paths.get("/proc/self"), "unix:uid")).toOption.collect { case id: Integer => id }
}
