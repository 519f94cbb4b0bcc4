package org.apache.spark.pacer

import java.util.BitSet

import scala.collection.mutable

import org.apache.spark.memory.pacer.MemoryPools
import org.apache.spark.pacer.ProgressPage.{MaxStages, MaxTasks}

/**
 * What this executor's tasks have done, by stage attempt: the content of the
 * progress page. Thread-safe; tasks report from their own threads and the
 * publisher writes from its thread. Times are System.nanoTime.
 *
 * A partition's weight counts once, however many attempts of it succeed here.
 */
private[spark] final class TaskLedger {
  import TaskLedger._

  private val stages = mutable.LinkedHashMap[(Int, Int), Stage]()
  private val running = mutable.LinkedHashMap[Long, Task]()
  /** What ended tasks have spilled, in bytes. */
  private var spilledBefore = 0L
  /** The task launched last of those that brought word of what waits: ids grow with launches. */
  private var newest: Task = _

  /** A task has begun on the calling thread. */
  def started(task: Task): Unit = synchronized {
    running(task.id) = task
    if (task.heaviest > 0 && (newest == null || task.id > newest.id)) newest = task
    touch(task, task.start)
  }

  /** The task has ended; used is what it did in all. */
  def ended(task: Task, used: Usage, succeeded: Boolean, now: Long): Unit = synchronized {
    if (running.remove(task.id).isDefined) {
      touch(task, now).fold(task, used, succeeded)
      spilledBefore += used.spilled
    }
  }

  /** Writes the present state and memory's. probe reads a running task's counters; what throws counts as nothing. */
  def publish(page: ProgressPage, probe: Task => Usage, now: Long, memory: Memory = NoMemory): Unit =
    synchronized {
      val tasks = running.valuesIterator.take(MaxTasks).toArray
      val uses = running.valuesIterator.map(t => t -> probe(t)).toMap
      uses.foreachEntry((task, use) => task.saw(use))
      val shown = stages.valuesIterator.toArray.sortBy(-_.changed).take(MaxStages)
      page.publish { slot =>
        val (heaviest, heaviestOf) = if (newest == null) (0L, 0L) else (newest.heaviest, newest.word)
        slot.head(now, shown.length, tasks.length, heaviest, heaviestOf)
        val m = memory.pools
        slot.memory(memory.told, m.inForce, m.storage, m.execution, m.owed, m.acknowledged,
          spilledBefore + uses.valuesIterator.map(_.spilled).sum, m.evicted, m.moved, m.nanos, memory.heap)
        var i = 0
        shown.foreach { s =>
          val mine = uses.iterator.collect { case (t, use) if t.stage == s.stage && t.attempt == s.attempt => use }.toArray
          slot.stage(i, s.stage, s.attempt, s.finished, s.failed, s.weight, s.recordsRead, s.cpu,
            mine.length, mine.map(_.recordsRead).sum, mine.map(_.cpu).sum, s.largeCpu, s.largeReading)
          i += 1
        }
        i = 0
        tasks.foreach { t =>
          val use = uses(t)
          slot.task(i, t.word, t.partition, t.weight, use.cpu, use.recordsRead)
          i += 1
        }
      }
    }

  private def touch(task: Task, now: Long): Stage = {
    val key = (task.stage, task.attempt)
    val stage = stages.getOrElseUpdate(key, new Stage(task.stage, task.attempt))
    stage.changed = now
    if (stages.size > Kept) {
      // Never one with running tasks: its counts would begin anew.
      val busy = running.valuesIterator.map(t => (t.stage, t.attempt)).toSet + key
      stages.valuesIterator.filterNot(s => busy((s.stage, s.attempt))).minByOption(_.changed)
        .foreach(s => stages.remove((s.stage, s.attempt)))
    }
    stage
  }
}

private[spark] object TaskLedger {
  /** More than this, in millionths, is a large task: two mean ones. */
  private val Large = 2000000L

  /** Stages remembered; the page shows the newest few. */
  private val Kept = 64

  /**
   * A task attempt; weight in millionths of the mean task's.
   *
   * @param heaviest the weight of the heaviest task that waited when it was launched, 0 if unknown
   */
  final class Task(
      val id: Long,
      val stage: Int,
      val attempt: Int,
      val partition: Int,
      val weight: Long,
      val start: Long,
      val heaviest: Long = 0) {

    /** Its stage attempt as the page names it. */
    def word: Long = stage.toLong << 32 | attempt

    private var last = NoUsage
    private var reading = 0L

    /** Takes in what it has done so far. */
    def saw(use: Usage): Unit = if (use.cpu > last.cpu) {
      if (use.recordsRead > last.recordsRead) reading = (last.cpu + use.cpu) / 2
      last = use
    }

    /** The CPU time until it had read its last record, 0 if it read none. */
    def readingTime: Long = reading
  }

  /** Counters of one task; cpu in ns, spilled in bytes of memory. */
  final case class Usage(recordsRead: Long, cpu: Long, spilled: Long = 0)

  val NoUsage: Usage = Usage(0, 0)

  /**
   * What the page tells of memory beside what tasks have spilled.
   *
   * @param told 0 if nothing is known of the pools, 1 if they move, 2 if they are fixed
   * @param heap what the JVM has of its heap, in bytes
   */
  final case class Memory(told: Long, pools: MemoryPools.State, heap: Long)

  val NoMemory: Memory = Memory(0, MemoryPools.Unseen, 0)

  private final class Stage(val stage: Int, val attempt: Int) {
    var finished, failed, weight, recordsRead, cpu, changed = 0L
    /** Of the finished tasks that are large: CPU time, and that until each had read all. */
    var largeCpu, largeReading = 0L
    private val done = new BitSet()

    def fold(task: Task, used: Usage, succeeded: Boolean): Unit = {
      if (succeeded) {
        finished += 1
        if (!done.get(task.partition)) weight += task.weight
        done.set(task.partition)
        if (task.weight > Large) {
          task.saw(used)
          largeCpu += used.cpu
          largeReading += task.readingTime
        }
      } else {
        failed += 1
      }
      recordsRead += used.recordsRead
      cpu += used.cpu
    }
  }
}
