package org.apache.spark.scheduler.pacer

import java.util.Properties

import scala.collection.mutable

import org.apache.spark.executor.ExecutorMetrics
import org.apache.spark.internal.config.{BARRIER_MAX_CONCURRENT_TASKS_CHECK_INTERVAL, BARRIER_MAX_CONCURRENT_TASKS_CHECK_MAX_FAILURES}
import org.apache.spark.internal.config.EXECUTOR_HEARTBEAT_INTERVAL
import org.apache.spark.pacer.{DeadlineClock, JobGroup, PacerConf, PacerExecutorPlugin}
import org.apache.spark.pacer.Stderr.say
import org.apache.spark.pacer.Wire._
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend
import org.apache.spark.scheduler.{BarrierJobSlotsNumberCheckFailed, ExecutorLossReason, SchedulingMode, Task, TaskSchedulerImpl, TaskSet, TaskSetManager, WorkerOffer}
import org.apache.spark.storage.BlockManagerId
import org.apache.spark.util.{AccumulatorV2, Utils}

/**
 * Stage-bound scheduling for any of Spark's task schedulers. Each task set becomes a
 * [[StageBoundTaskSet]]; what happens to stages and executors is told to
 * [[StageBindings]] under this scheduler's lock, and to the planner through tell,
 * which must not block. The talk with the planner ([[PlannedApplication]]) begins when
 * the back end has started, and ends before that does.
 *
 * A stage ends for Pacer in taskSetFinished, that is with its last task: waiting
 * stages are bound and offered executors before the DAG scheduler has heard.
 */
private[scheduler] trait StageBoundScheduling extends TaskSchedulerImpl {

  def settings: PacerConf
  def clock: DeadlineClock

  /** The application that the planner is told of. */
  def planned: PlannedApplication

  /** Whether all scheduling is Spark's own. */
  @volatile var off: Boolean = settings.mode == PacerConf.Off

  val bindings = new StageBindings
  lazy val history = new StageHistory(mapOutputTracker)
  val heard = new LastHeard(sc.conf.get(EXECUTOR_HEARTBEAT_INTERVAL) * 1000000L)

  /** Where events go; set by the talk with the planner before the first one can happen. */
  @volatile var tell: DriverEvent => Unit = _ => ()

  // Guarded by this.
  private val running = mutable.LinkedHashMap[StageKey, (StageBoundTaskSet, StageReady)]()
  private val ups = mutable.Map[String, ExecutorUp]() // What was told of those that are there.
  private var group = 0
  /** Whether those executors are there that the first stage waits for; set by the talk, called under this lock. */
  @volatile var executorsAreThere: () => Boolean = () => true
  private val held = mutable.LinkedHashMap[StageKey, StageBoundTaskSet]() // What waits for them.
  // What is known of the task set that is being submitted: the DAG scheduler's thread's.
  private var submitted: StageFacts = _
  private var partOf = Option.empty[SessionPart]
  private var besides = false
  private var unpaced = Option.empty[String] // Why, once the planner was told.
  private lazy val parts = new SessionParts(partless, planned.called, say)

  override def start(): Unit = {
    super.start()
    if (!off && settings.deadline == 0) JobGroup.watch(sc)
    // Spark's local back ends have no executors that a planner could know.
    if (backend.isInstanceOf[CoarseGrainedSchedulerBackend]) planned.start()
  }

  override def stop(exitCode: Int): Unit = {
    // First the planner, so that it does not replace executors that go now.
    planned.stop(exitCode != 0)
    super.stop(exitCode)
  }

  /** Looks at what the tasks read before the lock is taken: that takes time, and calls the code of users' RDDs. */
  override def submitTasks(taskSet: TaskSet): Unit = {
    if (!off) {
      group(taskSet)
      submitted = history.of(taskSet, dagScheduler.stageIdToStage.get(taskSet.stageId))
      if (submitted.weighted) {
        if (!taskSet.tasks.exists(_.isBarrier)) StageBoundScheduling.heaviestFirst(taskSet.tasks, submitted.weights)
        StageBoundScheduling.giveWeights(taskSet.tasks, submitted.weights)
      }
    }
    super.submitTasks(taskSet)
    planned.abortDead()
  }

  /**
   * Finds the part of the session that a task set is of. A task set of none is scheduled, while a part runs, as in stock
   * Spark, on all executors, beside the stages that own them.
   */
  private def group(taskSet: TaskSet): Unit = synchronized {
    val (mine, events) = parts.of(JobGroup.of(taskSet.properties), isStream(taskSet), clock.elapsed())
    if (mine.exists(_.first())) history.queries.anew()
    partOf = mine
    besides = mine.isEmpty && parts.current.isDefined
    events.foreach(tell)
  }

  /** Looks, once a second, whether the part of the session that runs is over. */
  private[pacer] def lookAtParts(): Unit = synchronized(parts.look(clock.elapsed()).foreach(tell))

  /** The context stops: so does its part, if one runs. */
  private[pacer] def stopParts(): Unit = synchronized(parts.stop().foreach(tell))

  /** Why no group has a deadline of its own. */
  private def partless: Option[String] =
    if (settings.deadline > 0) Some("the application has a deadline itself")
    else bindings.opened.map(why => s"stages share executors since there was $why")

  private[scheduler] override def createTaskSetManager(taskSet: TaskSet, maxTaskFailures: Int): TaskSetManager =
    if (off || besides || isForeign(taskSet)) super.createTaskSetManager(taskSet, maxTaskFailures) else synchronized {
      checkPaceable(taskSet)
      if (submitted.pipelined) open("a pipelined shuffle runs its stages side by side")
      val manager = new StageBoundTaskSet(this, taskSet, maxTaskFailures, submitted, partOf)
      partOf.foreach(_.submitted(manager.key))
      held(manager.key) = manager
      beginHeld(System.nanoTime())
      manager
    }

  /**
   * Begins the stages that have waited for executors, once these are there: a stage's deadline counts
   * from its beginning. The DAG scheduler does not wait meanwhile, so that jobs can be cancelled. A
   * barrier stage that has too few slots waits for as long as Spark would look for more, and fails
   * with its words.
   */
  private[pacer] def beginHeld(now: Long): Unit = if (held.nonEmpty && executorsAreThere()) {
    held.values.toList.foreach { m =>
      lazy val slots = backend.maxNumConcurrentTasks(sc.resourceProfileManager.resourceProfileFromId(m.taskSet.resourceProfileId))
      if (m.isZombie) held.remove(m.key)
      else if (!m.isBarrier || m.numTasks <= slots) {
        held.remove(m.key)
        begin(m)
      } else if (m.shortFor(now) > barrierPatience) m.abort(new BarrierJobSlotsNumberCheckFailed(m.numTasks, slots).getMessage)
    }
    flush()
  }

  private val barrierPatience = sc.conf.get(BARRIER_MAX_CONCURRENT_TASKS_CHECK_INTERVAL) * 1000000000L *
    sc.conf.get(BARRIER_MAX_CONCURRENT_TASKS_CHECK_MAX_FAILURES)

  /** A cancelled or failed attempt, or one whose tasks have all succeeded but for copies, starts no more. */
  private def retireZombies(): Unit = running.valuesIterator.map(_._1).filter(_.isZombie).foreach(m => bindings.retire(m.key))

  private def begin(m: StageBoundTaskSet): Unit = {
    val facts = m.facts
    retireEarlier(m.key.stage)
    retireZombies()
    val bound = bindings.ready(m.key, m.priority, facts.weights, facts.cached, m.isBarrier, poolOf(m))
    if (running.isEmpty) group = math.max(group, m.priority)
    val ready = StageReady(m.key, group, facts.name, facts.signature, facts.parents, m.numTasks,
      facts.records, facts.bytes, facts.weighted, bound, facts.repeats, facts.lineage, facts.query, poolOf(m))
    running(m.key) = (m, ready)
    m.part.flatMap(_.begins()).foreach(tell)
    tell(ready)
    if (bound.isEmpty && bindings.gated) {
      logInfo(s"pacer: stage ${m.key.stage} waits for an executor (${bindings.waited} waits so far)")
    }
  }

  override def taskSetFinished(manager: TaskSetManager): Unit = synchronized {
    super.taskSetFinished(manager)
    manager match {
      case m: StageBoundTaskSet => end(m)
      case _ => ()
    }
  }

  override def executorAdded(execId: String, host: String): Unit = {
    heard.registered(execId, System.nanoTime())
    synchronized {
      bindings.executorUp(execId, host)
      greatest = math.max(greatest, execId.toIntOption.getOrElse(0))
      tell(ups.getOrElseUpdate(execId, planned.up(execId, host)))
      flush()
    }
    super.executorAdded(execId, host)
  }

  /** Tells the planner what is known now of an executor that is there. */
  def tellAgain(execId: String): Unit = synchronized {
    for (told <- ups.get(execId); now = planned.up(execId, told.host) if now != told) {
      ups(execId) = now
      tell(now)
      flush()
    }
  }

  override def executorHeartbeatReceived(
      execId: String,
      accumUpdates: Array[(Long, Seq[AccumulatorV2[_, _]])],
      blockManagerId: BlockManagerId,
      executorUpdates: mutable.Map[(Int, Int), ExecutorMetrics]): Boolean = {
    heard.beat(execId, System.nanoTime())
    super.executorHeartbeatReceived(execId, accumUpdates, blockManagerId, executorUpdates)
  }

  override def executorLost(executorId: String, reason: ExecutorLossReason): Unit = {
    heard.gone(executorId)
    synchronized {
      if (bindings.executors.contains(executorId)) {
        bindings.executorGone(executorId)
        ups -= executorId
        planned.down(executorId)
        tell(ExecutorGone(executorId, reason.toString))
      }
    }
    super.executorLost(executorId, reason)
    synchronized(flush())
  }

  /**
   * Called with every round of offers, at least once a second: the place to watch from. No task starts
   * before all executors are there.
   */
  override protected def shuffleOffers(offers: IndexedSeq[WorkerOffer]): IndexedSeq[WorkerOffer] =
    if (executorsAreThere()) super.shuffleOffers(watched(offers)) else IndexedSeq.empty

  private def watched(offers: IndexedSeq[WorkerOffer]): IndexedSeq[WorkerOffer] = {
    retireZombies()
    beginHeld(System.nanoTime())
    followPools()
    running.valuesIterator.foreach(_._1.copySlow(System.currentTimeMillis()))
    bindings.watch(System.nanoTime()).foreach { key =>
      logWarning(s"pacer: stage ${key.stage} had executors and nothing running for 10 s: any executor may run it now")
    }
    flush()
    offers
  }

  /** Takes the planner's word over; safe to call from any thread. */
  def follow(directive: Directive): Unit = synchronized {
    bindings.follow(directive)
    flush()
  }

  /**
   * Starts anew the tasks of other executors that were started since an executor that is lost
   * was heard last, in milliseconds of the wall clock: what they fetch from it does not come,
   * and Spark waits for that. Tasks of a barrier stage are left alone: Spark fails the whole stage
   * with one of them, and the application after four.
   */
  def restart(lost: String, since: Long): Unit = synchronized {
    for ((manager, _) <- running.values if !manager.isBarrier; task <- manager.taskInfos.values
        if task.running && task.executorId != lost && task.launchTime >= since) {
      killTaskAttempt(task.taskId, interruptThread = true, s"it may wait for executor $lost, which is lost")
    }
  }

  /** The planner has lost its state: the epochs of its directives begin again. */
  def forgotten(): Unit = synchronized {
    bindings.forgetEpoch()
    parts.forget()
  }

  /** What a planner that has forgotten everything needs to be told, in order. */
  def recall(): Seq[DriverEvent] = synchronized {
    bindings.executors.map(ups) ++
      running.valuesIterator.map { case (m, ready) => ready.copy(bindings = bindings.current(m.key)) } ++
      unpaced.map(Unpaced)
  }

  /** The greatest number of an executor that has registered, 0 before the first. */
  @volatile private[pacer] var greatest: Int = 0

  /** How many executors could be bound to a stage now: they have registered and been offered. */
  def present: Int = synchronized(bindings.executors.size)

  /** How many tasks of a stage can run at a time whichever executors it gets, given the slots of each. */
  def boundable(slots: String => Int): Int =
    synchronized(bindings.boundable).map { case (n, there) => there.map(slots).sorted.take(n).sum }.sum

  /** With FAIR scheduling executors that come free go to stages in the pools' order, as tasks do in stock Spark. */
  private def followPools(): Unit = if (schedulingMode == SchedulingMode.FAIR) {
    bindings.queue(rootPool.getSortedTaskSetQueue.collect { case m: StageBoundTaskSet => m.key }.toSeq)
  }

  private def poolOf(m: StageBoundTaskSet): String = if (schedulingMode != SchedulingMode.FAIR) "" else
    Option(m.taskSet.properties).flatMap(p => Option(p.getProperty(StageBoundScheduling.PoolProperty)))
      .fold(StageBoundScheduling.DefaultPool)(_.take(StageBoundScheduling.MostPool))

  /** The stage has ended but for what runs of it, if anything; called again when that has. */
  private[pacer] def end(m: StageBoundTaskSet): Unit = {
    held.remove(m.key)
    val ends = running.remove(m.key).isDefined
    if (ends) followPools()
    if (m.runningTasks > 0) bindings.retire(m.key) else bindings.done(m.key)
    if (ends) tell(m.totals.result(m.key, m.tasksSuccessful == m.numTasks, clock, System.currentTimeMillis()))
    m.part.foreach(_.ended(m.key, m.tasksSuccessful == m.numTasks, clock.elapsed()))
    flush()
  }

  /**
   * Earlier attempts of a stage give way. One without running tasks ends here,
   * because Spark never reports it as finished.
   */
  private def retireEarlier(stageId: Int): Unit = {
    val earlier = running.valuesIterator.map(_._1).filter(_.key.stage == stageId).toList
    earlier.foreach(m => if (m.runningTasks == 0) end(m) else bindings.retire(m.key))
  }

  /** Says which bindings changed, and has freed executors offered at once (docs/spark.md, S8). */
  private def flush(): Unit = {
    bindings.takeChanges().foreach { case (key, bound) => if (running.contains(key)) tell(StageBound(key, bound)) }
    if (bindings.takeFreed() && backend != null) backend.reviveOffers()
  }

  /** Streams have no end to aim at: they run as in stock Spark. */
  private def checkPaceable(taskSet: TaskSet): Unit = if (isStream(taskSet)) unpace("streaming", "a streaming query")

  private def isStream(taskSet: TaskSet): Boolean =
    Option(taskSet.properties).exists(p => StageBoundScheduling.StreamProperties.exists(p.getProperty(_) != null))

  private def unpace(why: String, what: String): Unit = if (unpaced.isEmpty) {
    unpaced = Some(why)
    open(what)
    tell(Unpaced(why))
  }

  /**
   * Whether a stage has executors, or slots, of its own kind (a resource profile): it is scheduled as in stock
   * Spark, and nothing of the application is paced from then on.
   */
  private def isForeign(taskSet: TaskSet): Boolean = synchronized {
    val foreign = taskSet.resourceProfileId != ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID
    if (foreign) {
      unpace("resource profiles", "a resource profile")
      planned.wants(sc.resourceProfileManager.resourceProfileFromId(taskSet.resourceProfileId))
    }
    foreign
  }

  private def open(reason: String): Unit = if (bindings.opened.isEmpty) {
    bindings.openForGood(reason)
    say(s"$reason: from now on stages share executors, this application is not paced")
  }
}

private[scheduler] object StageBoundScheduling {
  /**
   * Sorts tasks and their weights, the heaviest first: Spark starts the tasks of a
   * set in their order as far as locality allows, and knows them by their partition.
   * A large task that comes last is what a stage waits for.
   */
  private[pacer] def heaviestFirst[T <: AnyRef](tasks: Array[T], weights: Array[Long]): Unit = {
    val (before, weighed) = (tasks.clone(), weights.clone())
    for ((from, to) <- TaskWeights.heaviestFirst(weights).iterator.zipWithIndex) {
      tasks(to) = before(from)
      weights(to) = weighed(from)
    }
  }

  /**
   * Each task's own weight goes along with it: the whole list would travel with every task. Those that
   * weigh the same share their properties, for there may be millions.
   */
  private[pacer] def giveWeights(tasks: Array[Task[_]], weights: Array[Long]): Unit = {
    val given = mutable.HashMap[Long, (Properties, Properties)]() // What each weight's tasks had, and have.
    tasks.iterator.zip(weights.iterator).foreach { case (task, weight) =>
      val had = task.localProperties
      val has = given.get(weight).filter(_._1 eq had).map(_._2).getOrElse {
        val own = Option(had).map(Utils.cloneProperties).getOrElse(new Properties())
        own.setProperty(PacerExecutorPlugin.WeightProperty, weight.toString)
        given(weight) = had -> own
        own
      }
      task.localProperties = has
    }
  }

  /** As FairSchedulableBuilder has them. */
  private val PoolProperty = "spark.scheduler.pool"
  private val DefaultPool = "default"
  private val MostPool = 256 // What a message takes.

  /** Set on the jobs of structured streaming and of DStreams. */
  private val StreamProperties = Seq("sql.streaming.queryId", "spark.streaming.internal.batchTime")
}
