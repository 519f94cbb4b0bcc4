package org.apache.spark.scheduler.pacer

import java.lang.reflect.Proxy
import java.nio.file.{Files, Paths}
import java.util.Properties
import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.{Test, Timeout}

import org.apache.spark.{HashPartitioner, JobArtifactSet, ShuffleDependency, SparkConf, SparkContext, TaskContext, TaskEndReason, TaskKilled, TaskState}
import org.apache.spark.pacer.{DriverContexts, PacerConf}
import org.apache.spark.pacer.Wire.{Directive, DirectiveExecutor, DriverEvent, StageDone, StageKey, StageReady, StageShares}
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.scheduler.{DAGScheduler, DirectTaskResult, ExecutorKilled, MapStatus, ResultStage, SchedulerBackend, Task, TaskDescription, TaskInfo}
import org.apache.spark.scheduler.{TaskSet, TaskSetManager, WorkerOffer}
import org.apache.spark.status.api.v1.ThreadStackTrace
import org.apache.spark.storage.BlockManagerId
import org.apache.spark.util.{AccumulatorV2, CallSite}

/** The scheduler under offers that are made by hand; tasks that start run until the test ends them. */
class OffersTest {
  import OffersTest._

  @Test @Timeout(60) def aCancelledStageLeavesItsFreeSlotsToTheNext(): Unit = withScheduler() { w =>
    w.gate("1" -> "a", "2" -> "b")
    w.submit(stage = 0, tasks = 2)
    assertEquals(Seq("0" -> "1", "0" -> "2"), w.offer(cores = 1, "1", "2"))
    w.submit(stage = 1, tasks = 2)
    assertEquals(Nil, w.offer(cores = 1, "1", "2"), "executors have one stage at a time")
    w.scheduler.killAllTaskAttempts(0, interruptThread = true, "its job was cancelled")
    assertEquals(2, w.killed.size)
    // Its tasks do not listen.
    assertEquals(Seq("1" -> "1", "1" -> "2"), w.offer(cores = 1, "1", "2"))
  }

  @Test @Timeout(60) def aStageThatComesAfterACancelledOneIsToldWithItsExecutors(): Unit = withScheduler() { w =>
    w.gate("1" -> "a")
    w.submit(stage = 0, tasks = 1)
    assertEquals(Seq("0" -> "1"), w.offer(cores = 1, "1"))
    w.scheduler.killAllTaskAttempts(0, interruptThread = true, "its job was cancelled")
    w.submit(stage = 1, tasks = 1)
    assertEquals(0, w.scheduler.bindings.waited)
    assertEquals(Seq("1" -> "1"), w.offer(cores = 1, "1"))
  }

  @Test @Timeout(60) def barrierTasksRunOnceAllHaveAPlace(): Unit = withScheduler() { w =>
    w.gate("1" -> "a", "2" -> "a")
    w.submit(stage = 0, tasks = 2, barrier = true)
    // Executor 2 is not the stage's: one task finds a place, and is taken back.
    assertEquals(Nil, w.offer(cores = 1, "1", "2"))
    assertEquals(Seq(0), w.watch(System.nanoTime() + StageBindings.StallNanos), "a round that was taken back is no work")
    assertEquals(Seq("0" -> "1", "0" -> "2"), w.offer(cores = 1, "1", "2"))
  }

  @Test @Timeout(60) def barrierTasksAreWork(): Unit = withScheduler() { w =>
    w.gate("1" -> "a")
    w.submit(stage = 0, tasks = 2, barrier = true)
    assertEquals(Seq("0" -> "1", "0" -> "1"), w.offer(cores = 2, "1"))
    w.submit(stage = 1, tasks = 1)
    w.watch(System.nanoTime())
    assertEquals(Nil, w.watch(System.nanoTime() + 2 * StageBindings.StallNanos), "one that waits beside them is not stuck")
  }

  @Test @Timeout(60) def barrierTasksAreNotStartedAnewOneByOne(): Unit = withScheduler() { w =>
    w.gate("1" -> "a", "2" -> "a")
    w.submit(stage = 0, tasks = 2, barrier = true)
    w.submit(stage = 1, tasks = 1)
    assertEquals(Seq("0" -> "1", "0" -> "1", "1" -> "2"), w.offer(cores = 2, "1", "2"))
    w.scheduler.restart(lost = "9", since = 0)
    assertEquals(Seq("2"), w.killed)
  }

  @Test @Timeout(60) def aStageThatWaitsForExecutorsCanBeCancelled(): Unit = withScheduler() { w =>
    var there = false
    w.scheduler.executorsAreThere = () => there
    w.gate("1" -> "a")
    w.submit(stage = 0, tasks = 1)
    w.submit(stage = 1, tasks = 1)
    assertEquals(Nil, w.offer(cores = 1, "1"))
    assertEquals(Nil, w.told, "its deadline does not count yet")
    w.scheduler.killAllTaskAttempts(0, interruptThread = true, "its job was cancelled")
    there = true
    assertEquals(Seq("1" -> "1"), w.offer(cores = 1, "1"))
    assertEquals(Seq(1), w.told)
  }

  @Test @Timeout(60) def executorsThatComeFreeGoInThePoolsOrder(): Unit = withScheduler("spark.scheduler.mode" -> "FAIR") { w =>
    w.gate("1" -> "a", "2" -> "a")
    w.submit(stage = 0, tasks = 1, pool = "x")
    w.submit(stage = 1, tasks = 1, pool = "x")
    assertEquals(Seq("0" -> "1", "1" -> "2"), w.offer(cores = 1, "1", "2"))
    w.submit(stage = 2, tasks = 1, pool = "x")
    w.submit(stage = 3, tasks = 1, pool = "y")
    w.scheduler.killAllTaskAttempts(0, interruptThread = true, "its job was cancelled")
    w.end(stage = 0, executor = "1")
    assertEquals(Seq("3" -> "1"), w.offer(cores = 1, "1"), "pool x has a task that runs, pool y has none")
  }

  @Test @Timeout(60) def aStageRunsOnSeveralExecutorsOfANode(): Unit = withScheduler() { w =>
    w.gate(perStage = 2, "1" -> "a", "2" -> "a", "3" -> "b", "4" -> "b", "5" -> "b")
    w.submit(stage = 0, tasks = 6)
    w.submit(stage = 1, tasks = 2)
    assertEquals(Seq("0" -> "1", "0" -> "2", "0" -> "3", "0" -> "4", "1" -> "5"), w.offer(cores = 1, "1", "2", "3", "4", "5"))
    assertEquals(80, w.scheduler.boundable(_ => 20), "a barrier stage can have four of the five")
  }

  @Test @Timeout(60) def aStageThatWaitsGetsTheFirstExecutorOfSeveralThatIsIdle(): Unit = withScheduler() { w =>
    w.gate(perStage = 3, "1" -> "a", "2" -> "a", "3" -> "a")
    w.submit(stage = 0, tasks = 9)
    assertEquals(Seq("0" -> "1", "0" -> "2", "0" -> "3"), w.offer(cores = 1, "1", "2", "3"))
    w.submit(stage = 1, tasks = 1)
    assertEquals(Nil, w.offer(cores = 0, "1", "2", "3"))
    w.end(stage = 0, executor = "2")
    assertEquals(Seq("1" -> "2"), w.offer(cores = 1, "2"))
    w.end(stage = 0, executor = "1")
    assertEquals(Seq("0" -> "1"), w.offer(cores = 1, "1"), "who waits has one")
    w.finish(stage = 1)
    assertEquals(Seq("0" -> "2"), w.offer(cores = 1, "2"), "it comes back to the stage that runs")
  }

  @Test @Timeout(60) def ungatedStagesShareSeveralExecutorsOfANode(): Unit = withScheduler() { w =>
    w.list(gated = false, perStage = 2, "1" -> "a", "2" -> "a", "3" -> "a")
    w.submit(stage = 0, tasks = 1)
    w.submit(stage = 1, tasks = 3)
    assertEquals(Seq("1", "2"), w.offer(cores = 1, "1", "2", "3").map(_._2).sorted)
  }

  @Test @Timeout(60) def aBarrierStageWaitsForExecutorsAndItsSchedulerDoesNot(): Unit =
    withScheduler("spark.scheduler.barrier.maxConcurrentTasksCheck.interval" -> "2s",
      "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures" -> "5") { w =>
      var there = false
      w.scheduler.executorsAreThere = () => there
      w.gate("1" -> "a", "2" -> "a", "3" -> "b")
      w.slots = Map("1" -> 4, "2" -> 4, "3" -> 1)
      w.submit(stage = 0, tasks = 5, barrier = true)
      w.submit(stage = 1, tasks = 6, barrier = true)
      assertEquals(Nil, w.offer(cores = 4, "1", "3"))
      there = true
      assertEquals(5, w.offer(cores = 4, "1", "3").size, "what one stage can have: 4 slots of the one node, 1 of the other")
      assertEquals(Seq(0), w.told)
      val now = System.nanoTime()
      w.begin(now + 9000000000L)
      assertEquals(Nil, w.failed, "more executors may come")
      w.begin(now + 11000000000L)
      assertEquals(1, w.failed.size)
      assertTrue(w.failed.head.contains("SPARK-24819"), w.failed.head)
      w.begin(now + 12000000000L)
      assertEquals(1, w.failed.size)
      assertEquals(Seq(0), w.told)
    }

  /** What it counts is the figure lock.visits_per_task, which the bench reads from its file. */
  @Test @Timeout(120) def sizesAreLookedAtBeforeTheLockIsTaken(): Unit = withScheduler() { w =>
    val side = 2000
    val (looks, locked) = w.reads(stage = 0, maps = side, reducers = side)
    w.gate("1" -> "a")
    w.submit(stage = 0, tasks = side)
    assertEquals(side, w.offer(cores = side, "1").size)
    assertTrue(w.weighted(0))
    assertTrue(looks.get >= side.toLong * side, s"${looks.get} looks")
    val perTask = locked.get.toDouble / side
    Files.writeString(Files.createDirectories(Paths.get("target", "figures")).resolve("lock.visits_per_task"), perTask.toString)
    assertTrue(perTask <= 5, s"$perTask looks of each task while others wait for the scheduler")
  }

  @Test @Timeout(60) def whatALostExecutorRanComesBack(): Unit = withScheduler() { w =>
    w.gate("1" -> "a", "2" -> "b")
    w.submit(stage = 0, tasks = 4)
    assertEquals(Seq("0" -> "1", "0" -> "1", "0" -> "2", "0" -> "2"), w.offer(cores = 2, "1", "2"))
    w.scheduler.executorLost("1", ExecutorKilled)
    assertEquals(Seq("0" -> "2", "0" -> "2"), w.offer(cores = 4, "2"))
  }

  @Test @Timeout(60) def aSlowLastTaskIsCopiedAndTheStageEndsWithTheCopy(): Unit = withScheduler("spark.speculation" -> "true") { w =>
    w.gate("1" -> "a", "2" -> "b")
    w.submit(stage = 0, tasks = 4)
    assertEquals(Seq("0" -> "1", "0" -> "1", "0" -> "2", "0" -> "2"), w.offer(cores = 2, "1", "2"))
    Seq("1", "2").foreach(w.succeed(stage = 0, _))
    w.slow(stage = 0, after = 3600000)
    assertEquals(Nil, w.offer(cores = 1, "1", "2"), "two tasks run")
    w.succeed(stage = 0, "2")
    w.slow(stage = 0, after = 3600000)
    assertEquals(Nil, w.offer(cores = 1, "1", "2"), "its stage is in time")
    w.late(stage = 0)
    w.slow(stage = 0, after = 1000)
    assertEquals(Nil, w.offer(cores = 1, "1", "2"), "it is as fast as any")
    w.slow(stage = 0, after = 3600000)
    assertEquals(Nil, w.offer(cores = 1, "1"), "it runs there")
    assertEquals(Seq("0" -> "2"), w.offer(cores = 1, "2"))
    assertEquals(Nil, w.offer(cores = 1, "1", "2"))
    w.submit(stage = 1, tasks = 2)
    assertEquals(Nil, w.ended)
    w.succeed(stage = 0, "2")
    assertEquals(Seq("1"), w.killed, "the slow attempt")
    assertEquals(Seq(0 -> 4), w.ended, "it has ended though that does not listen")
    assertEquals(Seq("1" -> "1", "1" -> "2"), w.offer(cores = 1, "1", "2"), "its zombie leaves the other slots")
    w.end(stage = 0, executor = "1")
    assertEquals(Seq(0 -> 4), w.ended, "once")
  }

  @Test @Timeout(60) def whatOneAttemptMayDoOnlyOnceIsNotCopied(): Unit = withScheduler() { w =>
    w.gate("1" -> "a", "2" -> "b")
    w.submit(stage = 0, tasks = 4)
    assertEquals(4, w.offer(cores = 2, "1", "2").size)
    Seq("1", "2", "2").foreach(w.succeed(stage = 0, _))
    w.late(stage = 0)
    w.slow(stage = 0, after = 3600000)
    assertEquals(Nil, w.offer(cores = 1, "1", "2"))
  }

  private def withScheduler(conf: (String, String)*)(body: World => Unit): Unit = {
    val sc = new SparkContext(new SparkConf(false).setMaster("pacer-test").setAppName("t").set("spark.ui.enabled", "false").setAll(conf))
    try body(new World(sc)) finally sc.stop()
  }
}

object OffersTest {

  private final class World(sc: SparkContext) {
    val killed = mutable.ArrayBuffer[String]() // Executors of tasks that were killed.
    val failed = mutable.ArrayBuffer[String]() // Why stages failed.
    var slots: String => Int = _ => 100
    private val context = DriverContexts.here.next(None)
    val scheduler = new StageBoundTaskScheduler(sc, PacerConf.parse("sparkpacer://127.0.0.1:1", sc.conf, context), context.clock)
    private val running = mutable.ArrayBuffer[TaskDescription]()
    private val events = mutable.ArrayBuffer[DriverEvent]()
    private var directive: Directive = _
    scheduler.tell = events += _

    new DAGScheduler(sc, scheduler) {
      override def taskSetFailed(taskSet: TaskSet, reason: String, exception: Option[Throwable]): Unit = failed += reason
      override def taskStarted(task: Task[_], info: TaskInfo): Unit = ()
      override def taskEnded(task: Task[_], reason: TaskEndReason, result: Any, updates: Seq[AccumulatorV2[_, _]],
          peaks: Array[Long], info: TaskInfo): Unit = ()
    }
    scheduler.initialize(new SchedulerBackend {
      override def start(): Unit = ()
      override def stop(): Unit = ()
      override def reviveOffers(): Unit = ()
      override def defaultParallelism(): Int = 1
      override def maxNumConcurrentTasks(rp: ResourceProfile): Int = scheduler.boundable(slots)
      override def getTaskThreadDump(task: Long, executor: String): Option[ThreadStackTrace] = None
      override def killTask(task: Long, executor: String, interrupt: Boolean, reason: String): Unit = killed += executor
    })

    /** Has stages own executors, each on a node. */
    def gate(executors: (String, String)*): Unit = list(gated = true, perStage = 1, executors: _*)

    /** Has them own so many executors of each node. */
    def gate(perStage: Int, executors: (String, String)*): Unit = list(gated = true, perStage, executors: _*)

    def list(gated: Boolean, perStage: Int, executors: (String, String)*): Unit = {
      directive = Directive(1, gated, executors.map { case (id, node) => DirectiveExecutor(id, node, 1.0, perStage = perStage) }, "")
      scheduler.follow(directive)
      executors.foreach { case (id, node) => scheduler.executorAdded(id, node) }
    }

    def submit(stage: Int, tasks: Int, barrier: Boolean = false, pool: String = "default"): Unit = {
      val properties = new Properties
      properties.setProperty("spark.scheduler.pool", pool)
      scheduler.submitTasks(new TaskSet(Array.tabulate[Task[_]](tasks)(new Idle(stage, _, tasks, barrier)), stage, 0, stage, properties,
        ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID, None))
    }

    /** Offers cores of executors, and returns the tasks that start, by stage and executor. */
    def offer(cores: Int, executors: String*): Seq[(String, String)] = {
      val offers = executors.map(id => WorkerOffer(id, "host", cores, Some(s"host:$id"))).toIndexedSeq
      val started = scheduler.resourceOffers(offers).flatten
      running ++= started
      started.map(t => scheduler.taskIdToTaskSetManager.get(t.taskId).taskSet.stageId.toString -> t.executorId).sorted
    }

    /** Ends a task of a stage on an executor, as one that was killed. */
    def end(stage: Int, executor: String): Unit = {
      val task = running.find(t => t.executorId == executor && scheduler.taskIdToTaskSetManager.get(t.taskId).taskSet.stageId == stage).get
      running -= task
      scheduler.handleFailedTask(scheduler.taskIdToTaskSetManager.get(task.taskId), task.taskId, TaskState.KILLED, TaskKilled("for the test"))
    }

    /** Has a task of a stage succeed on an executor, the one that was started there last. */
    def succeed(stage: Int, executor: String): Unit = {
      val task = running.findLast(t => t.executorId == executor && manager(t).taskSet.stageId == stage).get
      running -= task
      val result = new DirectTaskResult[Int](sc.env.serializer.newInstance().serialize(0), Nil, Array.empty[Long])
      scheduler.handleSuccessfulTask(manager(task), task.taskId, result)
    }

    /** Looks at a stage's last task as if so many milliseconds had passed. */
    def slow(stage: Int, after: Long): Unit = running.map(manager).find(_.taskSet.stageId == stage).foreach {
      case m: StageBoundTaskSet => scheduler.synchronized(m.copySlow(System.currentTimeMillis() + after))
      case m => throw new AssertionError(m.name)
    }

    /** Has the planner say that a stage is late for what runs of it. */
    def late(stage: Int): Unit = {
      directive = directive.copy(epoch = directive.epoch + 1, shares = List(StageShares(StageKey(stage, 0), directive.epoch, Map.empty)))
      scheduler.follow(directive)
    }

    private def manager(t: TaskDescription): TaskSetManager = scheduler.taskIdToTaskSetManager.get(t.taskId)

    /** The stages that the planner was told to have ended, with their tasks. */
    def ended: Seq[(Int, Int)] = events.collect { case s: StageDone => s.key.stage -> s.tasks }.toSeq

    /** Ends a stage with what it runs. */
    def finish(stage: Int): Unit = {
      scheduler.killAllTaskAttempts(stage, interruptThread = true, "its job was cancelled")
      val its = running.filter(t => scheduler.taskIdToTaskSetManager.get(t.taskId).taskSet.stageId == stage)
      its.foreach(t => end(stage, t.executorId))
    }

    /**
     * Has a stage read a shuffle; counts looks at sizes of its blocks, and those under the scheduler's lock.
     * Block sizes are of an interface whose classes are Spark's own, hence the proxies.
     */
    def reads(stage: Int, maps: Int, reducers: Int): (AtomicLong, AtomicLong) = {
      val looks, locked = new AtomicLong
      val read = sc.parallelize(1 to maps, maps).map(x => x -> x).partitionBy(new HashPartitioner(reducers))
      val shuffle = read.dependencies.head.asInstanceOf[ShuffleDependency[_, _, _]].shuffleId
      val tracker = scheduler.mapOutputTracker
      tracker.registerShuffle(shuffle, maps, reducers)
      for (map <- 0 until maps) {
        val status = Proxy.newProxyInstance(classOf[MapStatus].getClassLoader, Array(classOf[MapStatus]), (_, method, args) =>
          method.getName match {
            case "getSizeForBlock" =>
              looks.incrementAndGet()
              if (Thread.holdsLock(scheduler)) locked.incrementAndGet()
              Long.box(1024L * args(0).asInstanceOf[Int])
            case "mapId" => Long.box(map)
            case "location" => BlockManagerId("1", "host", 1, None)
            case other => throw new UnsupportedOperationException(other)
          })
        tracker.registerMapOutput(shuffle, map, status.asInstanceOf[MapStatus])
      }
      scheduler.dagScheduler.stageIdToStage(stage) = new ResultStage(stage, read, (_: TaskContext, _: Iterator[_]) => (),
        (0 until reducers).toArray, Nil, 0, CallSite("read at a.scala", ""), ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID)
      (looks, locked)
    }

    /** Whether tasks of a stage that has been told have weights. */
    def weighted(stage: Int): Boolean = events.exists {
      case s: StageReady => s.key.stage == stage && s.weighted
      case _ => false
    }

    /** The stages that the planner was told of. */
    def told: Seq[Int] = events.collect { case s: StageReady => s.key.stage }.toSeq

    /** Begins the stages that have waited, at that time. */
    def begin(now: Long): Unit = scheduler.synchronized(scheduler.beginHeld(now))

    def watch(now: Long): Seq[Int] = scheduler.synchronized(scheduler.bindings.watch(now).map(_.stage))
  }

  private final class Idle(stage: Int, partition: Int, tasks: Int, barrier: Boolean)
    extends Task[Int](stage, 0, partition, tasks, JobArtifactSet.emptyJobArtifactSet, isBarrier = barrier) {
    override def runTask(context: TaskContext): Int = 0
  }
}
