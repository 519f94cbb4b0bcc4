package org.apache.spark.scheduler.pacer

import java.nio.ByteBuffer
import java.nio.file.{Files, Path, Paths}

import scala.collection.mutable
import scala.concurrent.Await
import scala.concurrent.duration.DurationInt
import scala.jdk.CollectionConverters._

import org.junit.jupiter.api.{AfterAll, BeforeAll, Test, TestInstance}
import org.junit.jupiter.api.Assertions._

import org.apache.spark.{HashPartitioner, InternalAccumulator, MapOutputTrackerMaster, OneToOneDependency, Partition, ShuffleDependency}
import org.apache.spark.{SparkConf, SparkContext, SparkEnv, SparkException, TaskContext}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}
import org.apache.spark.pacer.{DriverContexts, PacerConf, PacerExecutorPlugin, ProgressPage, Wire}
import org.apache.spark.pacer.Wire._
import org.apache.spark.rdd.{RDD, RDDOperationScope}
import org.apache.spark.resource.{ResourceProfileBuilder, TaskResourceRequests}
import org.apache.spark.scheduler.{ExternalClusterManager, SchedulerBackend, TaskScheduler, TaskSchedulerImpl}
import org.apache.spark.scheduler.local.LocalSchedulerBackend
import org.apache.spark.util.AccumulatorV2

/**
 * The scheduler and the executor plugin in one JVM with Spark's local back end: a
 * cluster of one executor, without a planner.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StageHistoryTest {
  import StageHistoryTest._

  private var sc: SparkContext = _
  private val told = mutable.ArrayBuffer[DriverEvent]()

  @BeforeAll def start(): Unit = {
    Files.write(page, new Array[Byte](8192))
    sc = new SparkContext(new SparkConf(false).setMaster("pacer-test").setAppName("t").set("spark.ui.enabled", "false")
      .set("spark.plugins", classOf[TestPlugin].getName))
    scheduler.tell = h => told.synchronized(told += h)
  }

  @AfterAll def stop(): Unit = {
    if (sc != null) sc.stop()
    Files.deleteIfExists(page)
  }

  private def scheduler = sc.taskScheduler.asInstanceOf[StageBoundTaskScheduler]

  /** Runs body and returns what happened meanwhile. */
  private def during(body: => Unit): Seq[DriverEvent] = told.synchronized(told.size) match {
    case before =>
      body
      told.synchronized(told.drop(before).toList)
  }

  private def readyOf(h: Seq[DriverEvent]) = h.collect { case s: StageReady => s }
  private def doneOf(h: Seq[DriverEvent]) = h.collect { case s: StageDone => s }

  private def twoBranches(): RDD[(Int, (Int, Int))] = {
    val left = sc.parallelize(1 to 1000, 4).map(x => (x % 10, x)).reduceByKey(_ + _, 2)
    val right = sc.parallelize(1 to 1000, 4).map(x => (x % 10, x)).reduceByKey(_ max _, 2)
    left.join(right, 2)
  }

  @Test def resourcesByStageAreRefusedInOneLine(): Unit = {
    val profile = new ResourceProfileBuilder().require(new TaskResourceRequests().cpus(2)).build()
    val said = assertThrows(classOf[SparkException], () => sc.parallelize(1 to 2, 2).withResources(profile)).getMessage
    assertTrue(said.contains("ResourceProfiles are only supported") && !said.contains("\n"), said)
  }

  @Test def stagesAreToldOnceWithWhatTheirParentsWrote(): Unit = {
    val h = during(assertEquals(10L, twoBranches().count()))
    val ready = readyOf(h)
    val done = doneOf(h)
    assertEquals(3, ready.size)
    assertEquals(ready.map(_.key).toSet, done.map(_.key).toSet)
    assertTrue(done.forall(d => !d.failed && d.tasks > 0 && d.taskTime > 0 && d.lastFinish >= d.firstLaunch), done.toString)
    val join = ready.last
    assertEquals(ready.init.map(_.key.stage).sorted, join.parents)
    // 4 map tasks with 10 keys each, on both sides.
    assertEquals(80L, join.records)
    assertEquals(Seq(40L, 40L, 0L), done.map(_.recordsWritten))
    assertEquals(80L, done.last.recordsRead)
    assertTrue(join.bytes > 0)
    assertEquals(Wire.Unknown, ready.head.records, "nobody counts what parallelize holds")
    assertEquals(Set(ready.head.job), ready.map(_.job).toSet)
    assertFalse(join.weighted, "so little data says nothing about skew")
  }

  @Test def aJobThatReadsWhatAnEarlierOneWroteNamesTheStageThatRan(): Unit = {
    val reduced = sc.parallelize(1 to 100, 2).map(x => (x % 5, x)).reduceByKey(_ + _, 2)
    val first = readyOf(during(reduced.count()))
    val second = readyOf(during(reduced.map(_._1).count()))
    assertEquals(1, second.size)
    assertEquals(Seq(first.head.key.stage), second.head.parents)
    assertTrue(second.head.job > first.head.job)
  }

  @Test def aStageThatWritesLostOutputAgainNamesTheOneThatWroteIt(): Unit = {
    val reduced = sc.parallelize(1 to 100, 3).map(x => (x % 5, x)).reduceByKey(_ + _, 2)
    val shuffle = reduced.dependencies.head.asInstanceOf[ShuffleDependency[_, _, _]].shuffleId
    val tracker = SparkEnv.get.mapOutputTracker.asInstanceOf[MapOutputTrackerMaster]
    def lose(): Unit = {
      val lost = tracker.shuffleStatuses(shuffle).mapStatuses(1)
      tracker.unregisterMapOutput(shuffle, 1, lost.location)
    }
    val first = readyOf(during(reduced.count()))
    assertEquals(Seq(None, None), first.map(_.repeats))
    lose()
    val second = readyOf(during(assertEquals(5L, reduced.count())))
    assertEquals(Seq(Some(first.head.key.stage), None), second.map(_.repeats))
    assertEquals(Seq(1, 2), second.map(_.tasks))
    assertNotEquals(first.head.key.stage, second.head.key.stage)
    assertEquals(first.head.signature, second.head.signature)
    lose()
    val third = readyOf(during(assertEquals(5L, reduced.count())))
    assertEquals(Some(second.head.key.stage), third.head.repeats)
  }

  @Test def aJobThatNeedsAPartReadsAPart(): Unit = {
    val sorted = sc.parallelize(1 to 1000, 2).map(x => (x, x)).partitionBy(new HashPartitioner(4))
    val all = readyOf(during(sorted.count()))
    val one = readyOf(during(sc.runJob(sorted, (i: Iterator[(Int, Int)]) => i.size, Seq(0))))
    assertEquals(1000L, all.last.records)
    assertTrue(one.last.records > 150 && one.last.records < 350, one.last.toString)
  }

  @Test def signaturesAreTheSameFromRunToRunAndDifferWithTheCode(): Unit = {
    val a = readyOf(during(twoBranches().count())).map(_.signature)
    val b = readyOf(during(twoBranches().count())).map(_.signature)
    assertEquals(a, b)
    assertEquals(16, a.head.length)
    val c = readyOf(during(twoBranches().mapValues(_._1).count())).map(_.signature)
    assertEquals(a.init, c.init)
    assertNotEquals(a.last, c.last)
    assertNotEquals(a.last, readyOf(during(twoBranches().collect())).last.signature, "the action counts")
  }

  @Test def lineagesDoNotHangOnTheCallSite(): Unit = {
    def readyFrom(site: String): Seq[StageReady] = {
      sc.setCallSite(site)
      try readyOf(during(twoBranches().count())) finally sc.clearCallSite()
    }
    val a = readyFrom("sum at app.py:9")
    val b = readyFrom("collect at PythonRDD.scala:181")
    assertEquals(a.map(_.lineage), b.map(_.lineage))
    assertEquals(16, a.head.lineage.length)
    a.zip(b).foreach { case (x, y) => assertNotEquals(x.signature, y.signature) }
    val c = readyOf(during(twoBranches().mapValues(_._1).count())).map(_.lineage)
    assertEquals(a.init.map(_.lineage), c.init)
    assertNotEquals(a.last.lineage, c.last)
  }

  @Test def callSitesLoseLineDirectoryAndGeneratedNumbers(): Unit = {
    assertEquals("collect at app.py", StageSignature.callSite("collect at /tmp/x1/app.py:33"))
    assertEquals("collect at app.py", StageSignature.callSite("collect at app.py:7"))
    assertEquals("$anonfun$run at Future.java", StageSignature.callSite("$anonfun$run$3 at Future.java:1768"))
  }

  @Test def skewedPartitionsAreWeighedAndTheWeightReachesTheTask(): Unit = {
    val big = "x" * 1000
    val skewed = sc.parallelize(1 to 4000, 2).map(x => (if (x <= 3000) 0 else x % 4, s"${(x.toString * 30).hashCode}$big$x"))
      .groupByKey(4)
    val seen = sc.collectionAccumulator[(Int, String)]
    val h = during(skewed.foreachPartition { _ =>
      val c = TaskContext.get()
      seen.add((c.partitionId(), c.getLocalProperty(PacerExecutorPlugin.WeightProperty)))
    })
    val ready = readyOf(h).last
    assertTrue(ready.weighted, ready.toString)
    val weights = seen.value.asScala.toMap
    assertEquals(4, weights.size)
    assertEquals(4000000L, weights.values.map(_.toLong).sum)
    assertEquals(0, weights.maxBy(_._2.toLong)._1)
    assertNull(sc.getLocalProperty(PacerExecutorPlugin.WeightProperty), "the job's own properties stay as they are")
  }

  @Test def aUsersAccumulatorsAreNotRead(): Unit = {
    StageHistoryTest.read.set(0)
    val touchy, named = new Touchy
    sc.register(touchy)
    sc.register(named, "internal.metrics.executorCpuTime")
    val collected = sc.collectionAccumulator[Int]("numbers")
    val done = doneOf(during(assertEquals(100L, sc.parallelize(1 to 100, 4).map { x =>
      if (x == 1) {
        touchy.add(x)
        val began = System.nanoTime()
        while (System.nanoTime() - began < 5000000) () // Spark counts in milliseconds.
      }
      collected.add(x)
      x
    }.count())))
    assertEquals(Seq(4), done.map(_.tasks))
    assertFalse(done.head.failed, done.toString)
    assertTrue(done.head.taskTime > 0 && done.head.taskTime < 60, done.toString)
    assertEquals(100, collected.value.size)
    assertEquals(0, StageHistoryTest.read.get, "read under the scheduler's lock")
  }

  @Test def usersCodeIsCalledWithoutTheSchedulersLock(): Unit = {
    StageHistoryTest.under.clear()
    val first = sc.parallelize(1 to 10, 2)
    val asked = new RDD[Int](sc, Seq(new OneToOneDependency[Int](first) {
      override def getParents(partition: Int): List[Int] = {
        SparkContext.getActive.foreach(s => StageHistoryTest.under.add(Thread.holdsLock(s.taskScheduler)))
        super.getParents(partition)
      }
    })) {
      override def compute(p: Partition, c: TaskContext): Iterator[Int] = firstParent[Int].iterator(p, c)
      override protected def getPartitions: Array[Partition] = firstParent[Int].partitions
    }
    assertEquals(10L, asked.count())
    val under = StageHistoryTest.under
    assertTrue(!under.isEmpty && !under.contains(true), under.toString)
  }

  @Test def whatIsRememberedOfShufflesIsBoundedByPartitions(): Unit = {
    val wide = (StageHistory.KeptPartitions / 4).toInt
    val history = new StageHistory(null)
    (1 to 9).foreach(id => history.remember(id, id, "s", "l", wide))
    assertEquals(4L * wide, history.remembered)
    assertEquals(Some(9), history.remember(9, 10, "s", "l", wide), "the newest are kept")
    assertEquals(None, history.remember(1, 10, "s", "l", wide), "the oldest are not")
    history.remember(9, 11, "s", "l", 2)
    assertEquals(3L * wide + 2, history.remembered, "one that is written again counts once")
    history.remember(20, 20, "s", "l", 5 * wide)
    assertEquals(5L * wide, history.remembered, "the newest is kept whatever it has")
  }

  @Test def blocksAreNotAddedUpWithoutEnd(): Unit = {
    assertTrue(PartitionSizes.summable(maps = 2000, reducers = 10000))
    assertFalse(PartitionSizes.summable(maps = 100000, reducers = 100000))
  }

  @Test def whatAPartitionReadsIsKnownOfKnownReaders(): Unit = {
    val shuffled = sc.parallelize(1 to 10, 2).map(x => (x, x)).partitionBy(new HashPartitioner(3))
    assertEquals(Some(PartitionSizes.Reducers(2, 3)), PartitionSizes.reads(shuffled.partitions(2)))
    assertEquals(Some(PartitionSizes.Reducers(1, 2)), PartitionSizes.reads(twoBranches().partitions(1)))
    assertEquals(None, PartitionSizes.reads(new Partition { override def index: Int = 0 }))
  }

  @Test def cachedInputIsUnknown(): Unit = {
    val cached = sc.parallelize(1 to 100, 2).map(x => (x % 5, x)).reduceByKey(_ + _, 2).cache()
    cached.count()
    val ready = readyOf(during(cached.map(_._2).count()))
    assertEquals((Wire.Unknown, Wire.Unknown), (ready.last.records, ready.last.bytes))
    cached.unpersist(blocking = true)
  }

  @Test def aFailedStageEndsOnceAndSaysWhy(): Unit = {
    val h = during {
      val before = told.synchronized(told.size)
      assertThrows(classOf[Exception], () =>
        sc.parallelize(1 to 4, 4).foreach(x => if (x == 3) throw new IllegalStateException("number 3")))
      // Its job has failed before its last task has ended.
      while (doneOf(told.synchronized(told.drop(before).toList)).isEmpty) Thread.onSpinWait()
    }
    val done = doneOf(h)
    assertEquals(1, done.size)
    assertTrue(done.head.failed && done.head.reason.contains("number 3"), done.toString)
  }

  @Test def theExecutorsPageCountsEveryTask(): Unit = {
    val h = during(sc.parallelize(1 to 1000, 5).map(x => (x % 3, x)).reduceByKey(_ + _, 3).count())
    val done = doneOf(h)
    assertEquals(2, done.size)
    val seen = done.zip(Seq(5L, 3L)).map { case (d, tasks) => eventually(tasks)(pageStage(d.key.stage)) }
    assertEquals(Seq(5L, 3L), seen.map(_(2)))
    assertEquals(Seq(5000000L, 3000000L), seen.map(_(4)))
    assertEquals(done.map(_.recordsRead), seen.map(_(5)))
    assertTrue(seen.forall(_(6) > 0), "CPU time")
  }

  @Test def jobsThatOverlapAreOneGroup(): Unit = {
    val gate = new java.util.concurrent.CountDownLatch(1)
    StageHistoryTest.gate = gate
    val h = during {
      val slow = sc.parallelize(1 to 1, 1).map { x => StageHistoryTest.gate.await(); x }.countAsync()
      while (readyOf(told.synchronized(told.toList)).lastOption.forall(s => s.tasks != 1)) Thread.onSpinWait()
      val other = sc.parallelize(1 to 2, 2).countAsync()
      gate.countDown()
      Await.result(slow, 60.seconds)
      Await.result(other, 60.seconds)
    }
    val alone = readyOf(during(sc.parallelize(1 to 2, 2).count()))
    assertTrue(readyOf(h).map(_.job).forall(_ < alone.head.job))
  }

  @Test def weightsAddUpAndAreOnlyForSkew(): Unit = {
    val mib = 1L << 20
    assertEquals(None, TaskWeights.of(Array(100 * mib)))
    assertEquals(None, TaskWeights.of(Array.fill(10)(7 * mib)))
    assertEquals(None, TaskWeights.of(Array(0, 0, 0)))
    assertEquals(None, TaskWeights.of(Array(10, 5000, 10)), "a few KiB are noise")
    val w = TaskWeights.of(Array(0, mib, 8 * mib)).get
    assertEquals(3000000L, w.sum)
    assertTrue(w(0) > 0 && w(0) < w(1) && w(1) < w(2), w.toSeq.toString)
  }

  @Test def weightsAreAlikeAsFarAsTheProfileSays(): Unit = {
    val mib = 1L << 20
    val w = TaskWeights.of(Array(0, mib, 8 * mib)).get
    assertSame(w, TaskWeights.withFixedPart(w, 0))
    val half = TaskWeights.withFixedPart(w, 0.5)
    assertEquals(3000000L, half.sum)
    w.zip(half).foreach { case (before, after) => assertEquals((before + 1000000L) / 2.0, after.toDouble, 1.5) }
  }

  @Test def pythonsLongestTaskIsItsSlotsTime(): Unit = {
    def longest(python: Boolean, cpuSeconds: Double, ranSeconds: Double): Double = {
      val totals = new StageTotals(StageFacts("s", "s", "", Nil, 0, 0, TaskWeights.alike(1), weighted = false, Map.empty, None,
        pipelined = false, python = python))
      val cpu = sc.longAccumulator(InternalAccumulator.EXECUTOR_CPU_TIME)
      val ran = sc.longAccumulator(InternalAccumulator.EXECUTOR_RUN_TIME)
      cpu.add((cpuSeconds * 1e9).toLong)
      ran.add((ranSeconds * 1e3).toLong)
      totals.add(0, Seq(cpu, ran), 0, 0)
      totals.result(StageKey(0, 0), complete = true, scheduler.clock, 0).longestTask
    }
    assertEquals(4.0, longest(python = true, cpuSeconds = 0.5, ranSeconds = 4), 1e-9)
    assertEquals(0.5, longest(python = false, cpuSeconds = 0.5, ranSeconds = 4), 1e-9, "it waits, for its input say")
  }

  @Test def bytesFromOtherHostsAndFromMemoryAreToldApart(): Unit = {
    val totals = new StageTotals(StageFacts("s", "s", "", Nil, 0, 0, TaskWeights.alike(3), weighted = false, Map.empty, None,
      pipelined = false))
    def metric(name: String, value: Long) = {
      val a = sc.longAccumulator(name)
      a.add(value)
      a
    }
    import InternalAccumulator.{input, shuffleRead}
    totals.add(0, Seq(metric(input.BYTES_READ, 100), metric(shuffleRead.REMOTE_BYTES_READ, 7), metric(shuffleRead.LOCAL_BYTES_READ, 5)),
      0, 0, InputOrigin.Disk)
    totals.add(1, Seq(metric(input.BYTES_READ, 30)), 0, 0, InputOrigin.Cached)
    totals.add(2, Seq(metric(input.BYTES_READ, 11)), 0, 0, InputOrigin.Elsewhere)
    val done = totals.result(StageKey(0, 0), complete = true, scheduler.clock, 0)
    assertEquals((153L, 18L, 30L), (done.bytesRead, done.bytesRemote, done.bytesCached))
  }

  @Test def anInputComesFromWhereItsPlacesSay(): Unit = {
    import org.apache.spark.scheduler.TaskLocation
    val cached = Seq(TaskLocation("h1", "3"))
    assertEquals(InputOrigin.Cached, InputOrigin.of(cached, "3", "h1", ownFiles = true))
    assertEquals(InputOrigin.Elsewhere, InputOrigin.of(cached, "4", "h2", ownFiles = true), "another executor's block")
    assertEquals(InputOrigin.Disk, InputOrigin.of(Seq(TaskLocation("h1"), TaskLocation("h2")), "3", "h2", ownFiles = false))
    assertEquals(InputOrigin.Elsewhere, InputOrigin.of(Seq(TaskLocation("h1")), "3", "h2", ownFiles = false))
    assertEquals(InputOrigin.Elsewhere, InputOrigin.of(Nil, "3", "h2", ownFiles = false), "an object store's")
    assertEquals(InputOrigin.Disk, InputOrigin.of(Nil, "3", "h2", ownFiles = true))
    val file = java.nio.file.Files.write(java.nio.file.Files.createTempFile("input", ".txt"), "a\n".getBytes)
    assertTrue(PartitionSizes.ownFiles(sc.textFile(file.toString).firstParent.partitions.head), "a file of the machine")
    assertFalse(PartitionSizes.ownFiles(sc.parallelize(1 to 2).partitions.head), "no file")
  }

  @Test def stagesOfPythonAreKnownByTheirOperators(): Unit = {
    def python(operator: String): Boolean =
      RDDOperationScope.withScope(sc, operator, allowNesting = false, ignoreParent = true)(StageChain.of(sc.parallelize(1 to 2)).python)
    Seq("BatchEvalPython", "ArrowEvalPython", "MapInPandas", "FlatMapGroupsInPandas", "PythonMapInArrow", "ArrowAggregatePython")
      .foreach(operator => assertTrue(python(operator), operator))
    Seq("WholeStageCodegen (3)", "Exchange", "ArrowToColumnar", "map").foreach(operator => assertFalse(python(operator), operator))
  }

  @Test def theLineSaysWhatGoesWithTheWeight(): Unit = {
    def proportional(most: Double)(points: (Double, Double)*): Double = {
      val line = new StageTotals.Line
      points.foreach { case (weight, cpu) => line.add(weight, cpu) }
      line.proportional(most)
    }
    assertEquals(0.25, proportional(1)((0.5, 3.5), (1.0, 4.0), (1.5, 4.5)), 1e-9)
    assertEquals(0.0, proportional(1)((0.5, 3.0), (1.5, 1.0)), "the heavier costs less")
    assertEquals(1.0, proportional(1)((0.5, 0.0), (1.5, 4.0)), "at most all")
    assertEquals(2.0, proportional(4)((0.5, 0.0), (1.5, 4.0)), 1e-9, "of weights with a fixed part")
    assertEquals(1.0, proportional(4)((1.0, 2.0), (1.0, 3.0)), "nothing to tell it by")
    assertEquals(1.0, proportional(4)(), "no tasks")
  }

  @Test def theLineSaysWhatATaskCostsThatReadsNothing(): Unit = {
    def at(weight: Double)(points: (Double, Double)*): Double = {
      val line = new StageTotals.Line
      points.foreach { case (weight, time) => line.add(weight, time) }
      line.at(weight)
    }
    val weights = Seq(0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)
    assertEquals(0.02, at(0)(weights.map(w => w -> (0.02 + 0.3 * w)): _*), 1e-9)
    assertEquals(0.02, at(0.5)(weights.map(w => (0.5 + w / 2) -> (0.02 + 0.3 * w)): _*), 1e-9, "of weights with a fixed part")
    assertEquals(0.0, at(0)(weights.map(w => w -> (0.3 * w - 0.02)): _*), "no less than nothing")
    assertEquals(0.0, at(0)(weights.tail.map(w => w -> (0.02 + 0.3 * w)): _*), "too few tasks")
    assertEquals(0.0, at(0)(weights.map(w => (1 + w / 10) -> 0.3): _*), "too much alike")
  }

  /**
   * The stage's words on the page, once that shows so many tasks finished and none that
   * runs: the page is written after the driver has been told of a task's end.
   */
  private def eventually(tasks: Long)(find: => Option[IndexedSeq[Long]]): IndexedSeq[Long] = {
    val end = System.nanoTime() + 60L * 1000000000L
    var found = find
    while (!found.exists(words => words(2) >= tasks && words(7) == 0) && System.nanoTime() < end) {
      Thread.onSpinWait()
      found = find
    }
    found.getOrElse(fail[IndexedSeq[Long]]("the page does not show the stage"))
  }

  private def pageStage(id: Int): Option[IndexedSeq[Long]] = {
    val b = ByteBuffer.wrap(Files.readAllBytes(page)).order(java.nio.ByteOrder.LITTLE_ENDIAN)
    val generation = b.getLong(2 * 8)
    val slot = 16 + ((generation - 1) & 1).toInt * ProgressPage.SlotWords
    val n = b.getLong((slot + 1) * 8).toInt
    (0 until n).map(i => (0 until ProgressPage.StageWords).map(w => b.getLong((slot + ProgressPage.SlotHeader + ProgressPage.StageWords * i + w) * 8))).find(_(0) == id)
  }
}

object StageHistoryTest {
  val page: Path = Paths.get("target", s"test-page-${ProcessHandle.current().pid()}")
  @volatile var gate: java.util.concurrent.CountDownLatch = _
  val under = new java.util.concurrent.ConcurrentLinkedQueue[Boolean]()
  val read = new java.util.concurrent.atomic.AtomicInteger()

  /** Counts who reads it under the scheduler's lock, and throws what it likes where it is empty. */
  final class Touchy extends AccumulatorV2[Int, java.lang.Long] {
    private var sum = 0L
    private var empty = true
    private def look(): Unit = {
      val sc = SparkContext.getActive
      if (sc.exists(s => Thread.holdsLock(s.taskScheduler))) read.incrementAndGet()
    }
    override def isZero: Boolean = {
      look()
      empty
    }
    override def copy(): Touchy = {
      val c = new Touchy
      c.merge(this)
      c
    }
    override def reset(): Unit = {
      sum = 0
      empty = true
    }
    override def add(v: Int): Unit = {
      sum += v
      empty = false
    }
    override def merge(other: AccumulatorV2[Int, java.lang.Long]): Unit = other match {
      case t: Touchy =>
        sum += t.sum
        empty &= t.empty
    }
    override def value: java.lang.Long = {
      look()
      if (empty) throw new NoSuchElementException("nothing was added")
      sum
    }
    override def toString(): String = {
      look()
      "touchy"
    }
  }
}

/** The real executor plugin with the test's page. */
private[spark] class TestPlugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = null
  override def executorPlugin(): ExecutorPlugin = new PacerExecutorPlugin(Some(StageHistoryTest.page.toString))
}

/** The real scheduler in front of Spark's local back end. */
private[spark] class TestClusterManager extends ExternalClusterManager {
  override def canCreate(masterURL: String): Boolean = masterURL == "pacer-test"
  override def createTaskScheduler(sc: SparkContext, masterURL: String): TaskScheduler = {
    val context = DriverContexts.here.next(None)
    new StageBoundTaskScheduler(sc, PacerConf.parse("sparkpacer://127.0.0.1:1", sc.conf, context), context.clock)
  }
  override def createSchedulerBackend(sc: SparkContext, masterURL: String, scheduler: TaskScheduler): SchedulerBackend =
    new LocalSchedulerBackend(sc.conf, scheduler.asInstanceOf[TaskSchedulerImpl], 2)
  override def initialize(scheduler: TaskScheduler, backend: SchedulerBackend): Unit =
    scheduler.asInstanceOf[TaskSchedulerImpl].initialize(backend)
}
