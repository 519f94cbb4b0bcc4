package org.apache.spark.pacer

import java.lang.Thread.UncaughtExceptionHandler

import scala.jdk.CollectionConverters._
import scala.util.Try

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
 * application that failed, and for nothing else. Nor is it 0 when a signal ends the JVM, whose
 * handler exits with 128 and the signal's number; but where Python runs the JVM that is not
 * the program's code. An ApplicationMaster that has run the driver on YARN knows the code with which it exits.
 * Any other call of System.exit says nothing.
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

  /** The last word of a JVM with threads of these stacks; master is the exit code of its ApplicationMaster, if it knows one. */
  private[pacer] def word(stacks: Iterable[Array[StackTraceElement]], failure: Option[Throwable], stoppedByProgram: Boolean,
      master: => Option[Int] = masterCode): Exit = {
    val exits = stacks.filter(_.exists(f => f.getClassName == "java.lang.Shutdown" && f.getMethodName == "exit"))
    val gateway = exits.exists(runByPython)
    failure match {
      case Some(e) => Exit(clean = false, failed = true, s"the driver ended with ${e.toString.linesIterator.nextOption().getOrElse("an exception")}")
      case None if exits.size == 1 && exits.exists(byMaster) => master match {
        case Some(0) => Exit(clean = true, failed = false, "")
        case Some(code) => Exit(clean = false, failed = true, s"the application ended with exit code $code")
        case None => Exit(clean = false, failed = false, "")
      }
      case None if exits.exists(bySubmit) => Exit(clean = false, failed = true, "the application ended with an exit code other than 0")
      case None if bySignal(stacks, exits) => Exit(clean = false, failed = true, "a signal ended the driver")
      case None => Exit(clean = exits.isEmpty || gateway && exits.size == 1 && stoppedByProgram, failed = false, "")
    }
  }

  /** Whether spark-submit exits by itself, not from within the application's main. */
  private def bySubmit(stack: Array[StackTraceElement]): Boolean = {
    val submit = stack.filter(_.getClassName.startsWith(Submit)).map(_.getMethodName)
    // The compiler puts the class before the name of a private method.
    submit.contains("doSubmit") && !submit.exists(_.endsWith("runMain"))
  }

  /**
   * Whether the handler of a signal, and nothing else, has the JVM exit: of two that would, the second
   * waits for ever, and a main thread that returned exits in Shutdown.shutdown.
   */
  private def bySignal(stacks: Iterable[Array[StackTraceElement]], exits: Iterable[Array[StackTraceElement]]): Boolean =
    exits.size == 1 && exits.head.exists(_.getClassName.startsWith("java.lang.Terminator")) &&
      !stacks.exists(s => runByPython(s) || s.exists(f => f.getClassName == "java.lang.Shutdown" && f.getMethodName == "shutdown"))

  /** Whether it is the main thread of a JVM that Python runs. */
  private def runByPython(stack: Array[StackTraceElement]): Boolean =
    stack.exists(_.getClassName.startsWith("org.apache.spark.api.python.PythonGatewayServer"))

  /** Whether YARN's ApplicationMaster exits, after the application's main or because of it. */
  private def byMaster(stack: Array[StackTraceElement]): Boolean =
    stack.exists(f => f.getClassName == Master && f.getMethodName == "main")

  /** By reflection: the class is there on YARN alone, and its fields are private. */
  private def masterCode: Option[Int] = Try {
    def get(of: AnyRef, method: String): AnyRef = {
      val getter = of.getClass.getDeclaredMethod(method)
      getter.setAccessible(true)
      getter.invoke(of)
    }
    val module = Class.forName(Master, true, Thread.currentThread().getContextClassLoader).getField("MODULE$").get(null)
    get(get(module, "org$apache$spark$deploy$yarn$ApplicationMaster$$master"), "exitCode").asInstanceOf[Int]
  }.toOption

  private val Master = "org.apache.spark.deploy.yarn.ApplicationMaster$"
  private val Submit = "org.apache.spark.deploy.SparkSubmit"

  private def threads: Map[Thread, Array[StackTraceElement]] = Thread.getAllStackTraces.asScala.toMap
}
