package org.apache.spark.scheduler.pacer

import scala.collection.mutable

/** Weights of a stage's tasks in millionths of the mean one. */
private[scheduler] object TaskWeights {
  val MeanWeight = 1000000L

  /** Tasks of a stage that has more of them are weighed in so many classes of size: each weight is a set of properties. */
  val MostClasses = 4000

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
  def withFixedPart(weights: Array[Long], part: Double): Array[Long] =
    if (part <= 0) weights else whole(weights.map(v => part * MeanWeight + (1 - part) * v))

  /** Weights for tasks of these sizes, adding up to the number of tasks; None if they are about the same, or there is one. */
  def of(bytes: Array[Long]): Option[Array[Long]] = if (bytes.length < 2) None else {
    val fixed = math.max(FixedBytes, FixedShare * bytes.map(_.toDouble).sum / bytes.length)
    val own = bytes.map(_ + fixed)
    val mean = own.sum / own.length
    if (own.max <= Skew * mean) {
      None
    } else {
      val costs = if (own.length <= MostClasses) own else classed(own)
      Some(whole(costs.map(c => MeanWeight * c / mean)))
    }
  }

  /**
   * Weights in whole millionths, the same for equal ones, with the sum that all have: what rounding leaves of many
   * equal ones goes to fewer, and in the end to the heaviest.
   */
  private def whole(exact: Array[Double]): Array[Long] = {
    val counts = mutable.LinkedHashMap[Double, Int]()
    exact.foreach(x => counts(x) = counts.getOrElse(x, 0) + 1)
    var left = 0.0
    val rounded = counts.toSeq.sortBy(-_._2).map { case (x, n) =>
      val due = x * n + left
      val weight = math.round(due / n)
      left = due - weight * n.toDouble
      x -> weight
    }.toMap
    val w = exact.map(rounded)
    w(w.indexOf(w.max)) += MeanWeight * w.length - w.sum
    w
  }

  /** Costs of which each is the mean of its class; all are equally wide, and two fewer than may be: rounding makes some. */
  private def classed(costs: Array[Double]): Array[Double] = {
    val width = costs.max / (MostClasses - 3)
    val sums = new Array[Double](MostClasses)
    val counts = new Array[Int](MostClasses)
    costs.foreach { c =>
      sums((c / width).toInt) += c
      counts((c / width).toInt) += 1
    }
    costs.map { c => sums((c / width).toInt) / counts((c / width).toInt) }
  }

  /** Tasks by falling weight, those that weigh the same in order. */
  def heaviestFirst(weights: Array[Long]): Array[Int] =
    if (weights.indices.drop(1).forall(i => weights(i - 1) >= weights(i))) {
      weights.indices.toArray
    } else {
      // Weights are few: a sort of numbers does for millions of tasks.
      val rank = weights.distinct.sorted.reverse.zipWithIndex.toMap
      val keys = Array.tabulate(weights.length)(i => rank(weights(i)).toLong << 32 | i)
      java.util.Arrays.sort(keys)
      keys.map(_.toInt)
    }
}
