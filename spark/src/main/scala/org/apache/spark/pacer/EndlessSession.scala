package org.apache.spark.pacer

import java.nio.file.{Files, Path, Paths}

import scala.util.Try

/**
 * Recognises drivers that end when somebody ends them and not when their work is done: shells, notebooks,
 * and servers whose clients send the work. Such a session has nothing to be in time with, and no two are alike, but for groups
 * of its jobs ([[JobGroup]]).
 */
private[spark] object EndlessSession {
  private val Sql = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"
  private val Connect = "a Connect server"
  private val Notebook = "a notebook"

  /** By a variable that every child of a kernel inherits: it proves little against a deadline that is given. */
  private val Kernel = "a notebook's kernel"

  /** By a class that the JVM's command line names. */
  private val Classes = Map(
    "org.apache.spark.repl.Main" -> "spark-shell",
    "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2" -> "a Thrift server",
    "org.apache.spark.sql.connect.service.SparkConnectServer" -> Connect,
    "org.apache.livy.rsc.driver.RSCDriverBootstrapper" -> "a Livy session",
    "org.apache.zeppelin.interpreter.remote.RemoteInterpreterServer" -> Notebook,
    "org.apache.toree.Main" -> Notebook,
    "almond.ScalaKernel" -> Notebook)

  /**
   * What this JVM's driver is, if that is a session without an end.
   *
   * @param command  the JVM's class and its arguments
   * @param env      its environment
   * @param given    the settings that it was started with
   * @param terminal whether a terminal is its standard input
   * @param parent   the command line of the process that started it
   */
  def of(
      command: String = sys.props.getOrElse("sun.java.command", ""),
      env: String => Option[String] = sys.env.get,
      given: String => Option[String] = sys.props.get,
      terminal: => Boolean = isTerminal(Paths.get("/proc/self/fd/0")),
      parent: => Seq[String] = startedBy): Option[String] = {
    val words = command.split("\\s+").toSeq
    // Of a Python, or an R, that was started by itself: the shells leave their start-up file.
    val python = words.contains("pyspark-shell")
    def startup(key: String, file: String) = env(key).exists(_.endsWith(file))
    words.flatMap(Classes.get).headOption
      .orElse(Option.when(words.contains(Sql) && !words.exists(Seq("-e", "-f").contains) && terminal)("spark-sql"))
      .orElse(Option.when(python && env("JPY_PARENT_PID").nonEmpty && !isProgram(parent))(Kernel))
      .orElse(Option.when(python && startup("PYTHONSTARTUP", "pyspark/shell.py"))("the PySpark shell"))
      .orElse(Option.when(words.contains("sparkr-shell") && startup("R_PROFILE_USER", "profile/shell.R"))("the SparkR shell"))
      // PySpark starts one for a program of its own, too, and says so.
      .orElse(Option.when(given("spark.plugins").exists(_.contains("SparkConnectPlugin")) && env("SPARK_LOCAL_REMOTE").isEmpty)(Connect))
  }

  /**
   * Settings without the deadline of a session that has no end, which it says. A kernel with a deadline has
   * an end: papermill and nbconvert run notebooks as programs.
   */
  def setAside(settings: PacerConf, session: => Option[String] = of()): PacerConf =
    session.filterNot(_ == Kernel && settings.deadline > 0).fold(settings) { what =>
      if (settings.deadline > 0) Stderr.say(s"$what has no end: its deadline is set aside")
      settings.withoutEnd
    }

  /** Whether a Python runs a program, a file or a module, and is no kernel, which is one itself. */
  private def isProgram(command: Seq[String]): Boolean = {
    val module = command.sliding(2).collectFirst { case Seq("-m", name) => name }
    !command.exists(_.contains("kernel")) && (module.nonEmpty || command.exists(_.endsWith(".py")))
  }

  private def startedBy: Seq[String] = Try {
    val parent = ProcessHandle.current.parent.get.pid
    new String(Files.readAllBytes(Paths.get(s"/proc/$parent/cmdline"))).split('\u0000').toSeq
  }.getOrElse(Nil)

  private def isTerminal(input: Path): Boolean =
    Try(Files.readSymbolicLink(input).toString).toOption.exists(to => to.startsWith("/dev/pts/") || to.startsWith("/dev/tty"))
}
