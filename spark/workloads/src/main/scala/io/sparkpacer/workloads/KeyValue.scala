package io.sparkpacer.workloads

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

/**
 * The key-value applications of spark-perf: pairs of numbers below --keys and below a
 * million, as numbers (the -int ones) or as decimals padded to ten characters. Its
 * group-by is aggregate-by-key without combining before the shuffle.
 */
object KeyValue {
  private val UniqueValues = 1000000
  private val Digits = 10

  def aggregateByKey(sc: SparkContext, a: Arguments): String =
    sums(strings(sc, a).map { case (k, v) => (k, v.toInt) }.reduceByKey(_ + _, a.int("partitions")))

  def aggregateByKeyInt(sc: SparkContext, a: Arguments): String =
    sums(ints(sc, a).reduceByKey(_ + _, a.int("partitions")))

  def groupBy(sc: SparkContext, a: Arguments): String =
    sums(strings(sc, a).map { case (k, v) => (k, v.toInt) }.groupByKey(a.int("partitions")).mapValues(_.sum))

  def sortByKey(sc: SparkContext, a: Arguments): String =
    inOrder(strings(sc, a).sortByKey(numPartitions = a.int("partitions")))

  def sortByKeyInt(sc: SparkContext, a: Arguments): String =
    inOrder(ints(sc, a).sortByKey(numPartitions = a.int("partitions")))

  /** The records as numbers. */
  def ints(sc: SparkContext, a: Arguments): RDD[(Int, Int)] = {
    val keys = sc.broadcast(new Zipf(a.int("keys"), a("zipf")))
    Generated.rdd(sc, a.long("records"), a.int("partitions"), a.long("seed")) { (random, _) =>
      (keys.value.at(random.nextDouble()), random.nextInt(UniqueValues))
    }
  }

  /** The same records as text. */
  def strings(sc: SparkContext, a: Arguments): RDD[(String, String)] =
    ints(sc, a).map { case (k, v) => (padded(k), padded(v)) }

  /** A number in ten digits. */
  def padded(v: Int): String = {
    val digits = new Array[Char](Digits)
    var rest = v
    for (i <- Digits - 1 to 0 by -1) {
      digits(i) = ('0' + rest % 10).toChar
      rest /= 10
    }
    new String(digits)
  }

  private def sums[K](answer: RDD[(K, Int)]): String =
    Checksum.text(answer.mapPartitions(rows => Iterator(rows.map { case (k, v) => Checksum.of(k, v) }.sum)).fold(0L)(_ + _))

  /** The first and last key of a partition that is in order, and its checksum. */
  private final case class Run[K](partition: Int, first: K, last: K, sum: Long)

  private def inOrder[K: Ordering, V](answer: RDD[(K, V)]): String = {
    val before = implicitly[Ordering[K]]
    val runs = answer.mapPartitionsWithIndex { (p, rows) =>
      rows.map { case (k, v) => Run(p, k, k, Checksum.of(k, v)) }.reduceOption { (run, next) =>
        require(before.lteq(run.last, next.first), s"partition $p has ${next.first} after ${run.last}")
        Run(p, run.first, next.last, run.sum + next.sum)
      }.iterator
    }.collect().sortBy(_.partition)
    runs.iterator.zip(runs.iterator.drop(1)).foreach { case (run, next) =>
      require(before.lteq(run.last, next.first), s"partition ${next.partition} begins with ${next.first} after ${run.last}")
    }
    Checksum.text(runs.map(_.sum).sum)
  }
}
