package org.apache.spark.scheduler.pacer

/** Weights of a stage's tasks in millionths of the mean one. */
private[scheduler] object TaskWeights {
  val MeanWeight = 1000000L

  /** Stages with more tasks are not worth the properties, with one task there is nothing to weigh. */
  private val Weighable = 2 to 4000

  /** Below this ratio of the largest task to the mean the weights would be noise. */
  private val Skew = 1.1

  /**
   * What a task costs that does not depend on its size, as so many bytes: a task
   * on nothing still runs, and among small tasks sizes say little.
   */
  private val FixedBytes = 64 * 1024.0
  private val FixedShare = 0.05

  /** So much is left of what sizes say that a run can still tell how CPU time goes with them. */
  val MostFixedPart = 0.99

  def alike(tasks: Int): Array[Long] = Array.fill(tasks)(MeanWeight)

  /** Weights of which that part is the same for each task, with the same sum. */
  def withFixedPart(weights: Array[Long], part: Double): Array[Long] = if (part <= 0) weights else {
    val w = weights.map(v => math.round(part * MeanWeight + (1 - part) * v))
    w(weights.indexOf(weights.max)) += MeanWeight * w.length - w.sum
    w
  }

  /** Weights for tasks of these sizes, adding up to the number of tasks; None if they are about the same. */
  def of(bytes: Array[Long]): Option[Array[Long]] = if (!Weighable.contains(bytes.length)) None else {
    val fixed = math.max(FixedBytes, FixedShare * bytes.map(_.toDouble).sum / bytes.length)
    val costs = bytes.map(_ + fixed)
    val mean = costs.sum / costs.length
    if (costs.max <= Skew * mean) {
      None
    } else {
      val w = costs.map(c => math.round(MeanWeight * c / mean))
      w(costs.indexOf(costs.max)) += MeanWeight * w.length - w.sum
      Some(w)
    }
  }
}
