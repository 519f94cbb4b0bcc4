package org.apache.spark.scheduler.pacer

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.TaskFailedReason
import org.apache.spark.TaskState.TaskState
import org.apache.spark.pacer.PacerExecutorPlugin
import org.apache.spark.pacer.Wire.StageKey
import org.apache.spark.scheduler.{DirectTaskResult, ExecutorLossReason, ShuffleMapTask, TaskInfo, TaskLocality, TaskSet, TaskSetManager}

/**
 * A task set whose tasks start only where [[StageBindings]] admits them. The gate
 * is in dequeueTaskHelper, which every offer passes; its signature and those of the
 * other overrides, which only take notes, are the same in all Spark 4 (docs/spark.md, S6).
 *
 * Every method is called under the scheduler's lock.
 */
private[scheduler] final class StageBoundTaskSet(
    scheduler: StageBoundScheduling,
    set: TaskSet,
    maxFailures: Int,
    val facts: StageFacts,
    val part: Option[SessionPart] = None)
  extends TaskSetManager(scheduler, set, maxFailures, scheduler.healthTrackerOpt) {

  val key: StageKey = StageKey(set.stageId, set.stageAttemptId)
  val totals = new StageTotals(facts)
  private val bindings = scheduler.bindings
  private val launchedOn = mutable.Map[String, mutable.ArrayBuffer[Int]]() // Tasks by executor.
  private var shortSince = Option.empty[Long]

  override protected def dequeueTaskHelper(
      execId: String,
      host: String,
      maxLocality: TaskLocality.Value,
      speculative: Boolean): Option[(Int, TaskLocality.Value, Boolean)] = {
    if (!bindings.admits(key, execId, speculative)) None
    else if (speculative) lone.map(task => (task.index, TaskLocality.ANY, true))
    else super.dequeueTaskHelper(execId, host, maxLocality, speculative)
  }

  /** The attempt that runs alone once all other tasks have succeeded. */
  private def lone: Option[TaskInfo] =
    if (isZombie || isBarrier || tasksSuccessful != numTasks - 1 || runningTasks != 1) None
    else runningTasksSet.headOption.map(taskInfos).filter(task => !successful(task.index))

  /**
   * Whether a second attempt of a task does no harm while the first one runs. What a result task does is its
   * program's: a row that it writes to a database is there twice, unless its user has asked for copies.
   */
  private lazy val copyable = scheduler.settings.copies || tasks.head.isInstanceOf[ShuffleMapTask]

  /** Has the last task copied where it is slow. */
  def copySlow(now: Long): Unit = for {
    task <- lone if copyable
    tried = taskAttempts(task.index).map(_.executorId)
    executor <- bindings.copy(key, task.index, task.timeRunning(now), tried)
  } logWarning(s"pacer: task ${task.index} of stage ${key.stage} runs alone on executor ${tried.head} for " +
    s"${task.timeRunning(now) / 1000} s, executor $executor runs a copy of it")

  /**
   * Called when a task really starts: what is found for a barrier stage is taken back without a word
   * unless all of its tasks find a place (docs/spark.md, S10).
   */
  override def addRunningTask(tid: Long): Unit = {
    super.addRunningTask(tid)
    val info = taskInfos(tid)
    bindings.launched(key, info.index, info.executorId)
    launchedOn.getOrElseUpdate(info.executorId, mutable.ArrayBuffer()) += info.index
    if (facts.weighted) tellHeaviest(info.index)
  }

  /** What is still to come rides along with the task: its description is made after this. */
  private def tellHeaviest(index: Int): Unit = {
    val heaviest = math.max(1L, bindings.heaviestWaiting(key))
    tasks(index).localProperties.setProperty(PacerExecutorPlugin.HeaviestProperty, heaviest.toString)
  }

  /** Called first when the task's end is heard of, later once more with its result. */
  override def removeRunningTask(tid: Long): Unit = {
    if (runningTasksSet.contains(tid)) bindings.ended(key, taskInfos(tid).executorId)
    super.removeRunningTask(tid)
  }

  override def handleSuccessfulTask(tid: Long, result: DirectTaskResult[_]): Unit = {
    val info = taskInfos(tid)
    // Before super: the last success finishes the task set there.
    if (!info.finished && !successful(info.index)) note {
      val records = totals.add(info.index, result.accumUpdates, info.launchTime, System.currentTimeMillis(),
        InputOrigin.of(tasks(info.index).preferredLocations, info.executorId, info.host, facts.ownFiles))
      facts.shuffleId.foreach(scheduler.history.wrote(_, info.partitionId, records))
      bindings.succeeded(key, info.index, System.currentTimeMillis() - info.launchTime)
    }
    super.handleSuccessfulTask(tid, result)
    // What runs yet is a copy, which is killed, or does not listen.
    if (tasksSuccessful == numTasks && runningTasks > 0) scheduler.end(this)
  }

  override def handleFailedTask(tid: Long, state: TaskState, reason: TaskFailedReason): Unit = {
    note {
      val text = reason.toErrorString
      totals.failed(text)
      scheduler.planned.taskFailed(text)
    }
    super.handleFailedTask(tid, state, reason)
    giveBack(taskInfos(tid).index)
  }

  /** A lost executor takes finished tasks with it whose output was there. */
  override def executorLost(execId: String, host: String, reason: ExecutorLossReason): Unit = {
    super.executorLost(execId, host, reason)
    launchedOn.remove(execId).foreach(_.foreach(giveBack))
  }

  /** For how long the stage has had too few slots, in nanoseconds; 0 when it is asked for the first time. */
  def shortFor(now: Long): Long = {
    if (shortSince.isEmpty) shortSince = Some(now)
    now - shortSince.get
  }

  /** Takes a note of a task. Spark would abort the task set for an exception. */
  private def note(body: => Unit): Unit = try body catch {
    case e @ (NonFatal(_) | _: LinkageError) => logWarning(s"pacer: what a task of stage ${key.stage} did is not known", e)
  }

  private def giveBack(index: Int): Unit =
    if (!successful(index) && copiesRunning(index) == 0) bindings.returned(key, index)
}
