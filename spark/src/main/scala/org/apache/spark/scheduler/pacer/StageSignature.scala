package org.apache.spark.scheduler.pacer

import java.security.MessageDigest

import org.apache.spark.rdd.RDD
import org.apache.spark.util.Utils

/**
 * By what a stage is recognised in another run. profiles.StageCode of the Go module makes the same of an event log,
 * so that nothing may go into it that no log has.
 */
private[spark] object StageSignature {
  /**
   * An RDD as an event log has it.
   *
   * @param name the one that it was given, else its class
   * @param root whether it depends on no other one
   */
  final case class Kind(name: String, scope: String, root: Boolean) {
    /**
     * Without what differs from run to run. A name that is no class hides the one that there is: Spark itself names what
     * reads a file, and what it maps. Adaptive execution merges, splits and reads locally what a shuffle holds, by one
     * kind of RDD in two scopes.
     */
    def text: String = name match {
      case "ShuffledRowRDD" => "ShuffledRowRDD/AQEShuffleRead"
      case ClassLike() => plain(name) + "/" + plain(scope)
      case _ => (if (root) "HadoopRDD/" else "MapPartitionsRDD/") + plain(scope)
    }
  }

  def kind(r: RDD[_]): Kind = Kind(Option(r.name).getOrElse(Utils.getFormattedClassName(r)),
    r.scope.map(_.name).getOrElse(""), r.dependencies.isEmpty)

  private val ClassLike = "[A-Za-z_][A-Za-z0-9_]*".r

  /**
   * A hash that is the same for the same code in every run: the RDDs' kinds and
   * scopes, where the action was called (method and file, no line), what the stage
   * is for, and the signatures of what it reads. No ids.
   */
  def of(shuffleMap: Boolean, name: String, rdds: Seq[Kind], parents: Seq[String]): String =
    digest(writes(shuffleMap) +: callSite(name) +: (rdds.map(_.text) ++ parents))

  /** Of a stage of which nothing is known but its name. */
  def of(name: String): String = digest(callSite(name))

  /**
   * A signature without the call site. PySpark tells that of one thread at a time: of two jobs
   * that start at once the second one has another name, and which that is differs from run to run.
   */
  def lineage(shuffleMap: Boolean, rdds: Seq[Kind], parents: Seq[String]): String =
    digest(writes(shuffleMap) +: (rdds.map(_.text) ++ parents))

  private def writes(shuffleMap: Boolean): String = if (shuffleMap) "map" else "result"

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
