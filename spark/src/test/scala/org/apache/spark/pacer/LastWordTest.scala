package org.apache.spark.pacer

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.Wire.Exit

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

  @Test def anExitOrASignalProvesNothing(): Unit = {
    assertFalse(clean(stoppedByProgram = true, exiting("org.apache.spark.deploy.SparkSubmit.main")))
    assertFalse(clean(stoppedByProgram = true, stack("java.lang.Shutdown.exit", "java.lang.Terminator$1.handle")))
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

  @Test def anExceptionInTheMainThreadIsAFailure(): Unit =
    assertEquals(Exit(clean = false, failed = true, "the driver ended with java.lang.IllegalStateException: no"),
      LastWord.word(Seq(hooks), Some(new IllegalStateException("no\nmore")), stoppedByProgram = true))
}
