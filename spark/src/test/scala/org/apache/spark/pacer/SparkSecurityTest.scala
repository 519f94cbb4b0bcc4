package org.apache.spark.pacer

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.{SecurityManager, SparkConf}

class SparkSecurityTest {
  private def conf(settings: (String, String)*) = new SparkConf(false).setAll(settings)

  @Test def executorsGetWhatTheyNeedBeforeTheyReachTheirDriver(): Unit = {
    val options = SparkSecurity.options(conf(
      "spark.authenticate" -> "true", "spark.authenticate.secret" -> "s3cret", "spark.network.crypto.enabled" -> "true",
      "spark.rpc.askTimeout" -> "7s", "spark.ssl.rpc.enabled" -> "true", "spark.ssl.rpc.keyPassword" -> "s3cret",
      "spark.ssl.rpc.keystorepassword" -> "s3cret", "spark.driver.port" -> "7077", "spark.sql.shuffle.partitions" -> "3"))
    assertEquals(Seq("-Dspark.authenticate=true", "-Dspark.network.crypto.enabled=true", "-Dspark.rpc.askTimeout=7s",
      "-Dspark.ssl.rpc.enabled=true"), options)
  }

  @Test def theSecretIsInTheEnvironmentAlone(): Unit = {
    val on = new SecurityManager(conf("spark.authenticate" -> "true", "spark.authenticate.secret" -> "s3cret"))
    assertEquals(Map("_SPARK_AUTH_SECRET" -> "s3cret"), SparkSecurity.environment(on))
    assertEquals(None, SparkSecurity.warning(on))
    val lost = new SecurityManager(conf("spark.authenticate" -> "true", "spark.authenticate.secret" -> "environment:_SPARK_AUTH_SECRET"))
    assertThrows(classOf[IllegalArgumentException], () => SparkSecurity.environment(lost))
    val off = new SecurityManager(conf("spark.authenticate.secret" -> "s3cret"))
    assertEquals(Map.empty, SparkSecurity.environment(off))
    assertTrue(SparkSecurity.warning(off).exists(line => line.contains("spark.authenticate is off") && !line.contains("\n")))
  }
}
