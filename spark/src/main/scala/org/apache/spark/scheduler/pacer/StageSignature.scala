package org.apache.spark.scheduler.pacer

import java.security.MessageDigest

import org.apache.spark.rdd.RDD

/** By what a stage is recognised in another run. */
private[scheduler] object StageSignature {
  /**
   * A hash that is the same for the same code in every run: the RDDs' kinds and
   * scopes, where the action was called (method and file, no line), what the stage
   * is for, and the signatures of what it reads. No ids.
   */
  def of(shuffleMap: Boolean, name: String, rdds: Seq[RDD[_]], parents: Seq[String]): String =
    digest(kind(shuffleMap) +: callSite(name) +: (rdds.map(kind) ++ parents))

  /** Of a stage of which nothing is known but its name. */
  def of(name: String): String = digest(callSite(name))

  /**
   * A signature without the call site. PySpark tells that of one thread at a time: of two jobs
   * that start at once the second one has another name, and which that is differs from run to run.
   */
  def lineage(shuffleMap: Boolean, rdds: Seq[RDD[_]], parents: Seq[String]): String =
    digest(kind(shuffleMap) +: (rdds.map(kind) ++ parents))

  private def kind(shuffleMap: Boolean): String = if (shuffleMap) "map" else "result"

  /** Adaptive execution merges, splits and reads locally what a shuffle holds, by one kind of RDD in two scopes. */
  private def kind(r: RDD[_]): String = r.getClass.getSimpleName match {
    case "ShuffledRowRDD" => "ShuffledRowRDD/AQEShuffleRead"
    case other => plain(other) + "/" + plain(r.scope.map(_.name).getOrElse(""))
  }

  /** "collect at /tmp/x/app.py:33" without directory, line and compiler's numbers. */
  private[pacer] def callSite(name: String): String = name match {
    case CallSite(method, file) => plain(method) + " at " + plain(file.split('/').last)
    case other => plain(other)
  }

  private val CallSite = "(.*) at (.*?)(?::\\d+)?".r

  /** Without numbers that Spark and compilers add ("WholeStageCodegen (12)", "$anonfun$run$3"), and blinded. */
  private def plain(s: String): String = Blinded(s.replaceAll("\\s*\\(\\d+\\)|\\$\\d+|#\\d+", ""))

  def digest(parts: Seq[String]): String = digest(parts.mkString("\n"))

  private def digest(s: String): String =
    MessageDigest.getInstance("SHA-256").digest(s.getBytes("UTF-8")).take(8).map(b => f"${b & 0xff}%02x").mkString
}
