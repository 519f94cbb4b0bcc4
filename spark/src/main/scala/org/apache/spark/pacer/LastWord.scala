package org.apache.spark.pacer

import java.lang.Thread.UncaughtExceptionHandler

import scala.jdk.CollectionConverters._

import org.apache.spark.pacer.Wire.Exit
import org.apache.spark.util.ShutdownHookManager

/**
 * What a driver says as its JVM shuts down, after all else that Spark does then: that it
 * exits, and what can be known of its exit code, which no JVM is told.
 *
 * The code is 0 when the JVM ends because its threads have and the main thread returned
 * without an exception: spark-submit ends Python applications so, too. Where Python runs
 * the JVM (PythonGatewayServer) that always exits with 0 when Python is gone; then a
 * program that stopped its context itself counts as one that came to its end. It is not 0
 * when spark-submit itself exits after its application's main: it does so for a Python
 * application that failed, and for nothing else. Any other call of System.exit, and a
 * signal, say nothing.
 */
private[spark] object LastWord {
  /** After the context (50) and the temporary directories (25). */
  private val Priority = 1

  /** How long a driver's exit waits for the planner. */
  private val Millis = 500L

  private var client: PlannerClient = _ // Guarded by this, as all here.
  private var stoppedByProgram = false
  private var failure: Option[Throwable] = None
  private var installed = false

  /** Has client say the last word; the one of an earlier context of this JVM falls silent. */
  def of(newClient: PlannerClient): Unit = synchronized {
    if (client != null) client.close()
    client = newClient
    stoppedByProgram = false
    if (!installed) {
      installed = true
      threads.keys.find(_.getId == 1).foreach(watch)
      ShutdownHookManager.addShutdownHook(Priority)(() => say())
    }
  }

  /** To be called when the context stops. */
  def stopping(): Unit = synchronized { stoppedByProgram = !ShutdownHookManager.inShutdown() }

  /** Notes an exception that ends the main thread; what else becomes of it stays as it is. */
  private def watch(main: Thread): Unit = {
    val before: UncaughtExceptionHandler = main.getUncaughtExceptionHandler
    main.setUncaughtExceptionHandler((t, e) => {
      LastWord.synchronized { failure = Some(e) }
      before.uncaughtException(t, e)
    })
  }

  private def say(): Unit = {
    val (mine, exit) = synchronized((client, word(threads.values, failure, stoppedByProgram)))
    if (mine != null) mine.exit(exit, Millis)
  }

  /** The last word of a JVM with threads of these stacks. */
  private[pacer] def word(stacks: Iterable[Array[StackTraceElement]], failure: Option[Throwable], stoppedByProgram: Boolean): Exit = {
    val exits = stacks.filter(_.exists(f => f.getClassName == "java.lang.Shutdown" && f.getMethodName == "exit"))
    val gateway = exits.exists(_.exists(_.getClassName.startsWith("org.apache.spark.api.python.PythonGatewayServer")))
    failure match {
      case Some(e) => Exit(clean = false, failed = true, s"the driver ended with ${e.toString.linesIterator.nextOption().getOrElse("an exception")}")
      case None if exits.exists(bySubmit) => Exit(clean = false, failed = true, "the application ended with an exit code other than 0")
      case None => Exit(clean = exits.isEmpty || gateway && exits.size == 1 && stoppedByProgram, failed = false, "")
    }
  }

  /** Whether spark-submit exits by itself, not from within the application's main. */
  private def bySubmit(stack: Array[StackTraceElement]): Boolean = {
    val submit = stack.filter(_.getClassName.startsWith(Submit)).map(_.getMethodName)
    // The compiler puts the class before the name of a private method.
    submit.contains("doSubmit") && !submit.exists(_.endsWith("runMain"))
  }

  private val Submit = "org.apache.spark.deploy.SparkSubmit"

  private def threads: Map[Thread, Array[StackTraceElement]] = Thread.getAllStackTraces.asScala.toMap
}
