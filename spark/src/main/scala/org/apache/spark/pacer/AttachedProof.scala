package org.apache.spark.pacer

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.security.SecureRandom
import java.util.HexFormat
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

/**
 * By what an executor of an attached application shows its node whose it is: a hash made with a secret of its driver's,
 * which the driver tells the planner, and of which it gives each executor what that one needs, by Spark's RPC. It is
 * in no configuration, command line or environment. Node and planner make the same (api/proof.go).
 */
private[spark] object AttachedProof {

  /** A secret of a driver that starts. */
  def secret(): String = {
    val bytes = new Array[Byte](32)
    new SecureRandom().nextBytes(bytes)
    HexFormat.of().formatHex(bytes)
  }

  /** What an executor has of a secret: of use for it alone, on that machine. */
  def ofExecutor(secret: String, app: String, executor: String, machine: String): String =
    keyed(keyed(secret, s"pacer machine $machine"), s"pacer executor $app $executor")

  /** What the page of the process shows that has such a key: proc_pid_stat(5), its first field and its twenty-second. */
  def ofProcess(key: String, stat: String = Files.readString(Paths.get("/proc/self/stat"))): Array[Byte] = {
    val started = stat.drop(stat.lastIndexOf(')') + 2).split(' ')(19)
    hash(key, s"pacer process ${stat.takeWhile(_ != ' ')} $started")
  }

  private def keyed(secret: String, text: String): String = HexFormat.of().formatHex(hash(secret, text))

  private def hash(secret: String, text: String): Array[Byte] = {
    val mac = Mac.getInstance("HmacSHA256")
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"))
    mac.doFinal(text.getBytes(UTF_8))
  }
}
