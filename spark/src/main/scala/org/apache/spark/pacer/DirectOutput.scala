package org.apache.spark.pacer

import scala.collection.immutable.SortedSet

/**
 * The names of the direct protocol, by which tasks write where a job's output is to be and nothing is copied. All of
 * it is pure. DS is the directory of the output, X an attempt, and a job's id the one that Spark gives each
 * job that writes (`JobKey`).
 *
 *  1. What Hadoop's committer calls `DS/_temporary/0/_temporary/attempt_X/part-N.ext` is written as
 *     `DS/part-N_attempt_X.ext`.
 *  2. An attempt that commits puts one empty mark, `DS/_done-ID-attempt_X`. Only its job deletes its files
 *     from then on. One that aborts before deletes its files, and has no mark.
 *  3. The job lists DS once, takes one marked attempt of each task, and writes `DS/_SUCCESS` with the attempts that
 *     it has taken: at that moment it is committed. Then it deletes its marks, and files of its other attempts.
 *  4. A reader leaves out files of attempts that no manifest names.
 */
private[pacer] object DirectOutput {
  /** Where Spark says the id of a job that writes; a job without one is not written directly. */
  val JobKey = "spark.sql.sources.writeJobUUID"
  val Success = "_SUCCESS"
  private val Head = "# spark.pacer.output=direct: the attempts whose files count"

  private val X = "attempt_\\w+_\\d+_[a-z]_\\d+_\\d+"
  private val Temporary = s"(.+?)/_temporary(/\\d+(?:/_temporary(?:/($X)(?:/(.+))?)?|/(task_\\w+)(?:/.+)?)?)?".r
  private val Written = s"[^/]+?_($X)(?:\\.[^/]*)?".r
  private val Mark = s"_done-(.+?)-($X)".r
  private val Hidden = "/[._]".r

  /** What a path is in the protocol. */
  sealed trait Place
  /** An attempt's directory, or what is below. */
  final case class OfAttempt(output: String, attempt: String, below: Option[String]) extends Place
  /** A committed task's directory, or what is below. */
  final case class OfTask(output: String) extends Place
  /** One of the job's own temporary directories, whole the one that has all others. */
  final case class OfJob(output: String, whole: Boolean) extends Place
  /** A temporary path of output that is on its way to elsewhere, as below `.spark-staging-ID`: it goes the classic way. */
  case object Classic extends Place
  case object Outside extends Place

  def place(path: String): Place = path match {
    case Temporary(output, _, _, _, _) if Hidden.findFirstIn(output).isDefined => Classic
    case Temporary(output, _, attempt, below, _) if attempt != null => OfAttempt(output, attempt, Option(below))
    case Temporary(output, _, _, _, task) if task != null => OfTask(output)
    case Temporary(output, rest, _, _, _) => OfJob(output, whole = rest == null)
    case _ => Outside
  }

  /** The name below DS of an attempt's file: the attempt stands before the first dot. */
  def written(attempt: String, below: String): String = {
    val dot = below.indexOf('.', below.lastIndexOf('/') + 2)
    val end = if (dot < 0) below.length else dot
    s"${below.take(end)}_$attempt${below.drop(end)}"
  }

  /** The attempt that has written a file, by its name. */
  def attemptOf(name: String): Option[String] = name match {
    case Written(attempt) if !name.startsWith("_") => Some(attempt)
    case _ => None
  }

  def mark(job: String, attempt: String): String = s"_done-$job-$attempt"

  private def manifest(attempts: Set[String]): String = (Head +: SortedSet.from(attempts).toSeq).mkString("", "\n", "\n")

  /** The attempts of a manifest, None of a `_SUCCESS` that is another committer's. */
  def attempts(manifest: String): Option[Set[String]] =
    Option.when(manifest.startsWith(Head))(manifest.linesIterator.drop(1).filter(_.nonEmpty).toSet)

  /** Where manifests are that may name files of a directory: there, and above while directories are partitions. */
  def manifestsOf(directory: String): Seq[String] = {
    val cut = directory.lastIndexOf('/')
    s"$directory/$Success" +: (if (directory.drop(cut + 1).contains('=')) manifestsOf(directory.take(cut)) else Nil)
  }

  /** What a job makes of what it has found: its manifest, and the names that it then deletes. */
  final case class End(manifest: String, leftovers: Seq[String])

  /**
   * @param found   names below DS, with the directories of partitions
   * @param earlier the attempts that DS's manifest names already, of which those with files stay
   */
  def commit(job: String, found: Seq[String], earlier: Set[String]): End = {
    val (marks, files) = ofJob(job, found)
    val taken = marks.map(_._2).groupBy(taskOf).values.map(_.maxBy(numberOf)).toSet
    val kept = found.flatMap(attemptIn).filter(earlier)
    End(manifest(taken ++ kept), marks.map(_._1) ++ files.collect { case (name, attempt) if !taken(attempt) => name })
  }

  /** What a job that is given up deletes: its marks and its files, unless its manifest names them. */
  def abort(job: String, found: Seq[String], named: Set[String]): Seq[String] = {
    val (marks, files) = ofJob(job, found)
    marks.map(_._1) ++ files.collect { case (name, attempt) if !named(attempt) => name }
  }

  /** A job's marks and files with their attempts, all of which begin alike. */
  private def ofJob(job: String, found: Seq[String]) = {
    val marks = found.collect { case name @ Mark(`job`, attempt) => name -> attempt }
    val own = marks.map { case (_, attempt) => jobOf(attempt) }.toSet
    (marks, for (name <- found; attempt <- attemptIn(name) if own(jobOf(attempt))) yield name -> attempt)
  }

  private def attemptIn(name: String): Option[String] = attemptOf(name.drop(name.lastIndexOf('/') + 1))
  private def taskOf(attempt: String): String = attempt.take(attempt.lastIndexOf('_'))
  private def numberOf(attempt: String): Long = attempt.drop(attempt.lastIndexOf('_') + 1).toLong
  private def jobOf(attempt: String): String = attempt.split('_').dropRight(3).mkString("_")
}
