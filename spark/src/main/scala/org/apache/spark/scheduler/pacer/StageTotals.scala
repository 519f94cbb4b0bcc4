package org.apache.spark.scheduler.pacer

import org.apache.spark.InternalAccumulator
import org.apache.spark.pacer.DeadlineClock
import org.apache.spark.pacer.Wire.{StageDone, StageKey}
import org.apache.spark.util.{AccumulatorV2, LongAccumulator}

/**
 * What the successful tasks of one stage attempt did, from the metrics that come
 * with their results. Times are wall-clock milliseconds of Spark's TaskInfo. Not
 * thread-safe.
 */
private[scheduler] final class StageTotals(facts: StageFacts) {
  import StageTotals._
  import InternalAccumulator.{input, shuffleRead}

  private var tasks = 0
  private var recordsRead, recordsWritten, bytesRead, bytesWritten, cpuNanos, longestNanos, runMillis = 0L
  private var bytesRemote, bytesCached = 0L
  private var firstLaunch = Long.MaxValue
  private var lastFinish = 0L
  private var failure = ""
  private val line, late = new Line

  /**
   * Adds the successful task of that index, of which the input came from there; returns how many records it wrote for
   * a shuffle.
   * It reads Spark's own metrics only: others' accumulators run their authors' code, and may
   * hold whatever their tasks have collected.
   */
  def add(index: Int, updates: Iterable[AccumulatorV2[_, _]], launched: Long, finished: Long,
      from: => InputOrigin = InputOrigin.Elsewhere): Long = {
    val m = updates.iterator.collect { case a: LongAccumulator if a.getClass == classOf[LongAccumulator] => a }
      .flatMap(a => a.name.filter(_.startsWith(InternalAccumulator.METRICS_PREFIX)).map(_ -> a.sum))
      .toMap.withDefaultValue(0L)
    val cpu = m(InternalAccumulator.EXECUTOR_CPU_TIME) + m(InternalAccumulator.EXECUTOR_DESERIALIZE_CPU_TIME)
    tasks += 1
    recordsRead += RecordsRead.map(m).sum
    recordsWritten += RecordsWritten.map(m).sum
    bytesRead += BytesRead.map(m).sum
    bytesWritten += BytesWritten.map(m).sum
    bytesRemote += m(shuffleRead.REMOTE_BYTES_READ)
    if (m(input.BYTES_READ) > 0) from match {
      case InputOrigin.Elsewhere => bytesRemote += m(input.BYTES_READ)
      case InputOrigin.Cached => bytesCached += m(input.BYTES_READ)
      case InputOrigin.Disk =>
    }
    cpuNanos += cpu
    if (facts.weighted) {
      val weight = facts.weights(index).toDouble / TaskWeights.MeanWeight
      line.add(weight, cpu.toDouble)
      // The thread's time leaves out the JVM's other threads, the slot's has waiting in it.
      if (2 * tasks > facts.weights.length) late.add(weight, (cpu / 1e9 + (finished - launched) / 1e3) / 2)
    }
    val ran = m(InternalAccumulator.EXECUTOR_RUN_TIME)
    // What Python workers do is not in the thread's time, and its slot waits for that.
    longestNanos = math.max(longestNanos, if (facts.python) math.max(cpu, ran * 1000000L) else cpu)
    runMillis += ran
    firstLaunch = math.min(firstLaunch, launched)
    lastFinish = math.max(lastFinish, finished)
    m(InternalAccumulator.shuffleWrite.RECORDS_WRITTEN)
  }

  /** Keeps why a task failed: the last reason is the stage's, should it fail. */
  def failed(reason: String): Unit = failure = reason

  def result(key: StageKey, complete: Boolean, clock: DeadlineClock, wallNow: Long): StageDone = StageDone(key,
    failed = !complete, reason = if (complete) "" else firstLine(if (failure.isEmpty) "cancelled" else failure),
    tasks, recordsRead, recordsWritten, bytesRead, bytesWritten, bytesRemote, bytesCached,
    cpuNanos / 1e9, runMillis / 1e3, longestNanos / 1e9,
    if (tasks == 0) 0.0 else clock.at(firstLaunch, wallNow), if (tasks == 0) 0.0 else clock.at(lastFinish, wallNow),
    1 - (1 - facts.fixedPart) * line.proportional(1 / (1 - facts.fixedPart)),
    if (facts.weights.forall(_ <= MostWeight)) late.at(facts.fixedPart) else 0.0)
}

private[scheduler] object StageTotals {
  import InternalAccumulator.{input, output, shuffleRead, shuffleWrite}

  private val RecordsRead = Seq(input.RECORDS_READ, shuffleRead.RECORDS_READ)
  private val RecordsWritten = Seq(output.RECORDS_WRITTEN, shuffleWrite.RECORDS_WRITTEN)
  private val BytesRead = Seq(input.BYTES_READ, shuffleRead.LOCAL_BYTES_READ, shuffleRead.REMOTE_BYTES_READ)
  private val BytesWritten = Seq(output.BYTES_WRITTEN, shuffleWrite.BYTES_WRITTEN)
  private val Longest = 300
  private val MostWeight = 4L * TaskWeights.MeanWeight
  private val LeastTasks = 8
  private val LeastSpread = 0.0625

  /** The line of least squares through times of tasks over their weights. */
  private[pacer] final class Line {
    private var n, x, y, xx, xy = 0.0

    def add(weight: Double, time: Double): Unit = {
      n += 1
      x += weight
      y += time
      xx += weight * weight
      xy += weight * time
    }

    /**
     * The part of the mean time that goes with the weight, 0 to most: 0 says that weights
     * tell nothing. 1 where there is nothing to tell it by.
     */
    def proportional(most: Double): Double = {
      val spread = n * xx - x * x
      if (spread <= 1e-9 * x * x || y <= 0) math.min(1.0, most)
      else math.max(0.0, math.min(most, (n * xy - x * y) / spread * x / y))
    }

    /**
     * The time of a task of that weight, at least 0; 0 as well where that cannot be told:
     * with few tasks, or weights of which the deviation is less than a quarter of the mean.
     */
    def at(weight: Double): Double = {
      val spread = n * xx - x * x
      if (n < LeastTasks || spread < LeastSpread * x * x) 0.0
      else math.max(0.0, (y + (n * xy - x * y) / spread * (n * weight - x)) / n)
    }
  }

  private def firstLine(s: String): String = s.linesIterator.nextOption().getOrElse("").take(Longest)
}
