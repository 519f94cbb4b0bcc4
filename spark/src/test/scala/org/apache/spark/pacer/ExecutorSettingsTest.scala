package org.apache.spark.pacer

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.SparkConf

class ExecutorSettingsTest {
  private def conf(settings: (String, String)*) = settings.foldLeft(new SparkConf(false)) { case (c, (k, v)) => c.set(k, v) }

  @Test def whatIsLeftAsideIsNamed(): Unit = {
    assertEquals(Nil, ExecutorSettings.setAside(conf("spark.executor.memory" -> "1g", "spark.executor.extraJavaOptions" -> "-Da=b")))
    val said = ExecutorSettings.setAside(conf("spark.local.dir" -> "/scratch", "spark.executor.logs.rolling.strategy" -> "size",
      "spark.executor.logs.rolling.maxSize" -> "1m", "spark.executorEnv.JAVA_HOME" -> "/opt/java", "spark.executor.resource.gpu.amount" -> "1",
      "spark.executor.maxNumFailures" -> "3", "spark.executor.instances" -> "4"))
    assertEquals(5, said.size, said.mkString("\n"))
    for (part <- Seq("spark.local.dir is set aside: the scratch", "spark.executor.logs.rolling.maxSize, spark.executor.logs.rolling.strategy are set aside",
        "spark.executorEnv.JAVA_HOME is set aside", "spark.executor.resource.gpu.amount: no node divides", "spark.executor.maxNumFailures is set aside")) {
      assertEquals(1, said.count(_.contains(part)), part)
    }
  }

  @Test def everyRowIsOne(): Unit = assertEquals(ExecutorSettings.rows.size, ExecutorSettings.rows.map(_.key).distinct.size)

  @Test def nativeLibrariesComeFirst(): Unit = {
    val path = "spark.executor.extraLibraryPath"
    assertEquals(Map("LD_LIBRARY_PATH" -> "/opt/a:/opt/b"), ExecutorSettings.libraries(conf(path -> "/opt/a:/opt/b"), Map.empty))
    assertEquals(Map("LD_LIBRARY_PATH" -> "/opt/a:/own"), ExecutorSettings.libraries(conf(path -> "/opt/a"), Map("LD_LIBRARY_PATH" -> "/own")))
    assertEquals(Map("A" -> "b"), ExecutorSettings.libraries(conf(), Map("A" -> "b")))
  }

  @Test def theMachineIsInherited(): Unit = assertEquals(
    Map("PATH" -> "/bin", "TZ" -> "Asia/Tokyo", "LC_TIME" -> "de_DE.UTF-8", "https_proxy" -> "http://me:secret@proxy"),
    ExecutorSettings.inherited(Map("PATH" -> "/bin", "TZ" -> "Asia/Tokyo", "LC_TIME" -> "de_DE.UTF-8", "LANG" -> "C", "LC_ALL" -> "",
      "https_proxy" -> "http://me:secret@proxy", "AWS_SECRET_ACCESS_KEY" -> "x", "HOME" -> "/root")))
}
