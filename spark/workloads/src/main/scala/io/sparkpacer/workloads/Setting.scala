package io.sparkpacer.workloads

/**
 * A setting of a workload, given as `--name VALUE`.
 *
 * @param default what holds when it is not given; of a size, its value at scale 1
 * @param least   smallest value that is taken
 * @param most    largest value that is taken
 * @param whole   only whole numbers are taken
 * @param scaled  it is a size, which --scale multiplies
 */
final case class Setting(
    name: String,
    default: Double,
    least: Double,
    most: Double,
    meaning: String,
    whole: Boolean = true,
    scaled: Boolean = false) {

  /** The value that a user wrote, or what is wrong with it. */
  def read(text: String): Either[String, Double] =
    text.toDoubleOption.filter(v => v >= least && v <= most && (!whole || v == v.floor)).toRight(
      s"--$name $text: want a ${if (whole) "whole " else ""}number from ${Setting.show(least)} to ${Setting.show(most)}")
}

object Setting {
  /** A number as a user would write it. */
  def show(v: Double): String = if (v == v.floor && v.abs < 1e15) v.toLong.toString else v.toString
}
