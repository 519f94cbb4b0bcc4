package io.sparkpacer.workloads

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

class GeneratedTest {
  @Test def slicesShareOutAllAndDifferByOne(): Unit =
    for (count <- Seq(0L, 1L, 7L, 1000L, 10000000019L); partitions <- Seq(1, 3, 7, 120)) {
      val slices = (0 until partitions).map(Generated.slice(count, partitions, _))
      assertEquals(0L, slices.head._1)
      assertEquals(count, slices.last._2)
      slices.zip(slices.tail).foreach { case ((_, end), (begin, _)) => assertEquals(end, begin) }
      val sizes = slices.map { case (begin, end) => end - begin }
      assertTrue(sizes.max - sizes.min <= 1, s"$count in $partitions: $sizes")
    }

  @Test def aDatumIsAFunctionOfSeedAndIndex(): Unit = {
    def numbers(seed: Long, index: Long) = {
      val random = Generated.random(seed, index)
      Seq.fill(4)(random.nextLong())
    }
    assertEquals(numbers(5, 17), numbers(5, 17))
    // Data and seeds that are neighbours share no number at all, shifted or not.
    val all = for (seed <- 0L until 20L; index <- 0L until 500L) yield numbers(seed, index)
    assertEquals(all.size * 4, all.flatten.distinct.size)
  }

  @Test def neighboursAreNotCorrelated(): Unit = {
    val n = 100000
    val (first, second) = (0 until n).map { i =>
      val random = Generated.random(5, i)
      (random.nextDouble() - 0.5, random.nextDouble() - 0.5)
    }.unzip
    def correlation(a: Seq[Double], b: Seq[Double]) = a.zip(b).map { case (x, y) => x * y }.sum / a.size * 12
    val bound = 5 / math.sqrt(n)
    assertEquals(0, correlation(first, second), bound, "inside a datum")
    assertEquals(0, correlation(first, first.tail), bound, "from one to the next")
    assertEquals(0, correlation(second, first.tail), bound, "shifted by one")
  }

  @Test def numbersArePaddedToTenDigits(): Unit =
    for ((v, text) <- Seq(0 -> "0000000000", 42 -> "0000000042", Int.MaxValue -> "2147483647")) {
      assertEquals(text, KeyValue.padded(v))
      assertEquals(v, KeyValue.padded(v).toInt)
    }
}
