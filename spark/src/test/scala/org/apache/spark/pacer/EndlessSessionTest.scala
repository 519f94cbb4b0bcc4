package org.apache.spark.pacer

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

class EndlessSessionTest {
  private val Submit = "org.apache.spark.deploy.SparkSubmit --master sparkpacer://h --conf spark.pacer.deadline=5m"

  private def session(command: String, env: Map[String, String] = Map.empty, given: Map[String, String] = Map.empty,
      terminal: Boolean = false, parent: String = "python -m ipykernel_launcher -f /run/kernel-1.json"): String =
    EndlessSession.of(s"$Submit $command", env.get, given.get, terminal, parent.split(' ').toSeq).getOrElse("a program")

  @Test def shellsAndServersAreKnownByWhatTheirJvmRuns(): Unit = {
    assertEquals("spark-shell", session("--class org.apache.spark.repl.Main --name Spark shell spark-shell"))
    assertEquals("a Thrift server", session("--class org.apache.spark.sql.hive.thriftserver.HiveThriftServer2 spark-internal"))
    assertEquals("a Connect server", session("--class org.apache.spark.sql.connect.service.SparkConnectServer spark-internal"))
    assertEquals("a program", session("--class org.apache.spark.repl.MainlyBatch app.jar"))
    assertEquals("a notebook", EndlessSession.of("org.apache.toree.Main", _ => None, _ => None, terminal = false).get)
  }

  @Test def aPythonIsAShellIfItReadsTheShellsStartUpFile(): Unit = {
    val shell = Map("PYTHONSTARTUP" -> "/opt/spark/python/pyspark/shell.py")
    val kernel = Map("JPY_PARENT_PID" -> "4711")
    assertEquals("the PySpark shell", session("--name PySparkShell pyspark-shell", shell))
    assertEquals("a notebook's kernel", session("pyspark-shell", kernel))
    assertEquals("a notebook's kernel", session("--name PySparkShell pyspark-shell", shell ++ kernel))
    assertEquals("a notebook's kernel", session("pyspark-shell", kernel, parent = "/usr/bin/xpython -f /run/kernel-1.json"))
    assertEquals("a notebook's kernel", session("pyspark-shell", kernel, parent = "python /lib/ipykernel_launcher.py -f x.json"))
    assertEquals("a program", session("pyspark-shell"), "python app.py")
    assertEquals("a program", session("app.py", shell ++ kernel), "spark-submit, typed into one")
    for (command <- Seq("python job.py", "/venv/bin/python3 -u /jobs/job.py --day 3", "python -m jobs.night")) {
      assertEquals("a program", session("pyspark-shell", kernel, parent = command), command)
    }
  }

  @Test def aKernelWithADeadlineHasAnEnd(): Unit = {
    val settings = PacerConf("h:1", 90, "", requireFeasible = false, "s", None, None, None)
    assertEquals(settings, EndlessSession.setAside(settings, Some("a notebook's kernel")))
    assertEquals(PacerConf.Endless, EndlessSession.setAside(settings.copy(deadline = 0), Some("a notebook's kernel")).mode)
    assertEquals(0, EndlessSession.setAside(settings, Some("spark-shell")).deadline, 0.0)
  }

  @Test def sparkSqlIsAShellAtATerminalWithoutAScript(): Unit = {
    def sql(more: String, terminal: Boolean = true) =
      session(s"--class org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver spark-internal $more", terminal = terminal)
    assertEquals("spark-sql", sql(""))
    assertEquals("a program", sql("", terminal = false), "spark-sql <report.sql")
    assertEquals("a program", sql("-f report.sql"))
    assertEquals("a program", sql("-e 'select 1'"))
  }

  @Test def aConnectServerIsAProgramsOnlyIfPySparkStartedIt(): Unit = {
    val plugin = Map("spark.plugins" -> "a.B,org.apache.spark.sql.connect.SparkConnectPlugin")
    assertEquals("a Connect server", session("--class a.Main app.jar", given = plugin))
    assertEquals("a program", session("pyspark-shell", Map("SPARK_LOCAL_REMOTE" -> "1"), plugin))
  }
}
