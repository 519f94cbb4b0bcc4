package org.apache.spark.pacer

/** Lines for the user, beside Spark's log. */
private[spark] object Stderr {
  // scalastyle:off println
  def say(line: String): Unit = System.err.println("pacer: " + line)
  // scalastyle:on println
}
