package org.apache.spark.scheduler.pacer

import java.io.{File, IOException}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference

import scala.util.control.NonFatal

import org.apache.spark.{SPARK_VERSION, SparkContext}
import org.apache.spark.internal.config.{DRIVER_HOST_ADDRESS, DRIVER_PORT}
import org.apache.spark.pacer._
import org.apache.spark.pacer.Wire._
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.rpc.RpcEndpointAddress
import org.apache.spark.scheduler.{ExecutorDecommissionInfo, ExecutorProcessLost}
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend
import org.apache.spark.util.{ThreadUtils, Utils}

/**
 * Asks the planner for executors and waits for them; everything else is Spark's
 * coarse-grained back end.
 *
 * When the planner says that no executor will come any more, that the application's user
 * wants it to end, or that it will not have it, all jobs are aborted and the context stops,
 * as a standalone master's removal ends an application.
 *
 * An application that is queued waits before its first stage, for as long as it takes; its
 * place is printed when it changes and each minute.
 *
 * Nothing here holds this object's own lock, which is Spark's: see the lock order in the
 * package's documentation.
 *
 * start registers and prints the verdict, one line on stderr; it fails with one
 * line when no planner answers or it refuses. stop tells the planner that the
 * context has ended and waits for its acknowledgement, 2 s at most; the exit of the
 * driver is told by its last word (LastWord).
 */
private[scheduler] final class PacerSchedulerBackend(
    scheduler: StageBoundTaskScheduler,
    sc: SparkContext)
  extends CoarseGrainedSchedulerBackend(scheduler, sc.env.rpcEnv) {

  import PacerSchedulerBackend._

  private val settings = scheduler.settings
  // What the user asks for, read before giveOffHeap: a further registration asks for the same.
  private val offHeapFixed = PacerConf.offHeapFixed(conf)
  private val offHeapPage = if (offHeapFixed) 0L else PacerConf.offHeapPage(conf)
  @volatile private var client: PlannerClient = _
  @volatile private var registered: Registered = _
  @volatile private var failed = false
  @volatile private var stopped = false
  @volatile private var startedAt = 0L
  private var saidLate = false
  @volatile private var wasReady = false
  private var notice = ""
  private var leaving = Set.empty[String] // Those that Spark decommissions already.
  private val death = new AtomicReference[Option[String]](None)
  @volatile private var queued: Option[Queued] = None
  @volatile private var promised = 0 // Executors, of one that was queued.
  private val session = new DriverSession
  private val profile = if (settings.profile.nonEmpty) settings.profile else sc.appName
  private val profileHere = DriverContexts.here.profile(profile) // Whichever context comes next.
  @volatile private var gated = Option.empty[Boolean] // None until the planner has said it.
  private val counted = new ThreadLocal[String] // The executor that slots counts.
  private val timer = ThreadUtils.newDaemonSingleThreadScheduledExecutor("pacer-timer")

  override def start(): Unit = {
    super.start()
    ExecutorUser.hear(sc.env.rpcEnv)
    var mine: PlannerClient = null
    try {
      val patience = Patience.fromNow(settings.watched)
      val credential = Credential.find(settings.credentials, settings.address)
      val transport = patience.have(NatsTransport.connect(settings.address, credential, () => if (mine != null) mine.reconnected(), settings.tlsCa))
      mine = new PlannerClient(transport, settings.submission, scheduler.clock, registration(_, transport.key), follow,
        () => scheduler.forgotten(), () => scheduler.recall(), accepted, die(_, aloud = true))
      scheduler.tell = mine.send(_)
      registered = mine.start(patience)
      scheduler.history.fixedPart = registered.fixedPart
      client = mine
      DriverContexts.here.registered(profile)
      LastWord.of(mine)
    } catch {
      case NonFatal(e) =>
        if (mine != null) mine.close()
        throw e match {
          case r: RefusedException => PacerConf.refuse(r.getMessage)
          case u: UnreachableException => PacerConf.refuse(u.getMessage)
          case _: IOException => PacerConf.refuse(s"no planner answers at ${settings.address}")
          case other => other
        }
    }
    PacerConf.giveOffHeap(conf, registered.offHeapBytes)
    startedAt = System.nanoTime()
    scheduler.executorsAreThere = () => begun()
    if (registered.reason.nonEmpty) say(registered.reason)
    SparkSecurity.warning(sc.env.securityManager).foreach(line => logWarning("pacer: " + line))
    if (queued.nonEmpty) {
      every(PlaceSeconds, first = PlaceSeconds)(queued.foreach(sayPlace))
    }
    every(1, first = 1)(giveUp())
    every(1, first = 0)(place())
    every(1, first = 1)(scheduler.history.queries.ended().foreach(id => scheduler.tell(QueryEnded(id))))
  }

  /** Does it again and again: what it throws would end the timer's task without a word. */
  private def every(seconds: Long, first: Long)(body: => Unit): Unit = timer.scheduleAtFixedRate(() => try body catch {
    case e: Throwable => logError("pacer: the timer's work has failed", e)
  }, first, seconds, TimeUnit.SECONDS)

  /** Takes the reply to a further registration. */
  private def accepted(reply: Registered): Unit = {
    registered = reply
    scheduler.history.fixedPart = reply.fixedPart
  }

  override def applicationId(): String = Option(registered).map(_.appId).getOrElse(super.applicationId())

  override def defaultParallelism(): Int =
    conf.getInt("spark.default.parallelism", Option(registered).map(_.slots).filter(_ > 0).getOrElse(super.defaultParallelism()))

  /**
   * Whether isReady has held once, or the application has to end. Executors start while the user's
   * code goes on; the first stage, with its deadline, begins when they are there.
   */
  private def begun(): Boolean = {
    if (!wasReady && died.isEmpty && isReady()) {
      wasReady = true
      reviveOffers() // They were offered for nothing so far.
    }
    wasReady || died.nonEmpty
  }

  /** Why the application has to end, if it has. */
  private def died: Option[String] = death.get

  /** Aborts the stages that were submitted after the application's end was told. */
  def abortDead(): Unit = died.foreach(abort)

  /**
   * Ready with the executors that the planner promised, or with any after WaitNanos; never
   * while the application is queued.
   */
  override def isReady(): Boolean = queued.isEmpty && areThere

  private def areThere: Boolean = {
    val up = scheduler.present
    val wanted = if (promised > 0) promised else registered.executors
    val late = System.nanoTime() - startedAt >= WaitNanos
    if (late && !saidLate && up < wanted) {
      saidLate = true
      say(s"$up of $wanted executors came up within ${WaitNanos / 1000000000L} s, going on" +
        (if (up == 0) s" without: see pacer logs ${registered.appId}" else ""))
    }
    late || up >= math.max(1, wanted)
  }

  override def sufficientResourcesRegistered(): Boolean = isReady()

  /**
   * What a barrier stage can have at a time, which is not all executors (docs/spark.md, S10). Until they
   * are there nobody knows better: the stage waits, and not the DAG scheduler that asks.
   */
  override def maxNumConcurrentTasks(rp: ResourceProfile): Int =
    if (begun()) scheduler.boundable(slots(rp, _)) else Int.MaxValue

  /** The slots of one executor, by Spark's own count of all that are active. */
  private def slots(rp: ResourceProfile, executor: String): Int = {
    counted.set(executor)
    try super.maxNumConcurrentTasks(rp) finally counted.remove()
  }

  override def isExecutorActive(id: String): Boolean =
    (counted.get == null || counted.get == id) && super.isExecutorActive(id)

  override def stop(exitCode: Int): Unit = {
    failed = exitCode != 0
    super.stop(exitCode)
  }

  override def stop(): Unit = {
    val c = client
    client = null
    if (c != null) {
      // First the planner, so that it does not replace executors that go now.
      scheduler.tell = _ => ()
      stopped = true
      LastWord.stopping()
      c.end(End(failed || died.nonEmpty, died.getOrElse(if (failed) "the driver exits with an error" else "")), EndMillis)
    }
    timer.shutdownNow()
    super.stop()
  }

  private[pacer] def follow(directive: Directive): Unit = {
    if (!stopped) {
      scheduler.follow(directive)
      scheduler.heard.follow(directive.executors.filter(_.nodeLost).map(_.id))
      decommission(directive.executors.filter(_.leaving).map(_.id).filterNot(leaving))
      gated = Some(directive.gated)
    }
    if (directive.notice.nonEmpty && directive.notice != notice) {
      notice = directive.notice
      say(notice)
    }
    wait(directive)
    // A notice has said what led to it.
    if (directive.dead.nonEmpty) die(directive.dead, aloud = directive.notice.isEmpty)
  }

  /**
   * Has the driver's session come first while the application is paced, and when it has no targets any more for it
   * is late. Until its executors are there they are what it waits for, and its own threads that compile would take
   * the CPUs from them. One whose deadline cannot be kept yields, once the planner has said so.
   */
  private def place(): Unit = if (settings.watched && settings.mode == PacerConf.Control && settings.deadline > 0) {
    val late = session.first && scheduler.clock.elapsed() >= settings.deadline
    if (late || gated.contains(true) && wasReady) session.take(DriverSession.First)
    else if (gated.contains(false)) session.take(DriverSession.Behind)
    else session.take(DriverSession.Even)
  }

  /** Says where the application waits, if that has changed, and begins to wait for executors when it has started. */
  private def wait(directive: Directive): Unit = {
    val before = queued
    if (before.nonEmpty && directive.queued.isEmpty) {
      promised = directive.executors.size
      startedAt = System.nanoTime()
    }
    queued = directive.queued
    // The reply to the registration says the first place in words.
    for (was <- before; is <- queued if is.place != was.place) sayPlace(is)
  }

  private def sayPlace(q: Queued): Unit = {
    val left = math.round(math.max(0.0, q.start - scheduler.clock.elapsed()))
    val start = if (q.start > 0) s"expected to start in ${left / 60}m${left % 60}s" else "nobody knows when it starts"
    say(s"queued at place ${q.place} of ${q.of}, $start")
  }

  /** Ends the application: its jobs fail with that line, which its user sees besides if it is said aloud, and its context stops. */
  private[pacer] def die(why: String, aloud: Boolean): Unit = if (!stopped && death.compareAndSet(None, Some(why))) {
    if (aloud) say(why)
    try abort(why) finally sc.stopInNewThread()
  }

  private def abort(why: String): Unit = try scheduler.error(why) catch {
    case NonFatal(e) => logError(e.getMessage) // There was no job to abort.
  }

  /** Spark ends executors that are to leave: after their tasks, with their blocks moved to others. */
  private def decommission(ids: Seq[String]): Unit = if (ids.nonEmpty) {
    val info = ExecutorDecommissionInfo("pacer: its node is being drained, or another application waits for it")
    leaving ++= decommissionExecutors(ids.map(_ -> info).toArray, adjustTargetNumExecutors = false, triggeredByExecutor = false)
  }

  /** Spark itself would wait for an executor of a lost node for spark.network.timeout. */
  private[pacer] def giveUp(): Unit = if (!stopped) {
    val now = System.nanoTime()
    scheduler.heard.silent(now).foreach { id =>
      val last = System.currentTimeMillis() - scheduler.heard.since(id, now) / 1000000L
      removeExecutor(id, ExecutorProcessLost("pacer: neither the planner hears its node nor the driver the executor", None, causedByApp = false))
      scheduler.restart(id, last)
    }
  }

  private def registration(appId: String, key: String): Register = {
    Register(settings.submission, sc.appName, if (profileHere == sc.appName && settings.profile.isEmpty) "" else profileHere, sc.sparkUser, settings.deadline,
      scheduler.clock.elapsed(), settings.requireFeasible, launch(SPARK_VERSION), appId, settings.mode,
      settings.watched, settings.utcOffset, settings.program, settings.byMoment, settings.jobClass, settings.noWait,
      key, scheduler.greatest, context = settings.context, before = settings.before, shared = settings.shared,
      leastNodes = settings.leastNodes, mostNodes = settings.mostNodes, uiWebUrl = sc.uiWebUrl.getOrElse(""))
  }

  private def launch(version: String): Launch = {
    val heap = sc.executorMemory.toLong << 20
    Launch(
      driverUrl = RpcEndpointAddress(conf.get(DRIVER_HOST_ADDRESS), conf.get(DRIVER_PORT),
        CoarseGrainedSchedulerBackend.ENDPOINT_NAME).toString,
      sparkHome = sparkHome(sc), javaHome = sys.props.getOrElse("java.home", ""), sparkVersion = version,
      cores = conf.getInt("spark.executor.cores", 0),
      heapBytes = heap, overheadBytes = PacerConf.overhead(conf, heap),
      offHeapBytes = PacerConf.offHeap(conf), offHeapFixed = offHeapFixed,
      offHeapFloor = settings.memoryFloor, offHeapWeight = settings.memoryWeight,
      offHeapPage = offHeapPage,
      javaOptions = SparkSecurity.options(conf) ++ options("spark.executor.defaultJavaOptions") ++ options("spark.executor.extraJavaOptions"),
      classPath = paths("spark.executor.defaultExtraClassPath") ++ paths("spark.executor.extraClassPath"),
      env = environment, image = conf.get(PacerConf.Image, ""),
      taskCpus = conf.getDouble("spark.task.cpus", 1)) // Spark 4.3 has it as a decimal number.
  }

  /** The driver's PATH, so that Python workers find the same interpreter, below what the user set; Spark's secrets above it. */
  private def environment: Map[String, String] =
    sys.env.filter { case (k, _) => k == "PATH" || k == "PYSPARK_PYTHON" } ++ sc.executorEnvs ++
      SparkSecurity.environment(sc.env.securityManager)

  private def options(key: String): Seq[String] =
    conf.getOption(key).map(Utils.splitCommandString).getOrElse(Nil)

  private def paths(key: String): Seq[String] =
    conf.getOption(key).toSeq.flatMap(_.split(File.pathSeparator)).filter(_.nonEmpty)

  // scalastyle:off println
  private def say(line: String): Unit = System.err.println("pacer: " + line)
  // scalastyle:on println
}

private[scheduler] object PacerSchedulerBackend {
  /** How long the first stage waits for promised executors. */
  private val WaitNanos = 60L * 1000 * 1000 * 1000

  /** How often the place in the queue is printed. */
  private val PlaceSeconds = 60L

  /** How long stop waits for the planner. */
  private val EndMillis = 2000L

  /** Spark's home: as configured, else where its jars are. */
  def sparkHome(sc: SparkContext): String = sc.getSparkHome().getOrElse {
    try {
      val jar = new File(classOf[SparkContext].getProtectionDomain.getCodeSource.getLocation.toURI)
      Option(jar.getParentFile).filter(_.getName == "jars").map(_.getParent).getOrElse("")
    } catch {
      case NonFatal(_) => ""
    }
  }
}
