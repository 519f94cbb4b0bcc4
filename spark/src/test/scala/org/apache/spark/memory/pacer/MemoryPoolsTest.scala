package org.apache.spark.memory.pacer

import java.io.IOException
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.file.{Files, Path, Paths}

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.{Test, Timeout}
import org.junit.jupiter.api.io.TempDir

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.apache.spark.executor.ExecutorMetrics
import org.apache.spark.memory.{MemoryManager, MemoryMode, UnifiedMemoryManager}
import org.apache.spark.pacer.MemoryWish
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.{BlockId, RDDBlockId, StorageLevel}

/** Against Spark's own manager, which checks at each acquisition that its sizes agree. */
class MemoryPoolsTest {
  import MemoryPoolsTest._

  @Test def growthIsAtOnceAndTheManagerGivesIt(): Unit = {
    val m = manager(64 * MiB)
    val p = pools(m)
    assertEquals("", p.fixed)
    assertEquals(64 * MiB, p.state.inForce)
    move(p, 256 * MiB, 1)
    assertEquals((256 * MiB, 0L, 1L, 1L), (p.state.inForce, p.state.owed, p.state.acknowledged, p.state.moved))
    assertEquals(256 * MiB, m.acquireExecutionMemory(256 * MiB, 1, MemoryMode.OFF_HEAP))
    assertEquals(256 * MiB, p.seen.execution)
  }

  @Test def whatNobodyUsesIsTakenAtOnce(): Unit = {
    val m = manager(256 * MiB)
    val p = pools(m)
    move(p, 16 * MiB, 1)
    assertEquals((16 * MiB, 0L), (p.state.inForce, p.state.owed))
    assertFalse(m.acquireStorageMemory(RDDBlockId(0, 0), 17 * MiB, MemoryMode.OFF_HEAP))
    assertTrue(m.acquireStorageMemory(RDDBlockId(0, 1), 16 * MiB, MemoryMode.OFF_HEAP))
    assertEquals(128 * MiB, { move(p, 128 * MiB, 2); p.state.inForce })
  }

  @Test def blocksAreEvictedInPiecesAndCounted(): Unit = {
    val m = manager(512 * MiB)
    var asked = Seq.empty[Long]
    val p = new MemoryPools(m, n => {
      asked :+= n
      if (n > MiB) 0 else { m.releaseStorageMemory(8 * MiB, MemoryMode.OFF_HEAP); 8 * MiB }
    })
    (1 to 50).foreach(i => assertTrue(m.acquireStorageMemory(RDDBlockId(0, i), 8 * MiB, MemoryMode.OFF_HEAP)))
    move(p, 128 * MiB, 1)
    assertEquals((128 * MiB, 128 * MiB, 0L), (p.state.inForce, p.state.storage, p.state.owed))
    assertEquals(400 * MiB - 128 * MiB, p.state.evicted)
    assertEquals(4 * MiB, asked.max, "the largest piece")
    assertEquals(Seq(4 * MiB, 2 * MiB, MiB), asked.take(3), "halved until it goes")
  }

  @Test def whatTasksHoldIsOwedUntilTheyGiveItBack(): Unit = {
    val m = manager(256 * MiB)
    val p = pools(m)
    assertEquals(200 * MiB, m.acquireExecutionMemory(200 * MiB, 1, MemoryMode.OFF_HEAP))
    p.want(64 * MiB, 1, 0)
    p.step(0, 0)
    assertEquals((200 * MiB, 136 * MiB, 1L, 0L), (p.state.inForce, p.state.owed, p.state.acknowledged, p.state.moved))
    assertEquals(0L, m.acquireExecutionMemory(MiB, 1, MemoryMode.OFF_HEAP), "it has its share and more")
    m.releaseExecutionMemory(100 * MiB, 1, MemoryMode.OFF_HEAP)
    p.step(1, 0)
    assertEquals((100 * MiB, 36 * MiB), (p.state.inForce, p.state.owed))
    m.releaseExecutionMemory(100 * MiB, 1, MemoryMode.OFF_HEAP)
    p.step(2, 0)
    assertEquals((64 * MiB, 0L, 1L), (p.state.inForce, p.state.owed, p.state.moved))
    assertFalse(p.moving)
  }

  @Test def aReleaseWakesTheShrinking(): Unit = {
    val m = manager(256 * MiB)
    val p = pools(m)
    m.acquireExecutionMemory(256 * MiB, 1, MemoryMode.OFF_HEAP)
    p.want(64 * MiB, 1, 0)
    val task = new Thread(() => m.releaseExecutionMemory(256 * MiB, 1, MemoryMode.OFF_HEAP))
    task.start()
    while (p.moving) p.step(0, 60000) // Unless it were woken, this would take a minute.
    task.join()
    assertEquals(64 * MiB, p.state.inForce)
  }

  @Test def theNewestWishWins(): Unit = {
    val m = manager(256 * MiB)
    val p = pools(m)
    m.acquireExecutionMemory(200 * MiB, 1, MemoryMode.OFF_HEAP)
    p.want(64 * MiB, 1, 0)
    p.step(0, 0)
    p.want(300 * MiB, 2, 1)
    p.step(1, 0)
    assertEquals((300 * MiB, 0L, 2L, 1L), (p.state.inForce, p.state.owed, p.state.acknowledged, p.state.moved))
  }

  @Test def poolsOfOthersAreFixed(): Unit = {
    assertTrue(pools(new UnifiedMemoryManager(new SparkConf(), 1L << 30, 1L << 29, 2)).fixed.contains("not enabled"))
    val other = pools(new Other)
    assertTrue(other.fixed.contains(classOf[Other].getName))
    move(other, MiB, 3)
    assertFalse(other.state.moves)
    val owned = new MemoryPools(manager(MiB), _ => 0, Some("they belong to x"))
    assertEquals("they belong to x", owned.fixed)
    move(owned, 2 * MiB, 1)
    assertEquals((false, 0L, 1L), (owned.state.moves, owned.state.inForce, owned.state.acknowledged))
  }

  @Test def whoOwnsThePoolsIsSeenByThePlugins(): Unit = {
    def owner(plugins: String) = MemoryPools.owner(new SparkConf(false).set("spark.plugins", plugins))
    assertEquals(None, MemoryPools.owner(new SparkConf(false)))
    assertEquals(None, owner("org.apache.spark.pacer.PacerPlugin,com.example.Metrics"))
    assertEquals(Some("they belong to org.apache.gluten.GlutenPlugin"), owner("a.B, org.apache.gluten.GlutenPlugin"))
    assertEquals(Some("they belong to org.apache.spark.CometPlugin"), owner("org.apache.spark.CometPlugin,a.B"))
  }

  @Test @Timeout(60) def othersHaveTheManagerForAsLongAsAPieceTook(): Unit = {
    val m = manager(64 * MiB)
    var now = 0L
    val p = new MemoryPools(m, n => {
      now += 7 // What it takes to write them.
      m.releaseStorageMemory(n, MemoryMode.OFF_HEAP)
      n
    }, clock = () => now)
    assertTrue(m.acquireStorageMemory(RDDBlockId(0, 1), 60 * MiB, MemoryMode.OFF_HEAP))
    @volatile var parked = Vector.empty[Long]
    val mover = new MemoryPools.Mover(p, wish(40 * MiB), parked :+= _)
    mover.start()
    while (p.state.inForce != 40 * MiB || parked.size < 6) Thread.onSpinWait()
    mover.stop()
    assertEquals(Seq(7L, 7, 7, 7), parked.filter(_ == 7), "five pieces of 4 MiB, and then nothing more to do")
  }

  /**
   * Real blocks are evicted to disk, and how long a beat takes meanwhile is the figure evict.beat_s.max, which the bench
   * reads from its file: the longest one of each round.
   */
  @Test @Timeout(300) def beatsAreSentWhileBlocksAreEvicted(): Unit = {
    val sc = new SparkContext(new SparkConf(false).setMaster("local[2]").setAppName("t").set("spark.ui.enabled", "false")
      .set("spark.memory.offHeap.enabled", "true").set("spark.memory.offHeap.size", s"${512 * MiB}b"))
    try {
      val env = SparkEnv.get
      val p = MemoryPools.of(env)
      assertEquals("", p.fixed)
      val longest = (1 to 5).map { round =>
        val blocks = cached(sc)
        val mover = new MemoryPools.Mover(p, wish(64 * MiB))
        var beats = Vector.empty[Long]
        mover.start()
        while (p.state.inForce > 64 * MiB) {
          val began = System.nanoTime()
          ExecutorMetrics.getCurrentMetrics(env.memoryManager)
          beats :+= System.nanoTime() - began
        }
        mover.stop()
        assertTrue(p.state.evicted >= round * 300 * MiB, s"${p.state.evicted} bytes evicted in $round rounds")
        blocks.unpersist(blocking = true)
        while (p.state.inForce < 512 * MiB) move(p, 512 * MiB, 2)
        beats.max / 1e9
      }
      Files.writeString(Files.createDirectories(Paths.get("target", "figures")).resolve("evict.beat_s.max"), longest.mkString("\n"))
    } finally sc.stop()
  }

  @Test @Timeout(60) def anErrorDoesNotEndTheMover(): Unit = {
    val m = manager(64 * MiB)
    var errors = List(new OutOfMemoryError("for the test"), new NoClassDefFoundError("for the test"))
    val p = new MemoryPools(m, n => errors match {
      case error :: more =>
        errors = more
        throw error
      case Nil =>
        m.releaseStorageMemory(n, MemoryMode.OFF_HEAP)
        n
    })
    assertTrue(m.acquireStorageMemory(RDDBlockId(0, 1), 60 * MiB, MemoryMode.OFF_HEAP))
    val mover = new MemoryPools.Mover(p, wish(40 * MiB))
    mover.start()
    while (p.state.inForce != 40 * MiB) Thread.onSpinWait()
    mover.stop()
    assertEquals(Nil, errors)
  }

  @Test def aWishIsReadOnceAndTheNewestOne(@TempDir dir: Path): Unit = {
    val b = ByteBuffer.allocateDirect(MemoryWish.PageBytes).order(ByteOrder.LITTLE_ENDIAN)
    assertThrows(classOf[IOException], () => new MemoryWish(b))
    b.put(0, "PACERWP1".getBytes).putLong(8, 1)
    val w = new MemoryWish(b)
    assertEquals(None, w.newer(0))
    b.putLong(32, 111).putLong(16, 1)
    assertEquals(Some((111L, 1L)), w.newer(0))
    assertEquals(None, w.newer(1))
    b.putLong(40, 222).putLong(16, 2)
    b.putLong(32, 333).putLong(16, 3)
    assertEquals(Some((333L, 3L)), w.newer(1))
    b.putLong(8, 9)
    assertThrows(classOf[IOException], () => new MemoryWish(b))
    assertThrows(classOf[IOException], () => MemoryWish.open(Files.write(dir.resolve("short"), new Array[Byte](8))))
  }
}

object MemoryPoolsTest {
  private val MiB = 1L << 20

  private def manager(offHeap: Long): UnifiedMemoryManager = new UnifiedMemoryManager(
    new SparkConf().set("spark.memory.offHeap.enabled", "true").set("spark.memory.offHeap.size", s"${offHeap}b"), 1L << 30, 1L << 29, 2)

  /** 25 blocks of 16 MiB in off-heap memory. */
  private def cached(sc: SparkContext): RDD[Array[Byte]] = {
    val blocks = sc.parallelize(1 to 25, 25).map(_ => new Array[Byte]((16 * MiB).toInt)).persist(StorageLevel.OFF_HEAP)
    blocks.count()
    blocks
  }

  /** A node's page that wants so many bytes. */
  private def wish(bytes: Long): MemoryWish = {
    val page = ByteBuffer.allocateDirect(MemoryWish.PageBytes).order(ByteOrder.LITTLE_ENDIAN)
    page.put(0, "PACERWP1".getBytes).putLong(8, 1).putLong(32, bytes).putLong(16, 1)
    new MemoryWish(page)
  }

  private def pools(m: MemoryManager): MemoryPools = new MemoryPools(m, _ => 0L)

  private implicit final class Seen(p: MemoryPools) {
    def seen: MemoryPools.State = {
      p.step(0, 0)
      p.state
    }
  }

  /** Until the wish is met, or as often as a working one takes. */
  private def move(p: MemoryPools, bytes: Long, sequence: Long): Unit = {
    p.want(bytes, sequence, 0)
    var steps = 100
    while (p.moving && steps > 0) {
      p.step(0, 0)
      steps -= 1
    }
  }

  private class Other extends MemoryManager(new SparkConf(), 2, 1L << 29, 1L << 29) {
    override def maxOnHeapStorageMemory: Long = 0
    override def maxOffHeapStorageMemory: Long = 0
    override def acquireStorageMemory(blockId: BlockId, numBytes: Long, memoryMode: MemoryMode): Boolean = false
    override def acquireUnrollMemory(blockId: BlockId, numBytes: Long, memoryMode: MemoryMode): Boolean = false
    override def acquireExecutionMemory(numBytes: Long, taskAttemptId: Long, memoryMode: MemoryMode): Long = 0
  }
}
