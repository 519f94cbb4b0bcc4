package io.sparkpacer.workloads

import java.util.SplittableRandom

import scala.collection.AbstractIterator
import scala.reflect.ClassTag

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

/**
 * Data generated inside the tasks. Each datum has random numbers of its own, found
 * from the seed and its index: partitioning changes nothing in it.
 */
object Generated {
  /**
   * Keeps the data of different seeds apart. It must not be a multiple of the step of
   * SplittableRandom, or one datum's numbers were the next one's, shifted.
   */
  private val Apart = 0xff51afd7ed558ccdL

  /** The random numbers of one datum. */
  def random(seed: Long, index: Long): SplittableRandom = new SplittableRandom(seed * Apart + index)

  /** The indices of a partition when count data are shared out in order; sizes differ by at most one. */
  def slice(count: Long, partitions: Int, partition: Int): (Long, Long) = {
    def begin(p: Int) = count / partitions * p + (count % partitions).min(p)
    (begin(partition), begin(partition + 1))
  }

  /** count data over so many partitions; datum sees its own random numbers and its index. */
  def rdd[T: ClassTag](sc: SparkContext, count: Long, partitions: Int, seed: Long)(datum: (SplittableRandom, Long) => T): RDD[T] =
    sc.parallelize(0 until partitions, partitions).flatMap { p =>
      val (begin, end) = slice(count, partitions, p)
      new AbstractIterator[T] {
        private var i = begin
        def hasNext: Boolean = i < end
        def next(): T = {
          i += 1
          datum(random(seed, i - 1), i - 1)
        }
      }
    }
}
