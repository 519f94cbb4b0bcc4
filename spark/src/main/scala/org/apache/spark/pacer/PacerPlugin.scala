package org.apache.spark.pacer

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}
import java.util.{Map => JavaMap}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.LockSupport

import scala.util.control.NonFatal

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}
import org.apache.spark.executor.TaskMetrics
import org.apache.spark.internal.Logging
import org.apache.spark.memory.pacer.MemoryPools
import org.apache.spark.pacer.TaskLedger.{Memory, NoMemory, NoUsage, Task, Usage}
import org.apache.spark.scheduler.pacer.AttachedDriver

/**
 * Keeps the progress page of an executor, where the node has given it one
 * (PACER_PROGRESS_PAGE), and its off-heap memory as the node wants it
 * (PACER_WISH_PAGE), and tells the driver whose user it has. An executor of an attached
 * application makes its page itself, in its working directory, where its node looks for it.
 * The driver side attaches an application that names a planner; both do nothing elsewhere.
 */
final class PacerPlugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = new AttachedDriver
  override def executorPlugin(): ExecutorPlugin =
    new PacerExecutorPlugin(sys.env.get(ProgressPage.PathVariable), sys.env.get(MemoryWish.PathVariable))
}

/**
 * Follows each task from its own thread and publishes the ledger every 100 ms,
 * and at once (at most every 10 ms) when a task starts or ends. Nothing that goes
 * wrong here reaches a task: the page then grows stale and the node sees it.
 *
 * Counters of a running task: records read from its metrics, with the shuffle
 * readers' temporary ones merged first (docs/spark.md, S16), CPU time of its thread. What
 * Spark does not count while a task runs (S17) shows when it ends.
 */
private[spark] final class PacerExecutorPlugin(pagePath: Option[String], wishPath: Option[String] = None,
    directory: Path = Paths.get("")) extends ExecutorPlugin with Logging {
  import PacerExecutorPlugin._

  private val ledger = new TaskLedger
  private val probes = new ConcurrentHashMap[Long, Probe]()
  private val threads = ManagementFactory.getThreadMXBean
  private lazy val collections = new CollectionWatch
  @volatile private var changed = false
  @volatile private var publisher: Thread = _
  @volatile private var pools: MemoryPools = _
  @volatile private var mover: MemoryPools.Mover = _
  private var moveTried = false

  override def init(context: PluginContext, extraConf: JavaMap[String, String]): Unit = try {
    pagePath match {
      case Some(path) =>
        val page = ProgressPage.open(Paths.get(path))
        publish(() => page)
        Option(SparkEnv.get).foreach(ExecutorUser.tell)
      case None if context.conf().getBoolean(PacerConf.Attached, false) =>
        publish(() => proven(context))
      case None => ()
    }
  } catch {
    case NonFatal(e) => logWarning(s"pacer: no progress page: ${e.getMessage}")
  }

  /**
   * The page of an attached executor. It tells the driver on which machine it is, for a pod's address is its own, and is
   * told by what it shows its node whose it is; text is of a class that any driver has. It asks until it is told.
   */
  private def proven(context: PluginContext): ProgressPage = {
    val machine = Files.readString(BootId).trim
    var key = ask(context, machine)
    while (key.isEmpty && publisher != null) {
      LockSupport.parkNanos(AgainNanos)
      key = ask(context, machine)
    }
    ProgressPage.make(directory, context.executorID(), AttachedProof.ofProcess(key.get))
  }

  private def ask(context: PluginContext, machine: String): Option[String] = try {
    Option(context.ask(context.executorID() -> machine)).map(_.toString)
  } catch {
    case NonFatal(e) =>
      logWarning(s"pacer: the driver does not say what this executor is to show: ${e.getMessage}")
      None
  }

  private def publish(open: () => ProgressPage): Unit = {
    publisher = new Thread(() => try publishLoop(open()) catch {
      case e: Throwable => if (publisher != null) logWarning(s"pacer: no progress page: $e") // The executor runs on without one.
    }, "pacer-progress")
    publisher.setDaemon(true)
    publisher.start()
    HeartbeatWatch.start(() => publisher != null)
  }

  /**
   * Once the memory manager is there: plugins may be initialised before it. A fault
   * leaves the pools as they are.
   */
  private def movePools(): Unit = {
    val env = SparkEnv.get
    if (!moveTried && wishPath.isDefined && env != null && env.blockManager != null && env.memoryManager != null) {
      moveTried = true
      try {
        val found = MemoryPools.of(env)
        pools = found
        if (found.fixed.isEmpty) {
          val m = new MemoryPools.Mover(found, MemoryWish.open(Paths.get(wishPath.get)))
          m.start()
          mover = m
        } else {
          logInfo(s"pacer: off-heap memory is fixed: ${found.fixed}")
        }
      } catch {
        case NonFatal(e) => logWarning("pacer: off-heap memory is fixed", e)
      }
    }
  }

  private def memory: Memory = {
    movePools()
    val p = pools
    val w = collections
    if (p == null) NoMemory.copy(used = w.used, collecting = w.nanos)
    else Memory(if (mover == null) 2 else 1, p.state, Runtime.getRuntime.totalMemory(), w.used, w.nanos)
  }

  override def onTaskStart(): Unit = if (publisher != null) {
    try {
      val context = TaskContext.get()
      val task = new Task(context.taskAttemptId(), context.stageId(), context.stageAttemptNumber(),
        context.partitionId(), weightOf(context), System.nanoTime(), heaviestOf(context))
      val probe = new Probe(context.taskMetrics(), Thread.currentThread().getId, threads.getCurrentThreadCpuTime)
      probes.put(task.id, probe)
      ledger.started(task)
      // The context is gone in onTaskSucceeded (docs/spark.md, S15).
      context.addTaskCompletionListener[Unit](c => ended(c, task, probe))
      poke()
    } catch {
      case NonFatal(e) => logWarning("pacer: a task is not followed", e)
    }
  }

  override def shutdown(): Unit = {
    val p = publisher
    publisher = null
    if (p != null) p.interrupt()
    val m = mover
    if (m != null) m.stop()
  }

  /** Runs on the task's thread after its body, whatever became of it. */
  private def ended(context: TaskContext, task: Task, probe: Probe): Unit = {
    try {
      probes.remove(task.id)
      val used = usage(probe.metrics, threads.getCurrentThreadCpuTime - probe.cpuAtStart)
      ledger.ended(task, used, !context.isFailed() && !context.isInterrupted(), System.nanoTime())
      poke()
    } catch {
      case NonFatal(e) => logWarning("pacer: the end of a task is not counted", e)
    }
  }

  private def probe(task: Task): Usage = {
    val p = probes.get(task.id)
    if (p == null) {
      NoUsage
    } else {
      try {
        // -1 when the thread is gone.
        usage(p.metrics, math.max(0L, threads.getThreadCpuTime(p.thread) - p.cpuAtStart))
      } catch {
        case NonFatal(_) => NoUsage
      }
    }
  }

  private def usage(metrics: TaskMetrics, cpu: Long): Usage = {
    metrics.synchronized(metrics.mergeShuffleReadMetrics())
    Usage(metrics.inputMetrics.recordsRead + metrics.shuffleReadMetrics.recordsRead, cpu, metrics.memoryBytesSpilled)
  }

  private def poke(): Unit = {
    changed = true
    LockSupport.unpark(publisher)
  }

  private def publishLoop(page: ProgressPage): Unit = {
    var complained = false
    while (publisher != null) {
      val at = System.nanoTime()
      changed = false
      try {
        ledger.publish(page, probe, at, memory)
      } catch {
        case e: Throwable => // Memory may be there again later, and nobody else publishes any.
          if (!complained) logWarning("pacer: progress is not published", e)
          complained = true
      }
      LockSupport.parkNanos(PeriodNanos)
      var left = LeastNanos
      while (changed && left > 0) {
        left = at + LeastNanos - System.nanoTime()
        if (left > 0) LockSupport.parkNanos(left)
      }
    }
  }
}

private[spark] object PacerExecutorPlugin {
  /** What names the machine, in its containers too. */
  private val BootId = Paths.get("/proc/sys/kernel/random/boot_id")
  private val PeriodNanos = 100L * 1000 * 1000
  private val LeastNanos = 10L * 1000 * 1000
  private val AgainNanos = 1000L * 1000 * 1000

  /** The local property in which the driver gives a task its weight, in millionths. */
  val WeightProperty = "spark.pacer.weight"

  /** The same for the heaviest task of its stage that still waits when it is launched, at least 1. */
  val HeaviestProperty = "spark.pacer.heaviest"
  val MeanWeight = 1000000L

  private final class Probe(val metrics: TaskMetrics, val thread: Long, val cpuAtStart: Long)

  private def weightOf(context: TaskContext): Long =
    Option(context.getLocalProperty(WeightProperty)).flatMap(_.toLongOption).filter(_ >= 0).getOrElse(MeanWeight)

  private def heaviestOf(context: TaskContext): Long =
    Option(context.getLocalProperty(HeaviestProperty)).flatMap(_.toLongOption).filter(_ >= 0).getOrElse(0L)
}
