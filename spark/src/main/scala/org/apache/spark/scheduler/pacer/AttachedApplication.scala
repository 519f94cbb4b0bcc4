package org.apache.spark.scheduler.pacer

import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.util.control.NonFatal

import org.apache.spark.SPARK_VERSION
import org.apache.spark.pacer._
import org.apache.spark.pacer.Wire._
import org.apache.spark.resource.{ResourceProfile, TaskResourceProfile}
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorAdded, SparkListenerExecutorRemoved}
import org.apache.spark.util.ThreadUtils

/**
 * An application whose executors Spark's own back end has: its registration says by which name its
 * cluster manager knows it, and the planner says how many executors it asks that for. When no planner
 * takes it, Spark schedules as it does without Pacer.
 *
 * Executors are asked for on a thread of their own: the manager's answer may take as long as an RPC.
 */
private[scheduler] final class AttachedApplication(scheduler: StageBoundScheduling, attachment: Attachment)
  extends PlannedApplication(scheduler) {

  import AttachedApplication._

  private val conf = sc.conf
  private val containers = new ConcurrentHashMap[String, String]() // By executor, as YARN names them.
  private val asks = ThreadUtils.newDaemonSingleThreadScheduledExecutor("pacer-executors")
  @volatile private var wanted = Wanted(0, Nil)
  @volatile private var profiles = Set.empty[Int] // Those of which stages want executors, besides the default one.
  // What was asked for last, when, and whether the manager has taken it; the thread's.
  private var asked = Option.empty[(Wanted, Set[Int])]
  private var askedAt = 0L
  @volatile private var taken = false

  override def start(): Unit = {
    sc.addSparkListener(new SparkListener {
      override def onExecutorAdded(added: SparkListenerExecutorAdded): Unit =
        added.executorInfo.attributes.get(ContainerAttribute).foreach(containers.put(added.executorId, _))
      override def onExecutorRemoved(removed: SparkListenerExecutorRemoved): Unit = {
        containers.remove(removed.executorId)
        attachment.machines.remove(removed.executorId)
      }
    })
    attachment.placed = scheduler.tellAgain
    super.start()
  }

  override protected def connect(patience: Patience, changed: () => Unit): NatsTransport = {
    attachment.changed = changed
    attachment.take()
  }

  override protected def accepted(reply: Registered): Unit =
    asks.scheduleWithFixedDelay(() => ask(System.nanoTime()), 0, AskMillis, TimeUnit.MILLISECONDS)

  /** A user who would rather be refused than late, or than wait, is. */
  override protected def unaccepted(why: Throwable): Unit = why match {
    case r: RefusedException if isAskedFor(r.fault.kind) => throw PacerConf.refuse(r.getMessage)
    case other =>
      scheduler.off = true
      attachment.leave(PlannedApplication.untaken(settings, other).getOrElse(other.toString))
  }

  private def isAskedFor(refusal: Int): Boolean =
    refusal == KindInfeasible && settings.requireFeasible || refusal == KindConflict && settings.noWait

  /** What the cluster manager's own rule says, and one that a stage can have. */
  override protected def isReady: Boolean = super.isReady && scheduler.present > 0

  override protected def launch: Launch = Launch(
    driverUrl = driverUrl,
    sparkHome = "", javaHome = "", sparkVersion = SPARK_VERSION, cores = cores, heapBytes = heap, overheadBytes = overhead,
    offHeapBytes = PacerConf.offHeap(conf), offHeapFixed = true, offHeapFloor = 0, offHeapWeight = 1, offHeapPage = 0,
    javaOptions = Nil, classPath = Nil, env = Map.empty, taskCpus = conf.getDouble("spark.task.cpus", 1),
    attach = Some(Attach(attachment.manager, scheduler.applicationId(), attachment.least, attachment.most,
      attachment.secret)))

  /** As many as YARN and Kubernetes give. */
  private def cores: Int = conf.getInt("spark.executor.cores", 1)
  private def heap: Long = sc.executorMemory.toLong << 20

  /** Kubernetes gives more to executors of Python, YARN does not. */
  private def overhead: Long =
    if (attachment.manager == "yarn") PacerConf.overhead(conf, heap, python = false) else PacerConf.overhead(conf, heap)

  override def up(executor: String, host: String): ExecutorUp = ExecutorUp(executor, host, cores,
    heap + overhead + PacerConf.offHeap(conf), Option(containers.get(executor)).orElse(pod(executor)).getOrElse(""),
    Option(attachment.machines.get(executor)).getOrElse(""))

  /** As Spark names pods of executors. */
  private def pod(executor: String): Option[String] =
    conf.getOption("spark.kubernetes.executor.podNamePrefix").map(prefix => s"$prefix-exec-$executor")

  /** Should it be that the cluster manager was started anew, it is asked again. */
  override def down(executor: String): Unit = taken = false

  override private[pacer] def follow(directive: Directive): Unit = {
    if (directive.wanted > 0 && settings.paced) wanted = Wanted(directive.wanted, directive.wantedOn)
    super.follow(directive)
  }

  override def wants(profile: ResourceProfile): Unit = profile match {
    case _: TaskResourceProfile => () // Its tasks run on the executors that there are.
    case other => profiles += other.id
  }

  /**
   * Asks the cluster manager for what the planner wants, again when executors were lost and after a while: an
   * ApplicationMaster that was started anew does not know of it.
   */
  private[pacer] def ask(now: Long): Unit = {
    val (w, others) = (wanted, profiles)
    val since = now - askedAt
    if (w.executors > 0 && (!asked.contains(w -> others) || since >= (if (taken) AgainNanos else RetryNanos))) try {
      asked = Some(w -> others)
      askedAt = now
      taken = false
      val default = ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID
      val tasks = w.executors * cores
      val (local, hints) = if (w.hosts.isEmpty) (Map(default -> 0), Map.empty[Int, Map[String, Int]])
        else (Map(default -> tasks), Map(default -> w.hosts.map(_ -> math.max(1, tasks / w.hosts.size)).toMap))
      taken = executors.requestTotalExecutors((others + default).map(_ -> w.executors).toMap, local, hints)
    } catch {
      case NonFatal(e) => logWarning(s"pacer: the cluster manager does not answer: ${e.getMessage}")
    }
  }

  override def stop(failed: Boolean): Unit = {
    asks.shutdownNow()
    super.stop(failed)
  }
}

private[scheduler] object AttachedApplication {
  private final case class Wanted(executors: Int, hosts: Seq[String])

  /** Where an executor on YARN says which container it is. */
  private val ContainerAttribute = "CONTAINER_ID"

  private val AskMillis = 500L

  /** How often what was asked for is asked for again, and what nobody has taken. */
  private val AgainNanos = 30L * 1000 * 1000 * 1000
  private val RetryNanos = 2L * 1000 * 1000 * 1000
}
