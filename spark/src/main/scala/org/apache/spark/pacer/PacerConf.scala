package org.apache.spark.pacer

import java.nio.file.{Path, Paths}
import java.time.{DateTimeException, Duration, Instant, LocalDateTime, LocalTime, OffsetDateTime, ZonedDateTime, ZoneId}
import java.time.format.DateTimeFormatter
import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.{SPARK_VERSION, SparkConf, SparkException}
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.util.Utils

/**
 * What a Spark configuration says to Pacer, read and checked once.
 *
 * @param address         the planner's host:port, from the master URL or from spark.pacer.planner
 * @param deadline        seconds on the context's deadline clock, 0 for none
 * @param profile         the profile's name, "" for the application's name
 * @param requireFeasible refuse instead of warn
 * @param noWait          refuse instead of a place in the queue
 * @param leastNodes      on how many nodes it starts at least, 0 for the default
 * @param mostNodes       on how many nodes it has executors at most, 0 for as many as the planner gives
 * @param program         what runs, "" where that is not known
 * @param byMoment        whether the deadline was given as a moment
 * @param utcOffset       local time less UTC when the deadline is due, in seconds
 * @param submission      the key that makes a repeated registration harmless
 * @param submitted       when the wrapper was executed, epoch milliseconds
 * @param credentials     file with the user's credential
 * @param tlsCa           authorities of the NATS server's certificate, a file in PEM or what it has; with it the connection is secured
 * @param plaintext       whether a planner off loopback may be without that
 * @param mode            Control, Observe, Off or Endless, which is nobody's to set
 * @param watched         whether a pacer submit reports the driver's exit
 * @param jobClass        Interactive, Deadline or Batch, "" for the default
 * @param certainty       how likely it is to be in time
 * @param jobMost         the longest that a job or a SQL query may take, in seconds, 0 for no bound
 * @param copies          whether any task may have a second attempt beside the first: its user wants speculation
 * @param memoryWeight    its part of the off-heap memory that applications share
 * @param memoryFloor     the least of it that an executor has, in bytes
 * @param heapAuto        whether executors have the heap that earlier runs have shown to be enough
 * @param context         the number of this context of the JVM, from 0
 * @param before          how much of the submission's time had passed when it began, in seconds
 * @param shared          whether the deadline is the submission's, for all contexts that follow
 * @param output          how its jobs write into object stores
 */
private[spark] final case class PacerConf(
    address: String,
    deadline: Double,
    profile: String,
    requireFeasible: Boolean,
    submission: String,
    submitted: Option[Long],
    credentials: Option[Path],
    tlsCa: Option[String],
    mode: String = PacerConf.Control,
    watched: Boolean = false,
    jobClass: String = "",
    memoryWeight: Double = 1,
    memoryFloor: Long = 0,
    heapAuto: Boolean = false,
    noWait: Boolean = false,
    leastNodes: Int = 0,
    mostNodes: Int = 0,
    context: Int = 0,
    before: Double = 0,
    shared: Boolean = false,
    program: String = "",
    byMoment: Boolean = false,
    certainty: Double = 0,
    jobMost: Double = 0,
    copies: Boolean = false,
    utcOffset: Int = 0,
    plaintext: Boolean = false,
    output: String = ObjectOutput.Auto) {

  /** Whether it is to be held back until its deadline. */
  def paced: Boolean = deadline > 0 && mode == PacerConf.Control

  /** A line where the deadline's moment is past, which pacer submit says itself. */
  def pastDue: Option[String] = Option.when(byMoment && !watched && deadline <= PacerConf.LeastLeft)(
    s"${PacerConf.By} is past: the application is late and runs at all cores")

  /** For a session without an end ([[EndlessSession]]): without its deadline. */
  def withoutEnd: PacerConf = copy(deadline = 0, shared = false, byMoment = false,
    mode = if (mode == PacerConf.Off) mode else PacerConf.Endless)
}

/** It is for users: one line, without a stack trace that would be the same every time. */
private[spark] final class RefusedStartException(message: String) extends SparkException(message) {
  override def fillInStackTrace(): Throwable = this
  override def toString: String = message
}

private[spark] object PacerConf {
  val Scheme = "sparkpacer://"

  /** The planner's host:port, for an application whose executors another cluster manager starts. */
  val Planner = "spark.pacer.planner"

  /** Set for the executors of such an application: their nodes look for them. */
  val Attached = "spark.pacer.attached"
  val Deadline = "spark.pacer.deadline"
  val By = "spark.pacer.by"
  val Program = "spark.pacer.program"
  val Profile = "spark.pacer.profile"
  val RequireFeasible = "spark.pacer.requireFeasible"
  val Certainty = "spark.pacer.certainty"
  val JobMost = "spark.pacer.job.most"
  val NoWait = "spark.pacer.noWait"
  val LeastNodes = "spark.pacer.nodes.least"
  val MostNodes = "spark.pacer.nodes.most"
  val Submission = "spark.pacer.submission"
  val Submitted = "spark.pacer.submitted"
  val Watched = "spark.pacer.watched"
  val Credentials = "spark.pacer.credentials"
  val Mode = "spark.pacer.mode"
  val Class = "spark.pacer.class"

  // The modes, as in api/driver.go: paced; worked out and not held back; executors only; of a session without an end.
  val Control = "control"
  val Observe = "observe"
  val Off = "off"
  val Endless = "endless"
  private val Modes = Seq(Control, Observe, Off)

  // The classes, as in api/division.go.
  private val Classes = Seq("interactive", "deadline", "batch")

  /** The application's part of off-heap memory where it is shared, and the least of it per executor. */
  val MemoryWeight = "spark.pacer.memory.weight"
  val MemoryFloor = "spark.pacer.memory.floor"

  /** "auto" has executors start at the heap that earlier runs of the profile have shown to be enough. */
  val MemoryHeap = "spark.pacer.memory.heap"

  /** How jobs write into object stores ([[ObjectOutput]]). */
  val Output = "spark.pacer.output"

  /** The image of the executors' containers, in place of the nodes' own choice. */
  val Image = "spark.pacer.image"
  val TlsCa = "spark.pacer.tls.ca"
  val Plaintext = "spark.pacer.plaintext"

  private val Known = Set(Planner, Attached, Deadline, By, Program, Profile, RequireFeasible, Certainty, JobMost, NoWait, LeastNodes, MostNodes,
    Submission, Submitted, Watched, Credentials, Mode, Class, MemoryWeight, MemoryFloor, MemoryHeap, Output, Image, TlsCa, Plaintext,
    JobGroup.Deadline, JobGroup.By, JobGroup.Name)

  /** A line for each setting in Pacer's name that is none: a misspelt deadline is no deadline. */
  private def unknown(conf: SparkConf): Seq[String] =
    conf.getAll.map(_._1).filter(key => key.startsWith("spark.pacer.") && !Known(key)).sorted.toSeq
      .map(key => s"$key is set aside: there is no such setting")

  /** How likely a deadline is to be kept where nothing is said, as in api/profile.go. */
  private val UsualCertainty = 0.95

  /** Without a port in the master URL. */
  val DefaultPort = 4222

  /** The largest number of seconds that a planner takes (MostAmount of api/bounds.go). */
  private val MostSeconds = 1e15

  /** As many nodes as an application can have executors on, each with an id (api/bounds.go). */
  private val BoundOfNodes = 16384

  /** What waits for a paced stage must be ready to wait this long, in seconds. */
  private val Patience = 24L * 3600

  private val DynamicAllocation = Seq("spark.dynamicAllocation.enabled", "spark.streaming.dynamicAllocation.enabled")
    .map(_ -> "the planner chooses the executors")
  private val Speculation = "spark.speculation"
  private val AgainstPacing = Seq(Speculation -> "copies of many tasks work against pacing, Pacer copies a slow one that runs alone")
  private val ShuffleServices = Seq("spark.shuffle.service.enabled" -> "Pacer's nodes run none",
    "spark.shuffle.push.enabled" -> "it needs a shuffle service")
  private val Instances = "spark.executor.instances"
  private val LeastExecutors = "spark.dynamicAllocation.minExecutors"
  private val MostExecutors = "spark.dynamicAllocation.maxExecutors"
  private val Counts = Seq(Instances, "spark.cores.max")
  private val OffHeapEnabled = "spark.memory.offHeap.enabled"
  private val OffHeapSize = "spark.memory.offHeap.size"
  private val PageSize = "spark.buffer.pageSize"
  private val Heartbeat = "spark.executor.heartbeatInterval"
  private val DropZeroUpdates = "spark.executor.heartbeat.dropZeroAccumulatorUpdates"
  private val MinOverheadMiB = 384L

  /** When the submission was made, in epoch milliseconds, None where nothing says it. */
  def submitted(conf: SparkConf): Option[Long] = conf.getOption(Submitted).flatMap(_.trim.toLongOption)

  /** What is left at least of a deadline that has passed when a further context begins: it is late, and has one. */
  private val LeastLeft = 1e-3

  /**
   * Reads and checks; throws SparkException with one line that names every fault. A deadline that the
   * submission has counts from there, one that a context sets itself from its own start. With another
   * master than Pacer's the application is attached, and the planner's address a setting.
   */
  def parse(master: String, conf: SparkConf, here: DriverContext): PacerConf = {
    val faults = Seq.newBuilder[String]
    def get(key: String): Option[String] = conf.getOption(key).map(_.trim).filter(_.nonEmpty)
    def read[T](key: String, otherwise: T)(parse: String => Option[T], want: String): T =
      get(key).fold(otherwise) { text =>
        parse(text).getOrElse {
          faults += s"$key is '$text', want $want"
          otherwise
        }
      }
    val attached = get(Planner).filter(_ => !master.startsWith(Scheme))
    val address = parseAddress(attached.fold(master)(Scheme + _.stripPrefix(Scheme))).getOrElse {
      faults += attached.fold(s"master is '$master', want ${Scheme}host:port")(at => s"$Planner is '$at', want host:port")
      ""
    }
    val deadline = read(Deadline, 0.0)(parseSeconds(_).filter(_ > 0), "a time after the start such as 90s or 15m")
    val require = read(RequireFeasible, false)(_.toLowerCase(Locale.ROOT).toBooleanOption, "true or false")
    val plaintext = read(Plaintext, false)(_.toLowerCase(Locale.ROOT).toBooleanOption, "true or false")
    val noWait = read(NoWait, false)(_.toLowerCase(Locale.ROOT).toBooleanOption, "true or false")
    def nodes(key: String) = read(key, 0)(_.toIntOption.filter(n => n >= 1 && n <= BoundOfNodes), s"a whole number from 1 to $BoundOfNodes")
    val (least, most) = (nodes(LeastNodes), nodes(MostNodes))
    if (most > 0 && least > most) faults += s"$LeastNodes is $least, more than $MostNodes, $most"
    val certainty = read(Certainty, UsualCertainty)(_.toDoubleOption.filter(c => c >= 0.5 && c <= 0.99), "a number from 0.5 to 0.99")
    val jobMost = read(JobMost, 0.0)(parseSeconds(_).filter(s => s > 0 && s <= MostSeconds), "a time such as 90s or 15m")
    val mode = read(Mode, Control)(t => Some(t.toLowerCase(Locale.ROOT)).filter(Modes.contains), Modes.mkString(" or "))
    val jobClass = read(Class, "")(t => Some(t.toLowerCase(Locale.ROOT)).filter(Classes.contains), Classes.mkString(" or "))
    val submitted = read(Submitted, Option.empty[Long])(t => t.toLongOption.map(Some(_)), "milliseconds since 1970")
    val watched = read(Watched, false)(_.toLowerCase(Locale.ROOT).toBooleanOption, "true or false")
    val shared = Seq(Deadline, By).exists(key => get(key).exists(here.given(key).map(_.trim).contains))
    val start = if (shared) here.start - math.round(here.before * 1000) else here.start
    // A moment that is past is no mistake: an application of a chain that is behind is late, and has as good as nothing left.
    val by = read(By, 0.0)(secondsUntil(_, Instant.ofEpochMilli(start).atZone(ZoneId.systemDefault)).map(math.max(LeastLeft, _)),
      "a time of day such as 06:00, or a date and time such as 2026-01-31T06:00")
    if (by == LeastLeft && require) faults += s"$By is '${get(By).getOrElse("")}', which is past, and $RequireFeasible is set"
    val weight = read(MemoryWeight, 1.0)(_.toDoubleOption.filter(w => w >= 0.01 && w <= 100), "a number from 0.01 to 100")
    val floor = read(MemoryFloor, 0L)(size, "a size such as 512m or 2g")
    val heapAuto = read(MemoryHeap, false)(t => Option.when(t.toLowerCase(Locale.ROOT) == "auto")(true),
      "auto; a size of one's own is spark.executor.memory")
    val output = read(Output, ObjectOutput.Auto)(t => Some(t.toLowerCase(Locale.ROOT)).filter(ObjectOutput.Ways.contains), ObjectOutput.Ways.mkString(" or "))
    if (heapAuto && attached.nonEmpty) faults += s"$MemoryHeap is auto, and another cluster manager starts the executors"
    if (deadline > 0 && by > 0) faults += s"$Deadline and $By exclude each other"
    if (attached.isEmpty && get("spark.submit.deployMode").contains("cluster")) {
      faults += "deploy mode cluster is not supported: use --deploy-mode client"
    }
    val found = faults.result()
    if (found.nonEmpty) throw refuse(found.mkString("; "))
    val whole = math.max(deadline, by)
    val left = if (shared && here.before > 0) math.max(LeastLeft, whole - here.before) else whole
    PacerConf(address, left, get(Profile).getOrElse(""), require,
      get(Submission).getOrElse(DriverContexts.here.own), submitted, get(Credentials).map(Paths.get(_)),
      get(TlsCa), mode, watched, jobClass, weight, floor, heapAuto, noWait, least, most, here.number, here.before, shared,
      program = get(Program).getOrElse(program(get("spark.app.name").getOrElse(""), sys.env.get, sys.props.getOrElse("sun.java.command", ""))), byMoment = by > 0, certainty = certainty,
      jobMost = jobMost, copies = get(Speculation).exists(_.equalsIgnoreCase("true")), utcOffset = utcOffset(get(By), start, whole), plaintext = plaintext,
      output = output)
  }

  private val TimeOfDay = DateTimeFormatter.ofPattern("H:mm[:ss]")
  private val Moments = Seq("yyyy-MM-dd'T'H:mm[:ss]", "yyyy-MM-dd H:mm[:ss]").map(DateTimeFormatter.ofPattern)

  /**
   * The seconds from a start until the next such time of day, or until a date and time, which may be
   * past; None for any other text.
   */
  private[pacer] def secondsUntil(text: String, start: ZonedDateTime): Option[Double] = {
    def reading[T](parse: => T): Option[T] = try Some(parse) catch { case _: DateTimeException => None }
    val zone = start.getZone
    // Days are added by date, so that 06:00 is 06:00 after a change of clocks.
    val clock = reading(LocalTime.parse(text, TimeOfDay)).flatMap { t =>
      Seq(0L, 1L, 2L).map(days => start.toLocalDate.plusDays(days).atTime(t).atZone(zone)).find(_.isAfter(start))
    }
    val moment = clock.orElse(reading(OffsetDateTime.parse(text).toZonedDateTime))
      .orElse(Moments.flatMap(f => reading(LocalDateTime.parse(text, f).atZone(zone))).headOption)
    moment.map(m => Duration.between(start, m).toMillis / 1e3)
  }

  /** Names that Airflow gives each application to which nobody gives one; profiles.Unnamed of the Go module has the same. */
  private val Unnamed = Set("arrow-spark", "airflow-spark", "default-name", "airflow-spark-jdbc")

  /** Options of spark-submit that have no value. */
  private val Flags = Set("--verbose", "-v", "--supervise", "--load-spark-defaults")

  /**
   * What runs, as far as it names a profile: under a name that is nobody's the task of Airflow, else the class or file of
   * the command line; under any other name the script of spark-sql.
   */
  private[pacer] def program(name: String, env: String => Option[String], command: String): String = {
    @annotation.tailrec
    def main(words: List[String]): Option[String] = words match {
      case "--class" :: name :: _ => Some(name)
      case flag :: rest if Flags(flag) => main(rest)
      case option :: _ :: rest if option.startsWith("-") => main(rest)
      case file :: _ => Some(file)
      case Nil => None
    }
    val words = command.split(' ').filter(_.nonEmpty).toList
    val here = script(command).orElse(Option.when(Unnamed(name) && words.headOption.exists(_.endsWith(".SparkSubmit")))(words.tail).flatMap(main))
    val task = for (dag <- env("AIRFLOW_CTX_DAG_ID"); task <- env("AIRFLOW_CTX_TASK_ID") if Unnamed(name)) yield s"$dag.$task"
    task.orElse(here).getOrElse("")
  }

  private val Script = """.*\.SparkSQLCLIDriver .*?-f (\S+).*""".r

  /** The script of a spark-sql that was started by itself, from the JVM's command line. */
  private[pacer] def script(command: String): Option[String] = command match {
    case Script(file) => Try(Paths.get(file).toAbsolutePath.toString).toOption
    case _ => None
  }

  /**
   * Local time less UTC, in seconds, when a deadline is due: clocks may change until then. A moment that
   * has its own says it, for the JVM's zone need not be its user's.
   */
  private[pacer] def utcOffset(by: Option[String], start: Long, deadline: Double, zone: ZoneId = ZoneId.systemDefault): Int =
    by.flatMap(t => Try(OffsetDateTime.parse(t).getOffset).toOption)
      .getOrElse(zone.getRules.getOffset(Instant.ofEpochMilli(start + (math.min(deadline, Patience * 366.0) * 1000).toLong))).getTotalSeconds

  /** Throws SparkException unless version is one that this jar works with. */
  def checkSpark(version: String): Unit =
    if (!version.matches("4\\.[0-3]\\..*")) throw refuse(s"Spark $version is not supported: Pacer works with Spark 4.0 to 4.3")

  /** The exception by which Pacer ends a start. */
  def refuse(message: String): SparkException = new RefusedStartException("pacer: " + message)

  private def parseAddress(master: String): Option[String] = {
    val rest = master.stripPrefix(Scheme).stripSuffix("/")
    if (!master.startsWith(Scheme) || rest.isEmpty || rest.exists(c => c == '/' || c == ' ' || c == ',')) {
      None
    } else if ("^(\\[[^\\]]+\\]|[^:]+)$".r.matches(rest)) {
      Some(s"$rest:$DefaultPort")
    } else {
      Some(rest).filter("^(\\[[^\\]]+\\]|[^:]+):\\d{1,5}$".r.matches(_))
    }
  }

  private val Units = Map("us" -> 1e-6, "ms" -> 1e-3, "s" -> 1.0, "m" -> 60.0, "min" -> 60.0, "h" -> 3600.0, "d" -> 86400.0)
  private val Part = "(\\d+(?:\\.\\d+)?)(us|ms|s|min|m|h|d)".r

  /** Reads 90s, 15m, 1h30m, 1.5h or a plain number of seconds. */
  private[pacer] def parseSeconds(text: String): Option[Double] = {
    val lower = text.trim.toLowerCase(Locale.ROOT).replace(" ", "")
    if (lower.matches(s"(${Part.regex})+")) {
      Some(Part.findAllMatchIn(lower).map(m => m.group(1).toDouble * Units(m.group(2))).sum)
    } else {
      lower.toLongOption.map(_.toDouble).filter(_ >= 0)
    }
  }

  /**
   * Sets what a paced application needs, unless the user set it, and sets aside
   * what would work against it. In mode off only what Pacer cannot give is set
   * aside: the choice of executors, a shuffle service. To be called before the scheduler reads the
   * configuration. Returns the lines to warn with, one per setting.
   */
  def complete(conf: SparkConf, deadline: Double, mode: String = Control): Seq[String] = {
    if (mode != Off) prepare(conf, deadline)
    unknown(conf) ++ switchOff(conf, DynamicAllocation ++ ShuffleServices ++ (if (mode != Off) AgainstPacing else Nil)) ++ Counts.filter(conf.contains).map { key =>
      conf.remove(key)
      s"$key is set aside: the planner chooses the executors"
    } ++ ExecutorSettings.setAside(conf)
  }

  private def switchOff(conf: SparkConf, switches: Seq[(String, String)]): Seq[String] =
    switches.filter { case (key, _) => conf.getBoolean(key, false) }.map { case (key, why) =>
      conf.set(key, "false")
      s"$key is switched off: $why"
    }

  /** How many executors the user allows an attached application, at least 1 and at most; 0 is no bound. */
  def executors(conf: SparkConf): (Int, Int) = {
    val fixed = if (conf.getBoolean(DynamicAllocation.head._1, false)) 0 else conf.getInt(Instances, 0)
    val most = conf.getInt(MostExecutors, fixed)
    val bound = if (most > 0 && most <= BoundOfNodes) most else 0
    val least = math.max(1, math.min(conf.getInt(LeastExecutors, 1), BoundOfNodes))
    (if (bound > 0) math.min(least, bound) else least, bound)
  }

  /**
   * The same as complete for an attached application. What its cluster has stays, such as a shuffle service; that
   * it asks for as many executors as Spark would, until the planner says how many, too.
   */
  def attach(conf: SparkConf, settings: PacerConf): Seq[String] = {
    conf.set(Attached, "true")
    unknown(conf) ++ (if (!settings.paced) Nil else {
      prepare(conf, settings.deadline)
      if (conf.getBoolean(DynamicAllocation.head._1, false)) {
        val first = Seq("spark.dynamicAllocation.initialExecutors", LeastExecutors, Instances).map(conf.getInt(_, 1)).max
        conf.set(Instances, first.toString)
      }
      switchOff(conf, DynamicAllocation ++ AgainstPacing)
    })
  }

  private def prepare(conf: SparkConf, deadline: Double): Unit = {
    val patience = math.max(Patience, math.ceil(deadline).toLong)
    // A stage-bound stage gains nothing by waiting for another executor's cache (docs/spark.md, S11).
    conf.setIfMissing("spark.locality.wait", "0s")
    // Timeouts that count on full speed.
    conf.setIfMissing("spark.sql.broadcastTimeout", patience.toString)
    conf.setIfMissing("spark.python.authenticate.socketTimeout", s"${patience}s")
    // Executors of a node that is drained hand their blocks on before they go.
    Seq("spark.decommission.enabled", "spark.storage.decommission.enabled",
      "spark.storage.decommission.shuffleBlocks.enabled", "spark.storage.decommission.rddBlocks.enabled")
      .foreach(conf.setIfMissing(_, "true"))
    // How often such an executor looks whether all is handed on; Spark's 30 s keep the node waiting.
    conf.setIfMissing("spark.storage.decommission.replicationReattemptInterval", "1s")
    // What is fetched from a node that has gone without a word does not come: Spark's 2 minutes,
    // for each of four tries, are longer than most deadlines can wait.
    if (!conf.contains("spark.network.timeout")) conf.setIfMissing("spark.shuffle.io.connectionTimeout", "30s")
    conf.setIfMissing("spark.shuffle.io.connectionCreationTimeout", "10s")
    beatOften(conf)
    if (heartbeatsEnd(SPARK_VERSION)) conf.setIfMissing(DropZeroUpdates, "false")
    val plugins = Utils.stringToSeq(conf.get("spark.plugins", ""))
    if (!plugins.contains(classOf[PacerPlugin].getName)) {
      conf.set("spark.plugins", (plugins :+ classOf[PacerPlugin].getName).mkString(","))
    }
  }

  /**
   * Executors beat every 2 s, so that one which is lost is not heard for 5 s and not for 15
   * ([[org.apache.spark.scheduler.pacer.LastHeard]]). One ends itself after so many beats
   * without an answer, each of which it waits for as long as a beat: after Spark's 10 minutes.
   */
  private def beatOften(conf: SparkConf): Unit = if (!conf.contains(Heartbeat)) {
    conf.set(Heartbeat, "2s")
    conf.setIfMissing("spark.executor.heartbeat.maxFailures", "300")
  }

  /**
   * Whether an executor's heartbeats of this Spark ask accumulators that are not read whole yet whether
   * they are zero: an exception ends them for good (docs/spark.md, S80).
   */
  private[pacer] def heartbeatsEnd(version: String): Boolean = version.matches("4\\.[0-2]\\..*")

  /** Gives executors the off-heap memory that the planner chose, if it had the choice. */
  def giveOffHeap(conf: SparkConf, bytes: Long): Unit = if (!offHeapFixed(conf) && bytes > 0) {
    conf.set(OffHeapEnabled, "true")
    conf.set(OffHeapSize, s"${bytes}b")
    // A task holds whole pages: with Spark's own size the floor would be many times as high.
    conf.setIfMissing(PageSize, "1m")
  }

  /** The size of a task's pages in bytes, 0 unless the user set it. */
  def offHeapPage(conf: SparkConf): Long = conf.getSizeAsBytes(PageSize, "0")

  /** The user's own off-heap memory per executor in bytes, 0 for none. */
  def offHeap(conf: SparkConf): Long =
    if (conf.getBoolean(OffHeapEnabled, false)) conf.getSizeAsBytes(OffHeapSize, "0") else 0L

  /** Whether the user chose it. */
  def offHeapFixed(conf: SparkConf): Boolean = conf.contains(OffHeapEnabled) || conf.contains(OffHeapSize)

  /**
   * An executor's memory besides heap and off-heap, in bytes: as Spark computes it
   * for containers, more where there may be Python workers, with what these get by
   * spark.executor.pyspark.memory.
   */
  def overhead(conf: SparkConf, heapBytes: Long, python: Boolean = pythonDriver): Long =
    conf.getOption("spark.executor.pyspark.memory").map(mib).getOrElse(0L) + nativeOverhead(conf, heapBytes, python)

  /** Whether a Python program drives this JVM: its executors may have Python workers. */
  private def pythonDriver: Boolean = {
    val entrances = Seq("org.apache.spark.deploy.PythonRunner", "org.apache.spark.api.python.PythonGatewayServer")
    Thread.getAllStackTraces.values.asScala.exists(_.exists(f => entrances.exists(f.getClassName.startsWith)))
  }

  private def nativeOverhead(conf: SparkConf, heapBytes: Long, python: Boolean): Long =
    conf.getOption("spark.executor.memoryOverhead").map(mib) match {
      case Some(bytes) => bytes
      case None =>
        val factor = conf.getDouble("spark.executor.memoryOverheadFactor", if (python) 0.4 else 0.1)
        val least = conf.getOption("spark.executor.minMemoryOverhead").map(mib).getOrElse(MinOverheadMiB << 20)
        math.max((heapBytes * factor).toLong, least)
    }

  /** Reads a size in bytes where it has no unit. */
  private def size(text: String): Option[Long] =
    try Some(JavaUtils.byteStringAsBytes(text)).filter(_ >= 0) catch { case _: NumberFormatException | _: IllegalArgumentException => None }

  /** Reads a size that counts MiB where it has no unit; returns bytes. */
  private def mib(text: String): Long = JavaUtils.byteStringAsMb(text) << 20
}
