package io.sparkpacer.workloads

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

class ZipfTest {
  /** The law as section 7.1.1 of the source writes it. */
  private def law(k: Int, n: Int, s: Double): Double = (1 / math.pow(k, s)) / (1 to n).map(i => 1 / math.pow(i, s)).sum

  @Test def frequenciesAreThoseOfTheLaw(): Unit =
    for (n <- Seq(1, 2, 7, 5000); s <- Seq(0, 0.5, 1, 2, 3)) {
      val zipf = new Zipf(n, s)
      for (k <- Seq(1, 2, n / 2, n) if k >= 1 && k <= n) {
        assertEquals(law(k, n, s), zipf.frequency(k - 1), 1e-12, s"n $n, s $s, k $k")
      }
    }

  @Test def drawsFollowTheFrequencies(): Unit =
    for (s <- Seq(0, 1, 2, 3)) {
      val (n, draws) = (50, 200000)
      val zipf = new Zipf(n, s)
      val seen = new Array[Int](n)
      for (i <- 0 until draws) seen(zipf.at(Generated.random(5, i).nextDouble())) += 1
      // Pearson's statistic over the values that are expected often enough; the rest are one class.
      val (often, rare) = (0 until n).partition(zipf.frequency(_) * draws >= 10)
      val classes = often.map(Seq(_)) ++ (if (rare.isEmpty) Nil else Seq(rare))
      val statistic = classes.map { c =>
        val expected = c.map(zipf.frequency).sum * draws
        math.pow(c.map(seen(_)).sum - expected, 2) / expected
      }.sum
      val freedom = classes.size - 1
      // Mean and deviation of the chi-squared distribution: five deviations off is no chance.
      assertTrue(statistic < freedom + 5 * math.sqrt(2.0 * freedom), s"s $s: $statistic with $freedom degrees of freedom")
    }

  @Test def theEndsOfTheIntervalAreTheEndsOfTheValues(): Unit =
    for (s <- Seq(0.0, 1.0, 3.0)) {
      val zipf = new Zipf(10, s)
      assertEquals(0, zipf.at(0), s"s $s")
      assertEquals(9, zipf.at(math.nextDown(1.0)), s"s $s")
      assertEquals(1, zipf.at(zipf.frequency(0)), s"s $s: a value's interval is open above")
    }
}
