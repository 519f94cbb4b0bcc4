package org.apache.spark.scheduler.pacer

import java.io.IOException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.{DRIVER_HOST_ADDRESS, DRIVER_PORT}
import org.apache.spark.pacer._
import org.apache.spark.pacer.Stderr.say
import org.apache.spark.pacer.Wire._
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.rpc.RpcEndpointAddress
import org.apache.spark.scheduler.{ExecutorDecommissionInfo, ExecutorProcessLost}
import org.apache.spark.scheduler.cluster.CoarseGrainedClusterMessages.RemoveExecutor
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend
import org.apache.spark.util.ThreadUtils

/**
 * An application as the planner knows it, whoever starts its executors: it is registered when the
 * scheduler has started its back end, follows directives, and says its end before the back end stops.
 *
 * When the planner says that no executor will come any more, that the application's user
 * wants it to end, or that it will not have it, all jobs are aborted and the context stops,
 * as a standalone master's removal ends an application.
 *
 * An application that is queued waits before its first stage, for as long as it takes; its
 * place is printed when it changes and each minute.
 *
 * Nothing here holds this object's own lock or that of the back end: see the lock order in the
 * package's documentation.
 *
 * start registers and prints the verdict, one line on stderr. stop tells the planner that the
 * context has ended and waits for its acknowledgement, 2 s at most; the exit of the
 * driver is told by its last word (LastWord).
 */
private[scheduler] abstract class PlannedApplication(scheduler: StageBoundScheduling) extends Logging {

  import PlannedApplication._

  protected final val settings: PacerConf = scheduler.settings
  protected final val sc: SparkContext = scheduler.sc
  @volatile private var client: PlannerClient = _
  @volatile private var registered: Registered = _
  @volatile private var stopped = false
  @volatile private var startedAt = 0L
  @volatile private var wasReady = false
  private var notice = ""
  private var quietSaid = false
  private var leaving = Set.empty[String] // Those that Spark decommissions already.
  private var taken = Set.empty[String] // Those that are lost already, for their memory is taken back.
  private val death = new AtomicReference[Option[String]](None)
  @volatile private var queued: Option[Queued] = None
  @volatile private var promised = 0 // Executors, of one that was queued.
  private val session = new DriverSession
  private val profile = if (settings.profile.nonEmpty) settings.profile else sc.appName
  private val profileHere = DriverContexts.here.profile(profile) // Whichever context comes next.
  @volatile private var gated = Option.empty[Boolean] // None until the planner has said it.
  private lazy val timer = ThreadUtils.newDaemonSingleThreadScheduledExecutor("pacer-timer")

  /** What it is called where nothing else has a name. */
  def called: String = profile

  /** What the registration says of executors. */
  protected def launch: Launch

  /** A connection to the planner; changed is called when it is lost and when it is taken up again. */
  protected def connect(patience: Patience, changed: () => Unit): NatsTransport = PlannedApplication.connect(settings, patience, changed)

  /** Where executors reach the driver. */
  protected final def driverUrl: String = RpcEndpointAddress(sc.conf.get(DRIVER_HOST_ADDRESS), sc.conf.get(DRIVER_PORT),
    CoarseGrainedSchedulerBackend.ENDPOINT_NAME).toString

  /** Called once, when the planner has taken the application in. */
  protected def accepted(reply: Registered): Unit

  /** Called with why the planner has not: an exception that ends the start is thrown, or it goes on without. */
  protected def unaccepted(why: Throwable): Unit

  /** Whether the executors are there that the first stage waits for. */
  protected def isReady: Boolean = scheduler.backend.isReady()

  /** What the planner is told of an executor that has come up. */
  def up(executor: String, host: String): ExecutorUp = ExecutorUp(executor)

  /** Called when an executor is lost, under the scheduler's lock. */
  def down(executor: String): Unit = ()

  /** Called with why a task failed, under the scheduler's lock. */
  def taskFailed(reason: String): Unit = ()

  /** Called when a stage wants executors of another kind than the application's own. */
  def wants(profile: ResourceProfile): Unit = ()

  def start(): Unit = {
    var mine: PlannerClient = null
    val reply = try {
      val patience = Patience.fromNow(settings.watched)
      val transport = connect(patience, () => if (mine != null) mine.reconnected())
      mine = new PlannerClient(transport, settings.submission, scheduler.clock, registration(_, transport.key), follow,
        () => scheduler.forgotten(), () => scheduler.recall(), take, die(_, aloud = true))
      scheduler.tell = mine.send(_)
      take(mine.start(patience))
      client = mine
      DriverContexts.here.registered(profile)
      LastWord.of(mine)
      Some(registered)
    } catch {
      case NonFatal(e) =>
        if (mine != null) mine.close()
        scheduler.tell = _ => ()
        unaccepted(e)
        None
    }
    reply.foreach(begin)
  }

  private def begin(reply: Registered): Unit = {
    accepted(reply)
    startedAt = System.nanoTime()
    scheduler.executorsAreThere = () => begun()
    if (reply.reason.nonEmpty) say(reply.reason)
    if (queued.nonEmpty) {
      every(PlaceSeconds, first = PlaceSeconds)(queued.foreach(sayPlace))
    }
    every(1, first = 1)(giveUp())
    every(1, first = 0)(place())
    every(1, first = 1)(scheduler.lookAtParts())
    every(1, first = 1)(scheduler.history.queries.ended().foreach(id => scheduler.tell(QueryEnded(id))))
  }

  /** Does it again and again: what it throws would end the timer's task without a word. */
  protected final def every(seconds: Long, first: Long)(body: => Unit): Unit = timer.scheduleAtFixedRate(() => try body catch {
    case e: Throwable => logError("pacer: the timer's work has failed", e)
  }, first, seconds, TimeUnit.SECONDS)

  /** Takes in the reply to a registration. */
  private def take(reply: Registered): Unit = {
    registered = reply
    scheduler.history.fixedPart = reply.fixedPart
  }

  /** The planner's reply to the last registration, None before the first. */
  def reply: Option[Registered] = Option(registered)

  /**
   * Whether isReady has held once, or the application has to end. Executors start while the user's
   * code goes on; the first stage, with its deadline, begins when they are there.
   */
  def begun(): Boolean = {
    if (!wasReady && died.isEmpty && queued.isEmpty && isReady) {
      wasReady = true
      scheduler.backend.reviveOffers() // They were offered for nothing so far.
    }
    wasReady || died.nonEmpty
  }

  /** How many executors the planner has promised, and since when they may come; none while it is queued. */
  def awaited: Option[(Int, Long)] =
    reply.filter(_ => queued.isEmpty).map(r => (if (promised > 0) promised else r.executors) -> startedAt)

  /** Why the application has to end, if it has. */
  private def died: Option[String] = death.get

  /** Aborts the stages that were submitted after the application's end was told. */
  def abortDead(): Unit = died.foreach(abort)

  def stop(failed: Boolean): Unit = {
    val c = client
    client = null
    if (c != null) {
      scheduler.stopParts()
      // First the planner, so that it does not replace executors that go now.
      scheduler.tell = _ => ()
      stopped = true
      LastWord.stopping()
      c.end(End(failed || died.nonEmpty, died.getOrElse(if (failed) "the driver exits with an error" else "")), EndMillis)
    }
    timer.shutdownNow()
  }

  private[pacer] def follow(directive: Directive): Unit = {
    if (!stopped) {
      scheduler.follow(directive)
      scheduler.heard.follow(directive.executors.filter(_.nodeLost).map(_.id))
      takeBack(directive.executors.filter(_.taken).map(_.id).filterNot(taken))
      decommission(directive.executors.filter(e => e.leaving && !e.taken).map(_.id).filterNot(leaving))
      gated = Some(directive.gated)
    }
    if (directive.notice.nonEmpty && directive.notice != notice) {
      notice = directive.notice
      notice.linesIterator.foreach(say)
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
  private def place(): Unit = if (settings.watched && settings.paced) {
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

  /** The back end that has the executors, for an application that the planner knows. */
  protected final def executors: CoarseGrainedSchedulerBackend = scheduler.backend.asInstanceOf[CoarseGrainedSchedulerBackend]

  /** Spark ends executors that are to leave: after their tasks, with their blocks moved to others. */
  private def decommission(ids: Seq[String]): Unit = if (ids.nonEmpty) {
    val info = ExecutorDecommissionInfo("pacer: its node is being drained, another application waits for it, or it is not needed")
    leaving ++= executors.decommissionExecutors(ids.map(_ -> info).toArray, adjustTargetNumExecutors = false, triggeredByExecutor = false)
  }

  /** The memory of executors was lent and is taken back: they are lost, through no fault of the application's. */
  private def takeBack(ids: Seq[String]): Unit = ids.foreach { id =>
    taken += id
    executors.driverEndpoint.send(RemoveExecutor(id, ExecutorProcessLost("pacer: the memory that it was lent is taken back", None, causedByApp = false)))
  }

  /** Spark itself would wait for an executor of a lost node for spark.network.timeout. */
  private[pacer] def giveUp(): Unit = if (!stopped) {
    val now = System.nanoTime()
    scheduler.heard.silent(now).foreach { id =>
      val last = System.currentTimeMillis() - scheduler.heard.since(id, now) / 1000000L
      val lost = ExecutorProcessLost("pacer: neither the planner hears its node nor the driver the executor", None, causedByApp = false)
      executors.driverEndpoint.send(RemoveExecutor(id, lost))
      scheduler.restart(id, last)
    }
    scheduler.heard.quiet(now).foreach(examine)
  }

  /**
   * Logs what the heartbeater of an executor does, asked on a thread of its own for the answer may not come; the
   * user is told once.
   */
  private def examine(id: String): Unit = {
    if (!quietSaid) {
      quietSaid = true
      say(s"executor $id sends no heartbeats though its node is there: Spark takes it for lost after " +
        s"${sc.conf.getTimeAsSeconds("spark.network.timeout", "120s")} s; the driver's log has what its heartbeater does")
    }
    val asks = new Thread(() => logWarning(s"pacer: executor $id has not been heard for 10 s, its heartbeater: " +
      sc.getExecutorThreadDump(id).toSeq.flatten.filter(_.threadName == HeartbeatWatch.ThreadName)
        .map(t => s"${t.threadState}\n${t.stackTrace.elems.mkString("\n")}").headOption.getOrElse("not known")), s"pacer-examine-$id")
    asks.setDaemon(true)
    asks.start()
  }

  /** How many contexts those before this driver may have had: a cluster manager starts another one when one is lost. */
  private def earlier: Int = scheduler.applicationAttemptId().flatMap(_.toIntOption).fold(0)(attempt => ContextsOfADriver * (attempt - 1))

  private def registration(appId: String, key: String): Register = {
    Register(settings.submission, sc.appName, if (profileHere == sc.appName && settings.profile.isEmpty) "" else profileHere, sc.sparkUser, settings.deadline,
      scheduler.clock.elapsed(), settings.requireFeasible, launch, appId, settings.mode,
      settings.watched, settings.utcOffset, settings.program, settings.byMoment, settings.jobClass, settings.noWait,
      key, scheduler.greatest, context = settings.context + earlier, before = settings.before, shared = settings.shared,
      leastNodes = settings.leastNodes, mostNodes = settings.mostNodes, uiWebUrl = sc.uiWebUrl.getOrElse(""), certainty = settings.certainty, jobMost = settings.jobMost)
  }
}

private[scheduler] object PlannedApplication {
  /** A connection to the planner of settings; changed is called when it is lost and when it is taken up again. */
  def connect(settings: PacerConf, patience: Patience, changed: () => Unit): NatsTransport =
    patience.have(NatsTransport.connect(settings.address, Credential.find(settings.credentials, settings.address), changed, settings.tlsCa, plaintext = settings.plaintext))

  /** One line for a user whom the planner of settings does not take, None where that is no reason of the planner's. */
  def untaken(settings: PacerConf, why: Throwable): Option[String] = why match {
    case e @ (_: RefusedException | _: UnreachableException) => Some(e.getMessage)
    case _: IOException => Some(s"no planner answers at ${settings.address}")
    case _ => None
  }

  /** How often the place in the queue is printed. */
  private val PlaceSeconds = 60L

  private val ContextsOfADriver = 100

  /** How long stop waits for the planner. */
  private val EndMillis = 2000L
}
