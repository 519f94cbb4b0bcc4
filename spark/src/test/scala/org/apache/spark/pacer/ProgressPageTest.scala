package org.apache.spark.pacer

import java.io.IOException
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path}
import java.nio.file.attribute.PosixFilePermissions

import scala.util.Try

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

import org.apache.spark.memory.pacer.MemoryPools
import org.apache.spark.pacer.TaskLedger.{NoUsage, Task, Usage}

class ProgressPageTest {
  import ProgressPageTest._

  @Test def aPageHasTheBytesOfTheSample(): Unit = {
    val buffer = memory()
    publishSample(new ProgressPage(buffer, 4711, (1 to 32).map(_.toByte).toArray))
    val bytes = new Array[Byte](buffer.capacity())
    buffer.get(0, bytes)
    // After a change of the layout: write the new sample and read it with samples_test.go.
    if (sys.env.contains("PACER_WRITE_SAMPLES")) Files.write(Samples.path("page.bin"), bytes)
    assertArrayEquals(Samples.read("page.bin"), bytes)
  }

  @Test def slotsAreUsedInTurnAndTheGenerationGrows(): Unit = {
    val buffer = memory()
    val page = new ProgressPage(buffer, 1)
    assertEquals(0L, word(buffer, 2), "nothing published yet")
    (1 to 5).foreach { g =>
      page.publish(_.head(100 + g, 0, 0))
      assertEquals(g.toLong, word(buffer, 2))
      // At generation g the readable slot is the one of (g - 1) & 1.
      assertEquals(100L + g, word(buffer, if (g % 2 == 1) 16 else 348))
    }
    assertEquals(104L, word(buffer, 348), "the slot before the last is untouched")
  }

  @Test def whatCollectionsLeaveStandsBehindTheSlots(): Unit = {
    val buffer = memory()
    val page = new ProgressPage(buffer, 1)
    (1 to 3).foreach { g =>
      page.publish { slot => slot.head(g, 0, 0); slot.heap(100 + g, 200 + g) }
      val at = if (g % 2 == 1) 680 else 682
      assertEquals(Seq(100L + g, 200L + g), Seq(word(buffer, at), word(buffer, at + 1)))
    }
    assertEquals(102L, word(buffer, 682), "the slot before the last is untouched")
  }

  @Test def aCollectionTellsWhatItHasLeft(): Unit = {
    val watch = new CollectionWatch
    val kept = new Array[Byte](32 << 20)
    val limit = System.nanoTime() + 10L * 1000 * 1000 * 1000
    while (watch.used < kept.length && System.nanoTime() < limit) {
      System.gc()
      Thread.`yield`()
    }
    assertTrue(watch.used >= kept.length, s"${watch.used} bytes in use")
    assertTrue(watch.nanos > 0, "collections have taken time")
  }

  @Test def aWriterThatComesAfterAnotherGoesOnWithItsGeneration(): Unit = {
    val buffer = memory()
    new ProgressPage(buffer, 1).publish(_.head(1, 0, 0))
    new ProgressPage(buffer, 2).publish(_.head(2, 0, 0))
    assertEquals(2L, word(buffer, 2))
    assertEquals(2L, word(buffer, 348))
  }

  @Test def aFileThatIsTooShortIsRefused(@TempDir dir: Path): Unit = {
    val file = dir.resolve("page")
    Files.write(file, new Array[Byte](100))
    assertTrue(assertThrows(classOf[IOException], () => ProgressPage.open(file)).getMessage.contains("100 bytes"))
    Files.write(file, new Array[Byte](8192))
    ProgressPage.open(file).publish(_.head(7, 0, 0))
    assertEquals(ProcessHandle.current().pid(), ByteBuffer.wrap(Files.readAllBytes(file))
      .order(ByteOrder.LITTLE_ENDIAN).getLong(3 * 8))
  }

  @Test def anAttachedExecutorMakesItsPageWhole(@TempDir dir: Path): Unit = {
    (1 to 2).foreach { _ =>
      ProgressPage.make(dir, "7", Array.fill(32)(5.toByte)).publish(_.head(7, 0, 0))
      val page = dir.resolve("pacer-progress-7.page")
      assertEquals(1L, word(ByteBuffer.wrap(Files.readAllBytes(page)).order(ByteOrder.LITTLE_ENDIAN), 2), "one of its own")
      assertEquals(8192L, Files.size(page))
      assertEquals(Seq.fill(4)(0x0505050505050505L), (4 to 7).map(word(ByteBuffer.wrap(Files.readAllBytes(page)), _)))
      val open = dir.getFileSystem.getPath("/proc/self/fd")
      assertTrue(Files.list(open).anyMatch(fd => Try(Files.readSymbolicLink(fd)).toOption.contains(page.toRealPath())), "its node finds it")
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(page)))
    }
    assertArrayEquals(Array[AnyRef]("pacer-progress-7.page"), dir.toFile.list().asInstanceOf[Array[AnyRef]], "and nothing else")
  }

  /** In an executor whose publisher has Scala iterators, those of a user's tasks are not inlined. */
  @Test def thePublisherHasNoScalaIterators(): Unit =
    Seq("CollectionWatch", "TaskLedger", "TaskLedger$Stage", "TaskLedger$Task", "ProgressPage", "ProgressPage$Slot").foreach { name =>
      val in = getClass.getResourceAsStream(s"$name.class")
      val code = try new String(in.readAllBytes(), "ISO-8859-1") finally in.close()
      Seq("scala/collection/Iter", "scala/collection/mutable", "ArrayOps", "foreach").foreach { word =>
        assertFalse(code.contains(word), s"$name has $word")
      }
    }

  @Test def aPartitionCountsOnceHoweverOftenItSucceeds(): Unit = {
    val ledger = new TaskLedger
    Seq(1L, 2L).foreach { id =>
      val t = new Task(id, 0, 0, 5, 1500000, 0)
      ledger.started(t)
      ledger.ended(t, Usage(10, 0), succeeded = true, 1)
      ledger.ended(t, Usage(10, 0), succeeded = true, 1)
    }
    val s = stage(ledger, 0)
    assertEquals((2L, 1500000L, 20L), (s(2), s(4), s(5)), "two attempts, one weight, no end twice")
  }

  @Test def onlyTheNewestStagesAreShownAndBusyOnesAreKept(): Unit = {
    val ledger = new TaskLedger
    val busy = new Task(1000, 1000, 0, 0, 1000000, 0)
    ledger.started(busy)
    (1 to 100).foreach { i =>
      val t = new Task(i, i, 0, 0, 1000000, i)
      ledger.started(t)
      ledger.ended(t, NoUsage, succeeded = true, i)
    }
    ledger.ended(busy, NoUsage, succeeded = false, 101)
    assertEquals(1000L, stage(ledger, 0)(0))
    assertEquals(1L, stage(ledger, 0)(3), "its failure, not a new stage's")
    assertEquals(Seq(100L, 99L, 98L, 97L, 96L, 95L, 94L), (1 to 7).map(stage(ledger, _)(0)))
  }

  @Test def theTaskLaunchedLastSaysWhatWaits(): Unit = {
    val ledger = new TaskLedger
    def heaviest: Seq[Long] = {
      val buffer = memory()
      ledger.publish(new ProgressPage(buffer, 1), _ => NoUsage, 0)
      Seq(19, 20).map(word(buffer, _))
    }
    ledger.started(new Task(1, 3, 0, 0, 1000000, 0))
    assertEquals(Seq(0L, 0L), heaviest, "nobody knows")
    // Tasks of one launch start on threads of their own, in any order.
    ledger.started(new Task(8, 3, 1, 2, 1000000, 0, heaviest = 500000))
    ledger.started(new Task(7, 3, 1, 1, 1500000, 0, heaviest = 1000000))
    ledger.started(new Task(9, 4, 0, 0, 1000000, 0))
    assertEquals(Seq(500000L, 3L << 32 | 1), heaviest)
  }

  @Test def aLargeTaskShowsInWhichPartOfItsTimeItReads(): Unit = {
    val ledger = new TaskLedger
    val large = new Task(1, 0, 0, 0, 2500000, 0)
    val mean = new Task(2, 0, 0, 1, 1000000, 0)
    Seq(large, mean).foreach(ledger.started)
    // All is read between the second sight of it and the third.
    Seq((100L, 10L), (200L, 20L), (300L, 30L), (400L, 30L)).foreach { case (cpu, records) =>
      ledger.publish(new ProgressPage(memory(), 1), _ => Usage(records, cpu), 0)
    }
    Seq(large, mean).foreach(ledger.ended(_, Usage(30, 500), succeeded = true, 1))
    assertEquals(Seq(500L, 250L), stage(ledger, 0).slice(10, 12))
    // One that reads until it ends, and one that is never seen to read.
    val other = new Task(3, 1, 0, 0, 2500000, 2)
    val blind = new Task(4, 2, 0, 0, 2500000, 3)
    Seq(other, blind).foreach(ledger.started)
    ledger.ended(other, Usage(30, 500), succeeded = true, 4)
    ledger.ended(blind, Usage(0, 500), succeeded = true, 5)
    assertEquals(Seq(500L, 250L), stage(ledger, 1).slice(10, 12))
    assertEquals(Seq(500L, 0L), stage(ledger, 0).slice(10, 12))
  }

  @Test def aLongTaskShowsInWhichPartOfItsTimeItReads(): Unit = {
    val ledger = new TaskLedger
    val (long, brief) = (new Task(1, 0, 0, 0, 1000000, 0), new Task(2, 0, 0, 1, 1000000, 0))
    Seq(long, brief).foreach(ledger.started)
    val second = 1000000000L
    Seq((second / 4, 30L), (second, 30L)).foreach { case (cpu, records) =>
      ledger.publish(new ProgressPage(memory(), 1), _ => Usage(records, cpu), 0)
    }
    ledger.ended(brief, Usage(30, second), succeeded = true, 1)
    ledger.ended(long, Usage(30, 2 * second), succeeded = true, 1)
    assertEquals(Seq(2 * second, second / 8), stage(ledger, 0).slice(10, 12))
  }

  @Test def moreTasksThanFitAreCountedInAll(): Unit = {
    val ledger = new TaskLedger
    (1 to 60).foreach(i => ledger.started(new Task(i, 1, 0, i, 1000000, 0)))
    val buffer = memory()
    ledger.publish(new ProgressPage(buffer, 1), _ => Usage(1, 3), 9)
    assertEquals(Seq(9L, 1L, 44L), (16 to 18).map(word(buffer, _)))
    assertEquals(Seq(60L, 60L, 180L), (7 to 9).map(i => word(buffer, 32 + i)))
  }
}

object ProgressPageTest {
  def memory(): ByteBuffer = ByteBuffer.allocateDirect(8192).order(ByteOrder.LITTLE_ENDIAN)
  def word(buffer: ByteBuffer, i: Int): Long = buffer.getLong(i * 8)

  private def stage(ledger: TaskLedger, i: Int): IndexedSeq[Long] = {
    val buffer = memory()
    ledger.publish(new ProgressPage(buffer, 1), _ => NoUsage, 0)
    (0 until 12).map(w => word(buffer, 32 + 12 * i + w))
  }

  /** What samples_test.go expects to read. */
  private def publishSample(page: ProgressPage): Unit = {
    val ledger = new TaskLedger
    def end(id: Long, stage: Int, partition: Int, weight: Long, ok: Boolean, at: Long): Unit = {
      val t = new Task(id, stage, 0, partition, weight, 1000)
      ledger.started(t)
      ledger.ended(t, Usage(10, 50), ok, at)
    }
    page.publish(_.head(1, 0, 0)) // So that the sample is in the second slot.
    end(1, stage = 3, partition = 0, weight = 1250000, ok = true, at = 2000)
    end(2, stage = 3, partition = 1, weight = 750000, ok = false, at = 3000)
    end(3, stage = 4, partition = 0, weight = 2500000, ok = true, at = 4000)
    ledger.started(new Task(4, 3, 0, 1, 750000, 5000))
    ledger.started(new Task(5, 6, 2, 7, 1000000, 4500, heaviest = 900000))
    val pools = MemoryPools.State(moves = true, inForce = 1001, storage = 1002, execution = 1003, owed = 1004, acknowledged = 5,
      evicted = 1006, moved = 7, nanos = 1008)
    ledger.publish(page, t => Usage(t.id * 100, t.id * 10, spilled = 100), 6000, TaskLedger.Memory(1, pools, heap = 1009, used = 1010, collecting = 1011))
  }
}
