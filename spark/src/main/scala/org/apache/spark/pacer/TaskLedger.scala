package org.apache.spark.pacer

import java.util.{Arrays, BitSet, Comparator, HashSet, LinkedHashMap}

import org.apache.spark.memory.pacer.MemoryPools
import org.apache.spark.pacer.ProgressPage.{MaxStages, MaxTasks}

/**
 * What this executor's tasks have done, by stage attempt: the content of the
 * progress page. Thread-safe; tasks report from their own threads and the
 * publisher writes from its thread. Times are System.nanoTime.
 *
 * A partition's weight counts once, however many attempts of it succeed here.
 *
 * Tasks share the JVM's profiles of methods with it: a user's loop over Scala iterators is not
 * inlined where the publisher has shown the compiler iterators of its own. So it has loops and
 * Java's collections (docs/decisions/022).
 */
private[spark] final class TaskLedger {
  import TaskLedger._

  private val stages = new LinkedHashMap[Long, Stage]()
  private val running = new LinkedHashMap[Long, Task]()
  /** What ended tasks have spilled, in bytes. */
  private var spilledBefore = 0L
  /** The task launched last of those that brought word of what waits: ids grow with launches. */
  private var newest: Task = _

  /** A task has begun on the calling thread. */
  def started(task: Task): Unit = synchronized {
    running.put(task.id, task)
    if (task.heaviest > 0 && (newest == null || task.id > newest.id)) newest = task
    touch(task, task.start)
  }

  /** The task has ended; used is what it did in all. */
  def ended(task: Task, used: Usage, succeeded: Boolean, now: Long): Unit = synchronized {
    if (running.remove(task.id) != null) {
      touch(task, now).fold(task, used, succeeded)
      spilledBefore += used.spilled
    }
  }

  /** Writes the present state and memory's. probe reads a running task's counters; what throws counts as nothing. */
  def publish(page: ProgressPage, probe: Task => Usage, now: Long, memory: Memory = NoMemory): Unit =
    synchronized {
      val tasks = running.values.toArray(new Array[Task](running.size))
      val uses = new Array[Usage](tasks.length)
      var spilled = spilledBefore
      var i = 0
      while (i < tasks.length) {
        uses(i) = probe(tasks(i))
        tasks(i).saw(uses(i))
        spilled += uses(i).spilled
        i += 1
      }
      val shown = stages.values.toArray(new Array[Stage](stages.size))
      Arrays.sort(shown, newestFirst)
      page.publish { slot =>
        val stagesShown = math.min(shown.length, MaxStages)
        val tasksShown = math.min(tasks.length, MaxTasks)
        val (heaviest, heaviestOf) = if (newest == null) (0L, 0L) else (newest.heaviest, newest.word)
        slot.head(now, stagesShown, tasksShown, heaviest, heaviestOf)
        val m = memory.pools
        slot.memory(memory.told, m.inForce, m.storage, m.execution, m.owed, m.acknowledged,
          spilled, m.evicted, m.moved, m.nanos, memory.heap)
        slot.heap(memory.used, memory.collecting)
        var i = 0
        while (i < stagesShown) {
          show(slot, i, shown(i), tasks, uses)
          i += 1
        }
        i = 0
        while (i < tasksShown) {
          val t = tasks(i)
          slot.task(i, t.word, t.partition, t.weight, uses(i).cpu, uses(i).recordsRead)
          i += 1
        }
      }
    }

  /** Writes a stage with what its tasks among the running ones have done so far. */
  private def show(slot: ProgressPage#Slot, at: Int, stage: Stage, tasks: Array[Task], uses: Array[Usage]): Unit = {
    var count = 0
    var records, cpu = 0L
    var i = 0
    while (i < tasks.length) {
      if (tasks(i).word == stage.word) {
        count += 1
        records += uses(i).recordsRead
        cpu += uses(i).cpu
      }
      i += 1
    }
    slot.stage(at, stage.stage, stage.attempt, stage.finished, stage.failed, stage.weight, stage.recordsRead, stage.cpu,
      count, records, cpu, stage.largeCpu, stage.largeReading)
  }

  private def touch(task: Task, now: Long): Stage = {
    val stage = stages.computeIfAbsent(task.word, _ => new Stage(task.stage, task.attempt))
    stage.changed = now
    if (stages.size > Kept) forgetOne(stage)
    stage
  }

  /** Forgets the oldest stage but touched and those with running tasks: their counts would begin anew. */
  private def forgetOne(touched: Stage): Unit = {
    val busy = new HashSet[Long]()
    busy.add(touched.word)
    running.values.forEach(t => busy.add(t.word))
    var oldest: Stage = null
    stages.values.forEach(s => if (!busy.contains(s.word) && (oldest == null || s.changed < oldest.changed)) oldest = s)
    if (oldest != null) stages.remove(oldest.word)
  }
}

private[spark] object TaskLedger {
  /** More than this, in millionths, is a large task: two mean ones. */
  private val Large = 2000000L

  /** A task that uses that much CPU time, in ns, is long: its page shows ten times when it reads. */
  private val LongCpu = 1000000000L

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
    def word: Long = wordOf(stage, attempt)

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
   * @param used what of it was in use after the newest collection, 0 before the first
   * @param collecting how long collections have taken in all, in ns
   */
  final case class Memory(told: Long, pools: MemoryPools.State, heap: Long, used: Long = 0, collecting: Long = 0)

  val NoMemory: Memory = Memory(0, MemoryPools.Unseen, 0)

  /** A stage attempt as the page names it. */
  private def wordOf(stage: Int, attempt: Int): Long = stage.toLong << 32 | attempt

  private val newestFirst: Comparator[Stage] = (a, b) => java.lang.Long.compare(b.changed, a.changed)

  private final class Stage(val stage: Int, val attempt: Int) {
    def word: Long = wordOf(stage, attempt)

    var finished, failed, weight, recordsRead, cpu, changed = 0L
    /** Of the finished tasks that are large or long: CPU time, and that until each had read all. */
    var largeCpu, largeReading = 0L
    private val done = new BitSet()

    def fold(task: Task, used: Usage, succeeded: Boolean): Unit = {
      if (succeeded) {
        finished += 1
        if (!done.get(task.partition)) weight += task.weight
        done.set(task.partition)
        if (task.weight > Large || used.cpu > LongCpu) {
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
