package org.apache.spark.pacer

import scala.jdk.CollectionConverters._

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.Wire.Exit

/** A program that says as it shuts down what its last word would be. */
object LastWordSubject {
  def main(args: Array[String]): Unit = {
    sys.addShutdownHook {
      val word = LastWord.word(Thread.getAllStackTraces.values.asScala, None, stoppedByProgram = false)
      println(s"${word.failed} ${word.reason}")
    }
    println("ready")
    Thread.sleep(60000)
  }
}

class LastWordTest {
  private def stack(frames: String*): Array[StackTraceElement] = frames.map { f =>
    val at = f.lastIndexOf('.')
    new StackTraceElement(f.take(at), f.drop(at + 1), null, -1)
  }.toArray

  private val hooks = stack("java.lang.Thread.join", "java.lang.Shutdown.runHooks", "java.lang.Shutdown.shutdown")
  private def exiting(more: String*) = stack("java.lang.Shutdown.exit" +: "java.lang.System.exit" +: more: _*)
  private val submit = Seq("org.apache.spark.deploy.SparkSubmit$$anon$2.doSubmit", "org.apache.spark.deploy.SparkSubmit.main")
  private val within = "org.apache.spark.deploy.SparkSubmit.org$apache$spark$deploy$SparkSubmit$$runMain" +: submit
  private val gateway = exiting("org.apache.spark.api.python.PythonGatewayServer$.main" +: within: _*)

  private def clean(stoppedByProgram: Boolean, stacks: Array[StackTraceElement]*): Boolean =
    LastWord.word(stacks, None, stoppedByProgram).clean

  @Test def aMainThreadThatReturnedProvesIt(): Unit = assertTrue(clean(stoppedByProgram = false, hooks, stack("a.B.run")))

  @Test def anExitProvesNothing(): Unit = assertFalse(clean(stoppedByProgram = true, exiting("org.apache.spark.deploy.SparkSubmit.main")))

  /** Of a JVM that a signal ends, and of one that would have ended anyhow. */
  @Test def aSignalIsAFailure(): Unit = {
    val signal = stack("java.lang.Shutdown.exit", "java.lang.Terminator$1.handle", "jdk.internal.misc.Signal$1.run")
    val main = stack("a.App.main" +: within: _*)
    assertEquals(Exit(clean = false, failed = true, "a signal ended the driver"), LastWord.word(Seq(main, signal), None, stoppedByProgram = true))
    val python = stack("java.io.FilterInputStream.read" +: "org.apache.spark.api.python.PythonGatewayServer$.main" +: within: _*)
    for (others <- Seq(Seq(hooks), Seq(exiting("a.B.run")), Seq(python), Seq(gateway))) {
      assertEquals(Exit(clean = false, failed = false, ""), LastWord.word(signal +: others, None, stoppedByProgram = true), "nothing is known of it")
    }
  }

  /** The stacks of this very JVM's kind, when SIGTERM ends it. */
  @Test def aRealSignalShowsInTheStacks(): Unit = {
    val jvm = java.nio.file.Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val run = new ProcessBuilder(jvm, "-cp", System.getProperty("java.class.path"), "org.apache.spark.pacer.LastWordSubject").redirectErrorStream(true).start()
    val said = new java.io.BufferedReader(new java.io.InputStreamReader(run.getInputStream))
    assertEquals("ready", said.readLine())
    run.toHandle.destroy() // That of a Process closes its streams.
    assertEquals("true a signal ended the driver", said.readLine())
    assertEquals(128 + 15, run.waitFor())
  }

  @Test def whatPythonRunsProvesItByStoppingItsContext(): Unit = {
    assertTrue(clean(stoppedByProgram = true, gateway))
    assertFalse(clean(stoppedByProgram = false, gateway))
    assertFalse(clean(stoppedByProgram = true, gateway, exiting("a.B.run")), "another thread exits, too")
  }

  @Test def sparkSubmitExitsForAFailedPythonApplicationOnly(): Unit = {
    assertEquals(Exit(clean = false, failed = true, "the application ended with an exit code other than 0"),
      LastWord.word(Seq(exiting(submit: _*)), None, stoppedByProgram = true))
    assertFalse(LastWord.word(Seq(exiting("a.App.main" +: within: _*)), None, stoppedByProgram = true).failed)
    assertFalse(LastWord.word(Seq(gateway), None, stoppedByProgram = true).failed)
  }

  /** The frames of Spark 4.3, in cluster mode. */
  @Test def anApplicationMasterKnowsItsCode(): Unit = {
    val master = Seq("org.apache.spark.deploy.yarn.ApplicationMaster$$anon$4.run", "org.apache.spark.deploy.yarn.ApplicationMaster$.main",
      "org.apache.spark.deploy.yarn.ApplicationMaster.main")
    def word(code: Option[Int], others: Array[StackTraceElement]*) =
      LastWord.word(exiting(master: _*) +: others, None, stoppedByProgram = true, code)
    assertEquals(Exit(clean = true, failed = false, ""), word(Some(0)))
    assertEquals(Exit(clean = false, failed = true, "the application ended with exit code 15"), word(Some(15)))
    assertEquals(Exit(clean = false, failed = false, ""), word(None))
    assertFalse(word(Some(0), exiting("a.B.run")).clean, "the program exits, too")
    assertEquals(Exit(clean = false, failed = false, ""), LastWord.word(Seq(exiting(master: _*)), None, stoppedByProgram = true), "there is none here")
  }

  @Test def anExceptionInTheMainThreadIsAFailure(): Unit =
    assertEquals(Exit(clean = false, failed = true, "the driver ended with java.lang.IllegalStateException: no"),
      LastWord.word(Seq(hooks), Some(new IllegalStateException("no\nmore")), stoppedByProgram = true))
}
