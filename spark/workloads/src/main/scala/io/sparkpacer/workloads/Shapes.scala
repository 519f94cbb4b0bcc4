package io.sparkpacer.workloads

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

/**
 * Applications of a shape that the source's chains do not have: branches that could run
 * side by side, and many short stages. Their rows are few and each costs rounds of
 * arithmetic, so that a stage's CPU time follows from the arguments alone.
 */
object Shapes {
  /** What each branch of the diamond has of ten parts of the records. */
  private val Parts = Seq(4, 3, 2, 1)
  /** Rounds of toil that a record brings to its branch's second stage, and to the join. */
  private val ByKey, Joined = 40
  /** Keys are spread anew by a factor that shares no divisor with their number. */
  private val Spread = 1000003L

  /** Four unequal branches of two stages each, and a stage that joins them. */
  def diamond(sc: SparkContext, a: Arguments): String = {
    val branches = Parts.indices.map(branch(sc, a, _))
    val rounds = a.long("records") / a.long("keys") * Joined
    val Seq(second, third, fourth) = branches.tail
    val joined = branches.head.cogroup(second, third, fourth, a.int("partitions")).map { case (key, (w, x, y, z)) =>
      Checksum.of(key, toil(w.sum ^ x.sum ^ y.sum ^ z.sum, rounds))
    }
    Checksum.text(joined.fold(0L)(_ + _))
  }

  /** A branch: its records by key, then a value for each key. */
  private def branch(sc: SparkContext, a: Arguments, number: Int): RDD[(Int, Long)] = {
    val (keys, partitions) = (a.int("keys"), a.int("partitions"))
    val records = (a.long("records") * Parts(number) / Parts.sum).max(1)
    val rounds = records / keys * ByKey
    // Branches of a real application come from different places of its code.
    sc.setCallSite(s"branch ${number + 1}")
    try {
      Generated.rdd(sc, records, partitions, a.long("seed") + number) { (random, _) => (random.nextInt(keys), random.nextLong()) }
        .reduceByKey(_ ^ _, partitions)
        .map { case (key, value) => ((key * Spread % keys).toInt, toil(value, rounds)) }
    } finally sc.clearCallSite()
  }

  /** A chain of stages, each of which spreads the keys anew and toils for each. */
  def shortStages(sc: SparkContext, a: Arguments): String = {
    val (keys, partitions, rounds) = (a.int("keys"), a.int("partitions"), a.long("rounds"))
    val rows = Generated.rdd(sc, keys, partitions, a.long("seed")) { (random, i) => (i.toInt, toil(random.nextLong(), rounds)) }
    val last = (1 until a.int("stages")).foldLeft(rows) { (before, _) =>
      before.map { case (key, value) => ((key * Spread % keys).toInt, value) }.reduceByKey(_ ^ _, partitions)
        .mapValues(toil(_, rounds))
    }
    Checksum.text(last.map { case (key, value) => Checksum.of(key, value) }.fold(0L)(_ + _))
  }

  /** A value after so many rounds of arithmetic, each of which needs the one before. */
  private[workloads] def toil(value: Long, rounds: Long): Long = {
    var mixed = value
    var round = 0L
    while (round < rounds) {
      mixed = (mixed ^ (mixed >>> 29)) * 0xbf58476d1ce4e5b9L + round
      round += 1
    }
    mixed
  }
}
