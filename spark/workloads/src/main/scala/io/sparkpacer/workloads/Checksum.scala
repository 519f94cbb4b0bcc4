package io.sparkpacer.workloads

import java.util.Locale

import scala.util.hashing.MurmurHash3

/**
 * What answers are compared by: of exact data a sum of hashes, in any order; of
 * floating-point sums, whose last digits depend on the order of addition, the first
 * digits.
 */
object Checksum {
  /** A 64-bit hash of a pair. */
  def of(key: Any, value: Any): Long = {
    val pair = (key.##, value.##)
    (MurmurHash3.mixLast(MurmurHash3.mix(0x5eed, pair._1), pair._2).toLong << 32) ^ MurmurHash3.mix(MurmurHash3.mix(0x1dea, pair._2), pair._1)
  }

  /** A sum of hashes as text. */
  def text(sum: Long): String = f"$sum%016x"

  /** Numbers to six digits. */
  def text(values: Iterable[Double]): String =
    values.map(v => String.format(Locale.ROOT, "%.5e", Double.box(if (v == 0) 0.0 else v))).mkString(",")
}
