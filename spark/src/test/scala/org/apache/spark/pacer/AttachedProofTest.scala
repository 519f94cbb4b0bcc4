package org.apache.spark.pacer

import java.lang.reflect.Proxy
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path, Paths}
import java.util.{Collections, HexFormat}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.{Test, Timeout}
import org.junit.jupiter.api.io.TempDir

import org.apache.spark.SparkConf
import org.apache.spark.api.plugin.PluginContext

class AttachedProofTest {
  /** As api/proof_test.go has it. */
  @Test def theNodeMakesTheSame(): Unit = {
    val key = AttachedProof.ofExecutor("5e" * 32, "application_1764300000000_0007", "12", "3f2b8a4e-0d5c-4c1e-9a77-5b1f0c2d3e4f")
    val stat = "4711 (java (x) y) S 1 4711 4711 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 30 0 98765 1 1"
    assertEquals("93090cd66d81d02e9dd5273df9677140fc4667e9570fc25a85edf3da7df788dc", HexFormat.of().formatHex(AttachedProof.ofProcess(key, stat)))
  }

  @Test def secretsAreOfTheirDriversAlone(): Unit = {
    val some = Seq.fill(100)(AttachedProof.secret())
    assertEquals(100, some.toSet.size)
    some.foreach(s => assertTrue(s.matches("[0-9a-f]{64}"), s))
  }

  @Test def aProcessProvesItself(): Unit = {
    val mine = AttachedProof.ofProcess("key")
    assertEquals(32, mine.length)
    assertArrayEquals(mine, AttachedProof.ofProcess("key"))
    assertFalse(java.util.Arrays.equals(mine, AttachedProof.ofProcess("another")))
  }

  /** An executor's plugin tells its machine, asks until it is told what to show, and shows that from the first on. */
  @Test @Timeout(60) def anExecutorShowsWhatItsDriverTells(@TempDir dir: Path): Unit = {
    val asked = new ConcurrentLinkedQueue[AnyRef]()
    val context = Proxy.newProxyInstance(getClass.getClassLoader, Array(classOf[PluginContext]), (_, method, args) => method.getName match {
      case "conf" => new SparkConf(false).set(PacerConf.Attached, "true")
      case "executorID" => "7"
      case "ask" =>
        asked.add(args(0))
        asked.size match {
          case 1 => throw new IllegalStateException("it has just started")
          case 2 => null
          case _ => "a key"
        }
      case other => throw new UnsupportedOperationException(other)
    }).asInstanceOf[PluginContext]
    val plugin = new PacerExecutorPlugin(None, None, dir)
    plugin.init(context, Collections.emptyMap())
    try {
      val page = dir.resolve("pacer-progress-7.page")
      while (!Files.exists(page)) Thread.onSpinWait()
      val words = ByteBuffer.wrap(Files.readAllBytes(page)).order(ByteOrder.LITTLE_ENDIAN)
      val shown = new Array[Byte](32)
      words.get(32, shown)
      assertArrayEquals(AttachedProof.ofProcess("a key"), shown)
      val machine = Files.readString(Paths.get("/proc/sys/kernel/random/boot_id")).trim
      assertEquals(Seq.fill(3)("7" -> machine), asked.asScala.toSeq)
    } finally plugin.shutdown()
  }
}
