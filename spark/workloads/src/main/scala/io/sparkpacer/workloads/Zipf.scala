package io.sparkpacer.workloads

import java.util.Arrays

/**
 * Zipf's law over n values: the value of rank k is drawn with a frequency of
 * (1/k^^s^^) / (1/1^^s^^ + ... + 1/n^^s^^), k from 1 to n. With s = 0 all are as
 * frequent. (Baresi et al., section 7.1.1.)
 *
 * Safe for concurrent use; it is small enough to be broadcast.
 */
final class Zipf(n: Int, s: Double) extends Serializable {
  require(n > 0 && s >= 0, s"Zipf($n, $s)")

  /** For each rank the share of it and the ranks before; empty when that needs no table. */
  private val upTo: Array[Double] = if (s == 0) Array.empty else {
    val sums = Array.tabulate(n)(k => math.pow(k + 1.0, -s)).scanLeft(0.0)(_ + _).tail
    sums.map(_ / sums.last)
  }

  /** The value, from 0 (the most frequent) to n - 1, for a u uniform in [0, 1). */
  def at(u: Double): Int = if (s == 0) (u * n).toInt else {
    val i = Arrays.binarySearch(upTo, u)
    // A value owns [the shares before, its own sum), so an exact hit is the next one's.
    if (i >= 0) i + 1 else -i - 1
  }

  /** The frequency of a value. */
  def frequency(value: Int): Double =
    if (s == 0) 1.0 / n else upTo(value) - (if (value == 0) 0 else upTo(value - 1))
}
