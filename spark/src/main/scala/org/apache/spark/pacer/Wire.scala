package org.apache.spark.pacer

import java.nio.charset.StandardCharsets

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

/**
 * The driver's part of Pacer's wire schema: the same messages as api/driver.go,
 * version 1, as JSON. Encoding writes the names of the Go tags; decoding is
 * lenient (unknown fields are skipped, absent ones are zero), so that a planner
 * of the same version may add fields.
 */
private[spark] object Wire {
  val Version = 1

  /** A count that nobody knows. */
  val Unknown = -1L

  // Error kinds, api/errors.go.
  val KindInternal = 0
  val KindInvalid = 1
  val KindNotFound = 2
  val KindInfeasible = 3
  val KindConflict = 4
  val KindTransient = 6
  val KindVersion = 7
  val KindDenied = 8

  final case class StageKey(stage: Int, attempt: Int)

  /** What is the same for all executors of an application. */
  final case class Launch(
      driverUrl: String,
      sparkHome: String,
      javaHome: String,
      sparkVersion: String,
      cores: Int,
      heapBytes: Long,
      overheadBytes: Long,
      offHeapBytes: Long,
      offHeapFixed: Boolean,
      offHeapFloor: Long,
      offHeapWeight: Double,
      offHeapPage: Long,
      javaOptions: Seq[String],
      classPath: Seq[String],
      env: Map[String, String],
      image: String = "",
      taskCpus: Double = 1,
      heapAuto: Boolean = false,
      attach: Option[Attach] = None)

  /**
   * An application whose executors a cluster manager starts, "yarn" or "k8s", under Spark's id of it; the planner
   * says how many it asks for, most 0 is without a bound. The secret is that of [[AttachedProof]].
   */
  final case class Attach(manager: String, app: String, least: Int, most: Int, secret: String)

  final case class Register(
      submission: String,
      name: String,
      profile: String,
      user: String,
      deadline: Double,
      elapsed: Double,
      requireFeasible: Boolean,
      launch: Launch,
      appId: String,
      mode: String,
      watched: Boolean = false,
      utcOffset: Int = 0,
      program: String = "",
      byMoment: Boolean = false,
      jobClass: String = "",
      noWait: Boolean = false,
      key: String = "",
      executors: Int = 0,
      planner: String = "",
      context: Int = 0,
      before: Double = 0,
      shared: Boolean = false,
      leastNodes: Int = 0,
      mostNodes: Int = 0,
      uiWebUrl: String = "",
      certainty: Double = 0,
      jobMost: Double = 0)

  /**
   * An executor of the pool; one that is leaving takes no new tasks and is decommissioned. Of
   * the node of one with nodeLost the planner hears nothing. The memory of one that is taken is taken back: its node
   * stops it in a moment.
   */
  final case class DirectiveExecutor(id: String, node: String, cores: Double, leaving: Boolean = false, nodeLost: Boolean = false,
      perStage: Int = 1, taken: Boolean = false)

  /** A running stage's tasks divided anew, by executor in tasks; each rev is followed once. */
  final case class StageShares(key: StageKey, rev: Long, weights: Map[String, Double])

  /** Where the application waits for memory; start is on the deadline clock, 0 when not known. */
  final case class Queued(place: Int, of: Int, start: Double)

  final case class Directive(
      epoch: Long,
      gated: Boolean,
      executors: Seq[DirectiveExecutor],
      notice: String,
      dead: String = "",
      shares: Seq[StageShares] = Nil,
      queued: Option[Queued] = None,
      wanted: Int = 0,
      wantedOn: Seq[String] = Nil,
      pool: String = "")

  final case class Fault(kind: Int, message: String)

  final case class Registered(
      appId: String,
      verdict: String,
      reason: String,
      executors: Int,
      slots: Int,
      offHeapBytes: Long,
      directive: Directive,
      ackedSeq: Long,
      fixedPart: Map[String, Double] = Map.empty,
      own: Boolean = false,
      recall: Boolean = false,
      planner: String = "")

  final case class Acknowledged(ackedSeq: Long, directive: Directive)

  /** An executor's share of a stage: weight is in tasks, the mean one weighs 1. */
  final case class Binding(executor: String, weight: Double, tasks: Int)

  /** Something that happened in the driver. */
  sealed trait DriverEvent

  /** Where it runs and what it has is told of one that a cluster manager has started; container may be its pod. */
  final case class ExecutorUp(id: String, host: String = "", cores: Int = 0, memory: Long = 0, container: String = "",
      machine: String = "") extends DriverEvent
  final case class ExecutorGone(id: String, reason: String) extends DriverEvent
  final case class StageReady(
      key: StageKey,
      job: Int,
      name: String,
      signature: String,
      parents: Seq[Int],
      tasks: Int,
      records: Long,
      bytes: Long,
      weighted: Boolean,
      bindings: Seq[Binding],
      repeats: Option[Int] = None,
      lineage: String = "",
      query: Option[QueryStage] = None,
      pool: String = "") extends DriverEvent

  /**
   * The place of a stage in a SQL query: the query's number in its run, the hash of its plan's
   * shape, how many of that shape came before, and the ordinal of the operator whose output the
   * stage hands on, QueryStage.Result for what the query returns.
   */
  final case class QueryStage(execution: Long, shape: String, nth: Int, exchange: Int)
  object QueryStage {
    val Result = -1
  }
  final case class StageBound(key: StageKey, bindings: Seq[Binding]) extends DriverEvent
  final case class StageDone(
      key: StageKey,
      failed: Boolean,
      reason: String,
      tasks: Int,
      recordsRead: Long,
      recordsWritten: Long,
      bytesRead: Long,
      bytesWritten: Long,
      bytesRemote: Long,
      bytesCached: Long,
      taskCpu: Double,
      taskTime: Double,
      longestTask: Double,
      firstLaunch: Double,
      lastFinish: Double,
      fixedPart: Double,
      taskCost: Double) extends DriverEvent
  /** A SQL query that had stages has ended. */
  final case class QueryEnded(execution: Long) extends DriverEvent
  /** A part of a session: jobs of a group with a deadline of its own have begun, or all are over, at a moment of the deadline clock. */
  final case class PartBegan(at: Double, name: String, deadline: Double, byMoment: Boolean) extends DriverEvent
  final case class PartOver(at: Double, failed: Boolean) extends DriverEvent
  final case class Unpaced(reason: String) extends DriverEvent
  final case class End(failed: Boolean, reason: String) extends DriverEvent

  /** The last word of a driver; clean: it proves that its exit code is 0. */
  final case class Exit(clean: Boolean, failed: Boolean, reason: String) extends DriverEvent

  /** A driver event with its number and its time on the deadline clock. */
  final case class Event(seq: Long, at: Double, what: DriverEvent)

  private val mapper = new ObjectMapper()

  def encode(r: Register): Array[Byte] = {
    val o = message()
    o.put("submission", r.submission).put("name", r.name).put("profile", r.profile).put("user", r.user)
      .put("deadline_s", r.deadline).put("elapsed_s", r.elapsed)
      .put("require_feasible", r.requireFeasible).put("no_wait", r.noWait).put("mode", r.mode).put("class", r.jobClass)
    if (r.leastNodes > 0 || r.mostNodes > 0 || r.launch.heapAuto) {
      val nodes = o.putObject("nodes")
      if (r.launch.heapAuto) nodes.put("heap_auto", true)
      if (r.leastNodes > 0) nodes.put("least", r.leastNodes)
      if (r.mostNodes > 0) nodes.put("most", r.mostNodes)
    }
    val l = o.putObject("launch")
    launch(l, r.launch)
    if (r.certainty > 0) l.put("certainty", r.certainty)
    if (r.jobMost > 0) l.put("job_most_s", r.jobMost)
    o.put("app_id", r.appId).put("watched", r.watched).put("utc_offset_s", r.utcOffset)
    if (r.program.nonEmpty) o.put("program", r.program)
    if (r.byMoment) o.put("by_moment", true)
    if (r.key.nonEmpty) o.put("key", r.key)
    if (r.executors > 0) o.put("executors", r.executors)
    if (r.planner.nonEmpty) o.put("planner", r.planner)
    if (r.context > 0) o.put("context", r.context).put("before_s", r.before)
    if (r.shared) o.put("deadline_shared", true)
    if (r.uiWebUrl.nonEmpty && r.uiWebUrl.length <= MostName) o.put("ui_web_url", r.uiWebUrl)
    bytes(o)
  }

  private def launch(o: ObjectNode, l: Launch): Unit = {
    o.put("driver_url", l.driverUrl).put("spark_home", l.sparkHome).put("java_home", l.javaHome)
      .put("spark_version", l.sparkVersion).put("cores", l.cores).put("heap_bytes", l.heapBytes)
      .put("overhead_bytes", l.overheadBytes).put("offheap_bytes", l.offHeapBytes)
      .put("offheap_fixed", l.offHeapFixed)
    if (l.offHeapFloor > 0) o.put("offheap_floor_bytes", l.offHeapFloor)
    if (l.offHeapWeight != 1) o.put("offheap_weight", l.offHeapWeight)
    if (l.offHeapPage > 0) o.put("offheap_page_bytes", l.offHeapPage)
    val options = o.putArray("java_options")
    l.javaOptions.foreach(options.add(_))
    val path = o.putArray("class_path")
    l.classPath.foreach(path.add(_))
    val env = o.putObject("env")
    l.env.toSeq.sorted.foreach { case (k, v) => env.put(k, v) }
    if (l.image.nonEmpty) o.put("image", l.image)
    if (l.taskCpus != 1) o.put("task_cpus", l.taskCpus)
    l.attach.foreach { a =>
      val attach = o.putObject("attach").put("manager", a.manager).put("app", a.app)
      if (a.least > 0) attach.put("least", a.least)
      if (a.most > 0) attach.put("most", a.most)
      attach.put("secret", a.secret)
    }
  }

  // The most bytes of a name and of a text that explains which the planner takes (api/bounds.go).
  val MostName = 1024
  val MostText: Int = 8 << 10

  /**
   * As much of s as the planner takes, most bytes in UTF-8, with an ellipsis where some is left out. Half a
   * surrogate pair, which has no UTF-8, becomes a question mark.
   */
  private[pacer] def clip(s: String, most: Int): String = {
    val bytes = s.getBytes(StandardCharsets.UTF_8)
    if (bytes.length <= most) {
      new String(bytes, StandardCharsets.UTF_8)
    } else {
      var end = most - 3
      while ((bytes(end) & 0xC0) == 0x80) end -= 1
      new String(bytes, 0, end, StandardCharsets.UTF_8) + "..."
    }
  }

  /** About how many bytes an event takes as JSON, as Event.Size of api/validate.go has it. */
  def size(what: DriverEvent): Int = 512 + (what match {
    case e: ExecutorUp => length(e.host, MostName) + length(e.container, MostName) + length(e.machine, MostName)
    case ExecutorGone(_, reason) => length(reason, MostText)
    case s: StageReady => length(s.name, MostName) + length(s.pool, MostName) + 64 * s.bindings.size + 12 * s.parents.size
    case StageBound(_, bound) => 64 * bound.size
    case s: StageDone => length(s.reason, MostText)
    case QueryEnded(_) | PartOver(_, _) => 0
    case p: PartBegan => length(p.name, MostName)
    case Unpaced(reason) => length(reason, MostText)
    case End(_, reason) => length(reason, MostText)
    case Exit(_, _, reason) => length(reason, MostText)
  })

  private def length(s: String, most: Int): Int = math.min(most, s.getBytes(StandardCharsets.UTF_8).length)

  /** An empty batch is the driver's heartbeat; planner is who has answered the last registration. */
  def encode(appId: String, submission: String, events: Seq[Event], planner: String = ""): Array[Byte] = {
    val o = message()
    o.put("app_id", appId).put("submission", submission)
    if (planner.nonEmpty) o.put("planner", planner)
    val list = o.putArray("events")
    events.foreach(e => event(list.addObject(), e))
    bytes(o)
  }

  private def event(o: ObjectNode, e: Event): Unit = {
    o.put("seq", e.seq).put("at_s", e.at)
    e.what match {
      case e: ExecutorUp => up(o.put("type", "executor_up").putObject("executor"), e)
      case ExecutorGone(id, reason) =>
        o.put("type", "executor_gone").putObject("executor").put("id", id).put("reason", clip(reason, MostText))
      case s: StageReady => ready(o.put("type", "stage_ready").putObject("stage"), s)
      case StageBound(k, bound) =>
        bindings(key(o.put("type", "stage_bound").putObject("bound"), k).putArray("bindings"), bound)
      case s: StageDone => done(o.put("type", "stage_done").putObject("done"), s)
      case QueryEnded(execution) => o.put("type", "query_ended").putObject("query").put("execution", execution)
      case PartBegan(at, name, deadline, byMoment) =>
        o.put("type", "part_began").putObject("part").put("at_s", at).put("name", clip(name, MostName)).put("deadline_s", deadline).put("by_moment", byMoment)
      case PartOver(at, failed) => o.put("type", "part_over").put("failed", failed).putObject("part").put("at_s", at)
      case Unpaced(reason) => o.put("type", "unpaced").put("reason", clip(reason, MostText))
      case End(failed, reason) => o.put("type", "end").put("failed", failed).put("reason", clip(reason, MostText))
      case Exit(clean, failed, reason) =>
        o.put("type", "exit").put("clean", clean).put("failed", failed).put("reason", clip(reason, MostText))
    }
  }

  private def up(o: ObjectNode, e: ExecutorUp): Unit = {
    o.put("id", e.id)
    if (e.host.nonEmpty) o.put("host", clip(e.host, MostName))
    if (e.cores > 0) o.put("cores", e.cores)
    if (e.memory > 0) o.put("memory_bytes", e.memory)
    if (e.container.nonEmpty) o.put("container", clip(e.container, MostName))
    if (e.machine.nonEmpty) o.put("machine", clip(e.machine, MostName))
  }

  private def ready(o: ObjectNode, s: StageReady): Unit = {
    key(o, s.key).put("job", s.job).put("name", clip(s.name, MostName)).put("signature", s.signature)
    val parents = o.putArray("parents")
    s.parents.foreach(parents.add(_))
    o.put("tasks", s.tasks).put("records", s.records).put("bytes", s.bytes).put("weighted", s.weighted)
    s.repeats.foreach(o.put("repeats", _))
    if (s.lineage.nonEmpty) o.put("lineage", s.lineage)
    if (s.pool.nonEmpty) o.put("pool", s.pool)
    s.query.foreach { q =>
      o.putObject("query").put("execution", q.execution).put("shape", q.shape).put("nth", q.nth).put("exchange", q.exchange)
    }
    bindings(o.putArray("bindings"), s.bindings)
  }

  private def done(o: ObjectNode, s: StageDone): Unit = {
    key(o, s.key).put("failed", s.failed).put("reason", clip(s.reason, MostText)).put("tasks", s.tasks)
      .put("records_read", s.recordsRead).put("records_written", s.recordsWritten)
      .put("bytes_read", s.bytesRead).put("bytes_written", s.bytesWritten)
      .put("bytes_remote", s.bytesRemote).put("bytes_cached", s.bytesCached)
      .put("task_cpu_s", s.taskCpu).put("task_time_s", s.taskTime).put("longest_task_s", s.longestTask)
      .put("first_launch_s", s.firstLaunch).put("last_finish_s", s.lastFinish).put("fixed_part", s.fixedPart)
      .put("task_cost_s", s.taskCost)
  }

  private def bindings(list: ArrayNode, bound: Seq[Binding]): Unit = bound.foreach { b =>
    list.addObject().put("executor", b.executor).put("weight", b.weight).put("tasks", b.tasks)
  }

  private def key(o: ObjectNode, k: StageKey): ObjectNode = o.put("stage", k.stage).put("attempt", k.attempt)

  /** Reads the reply to a registration, or the fault that it carries. */
  def decodeRegistered(body: Array[Byte]): Either[Fault, Registered] = reply(body).map { o =>
    Registered(text(o, "app_id"), text(o, "verdict"), text(o, "reason"), o.path("executors").asInt(),
      o.path("slots").asInt(), o.path("offheap_bytes").asLong(), directive(o.path("directive")),
      o.path("acked_seq").asLong(),
      o.path("fixed_part").properties().asScala.map(s => s.getKey -> s.getValue.asDouble()).toMap,
      o.path("own").asBoolean(), o.path("recall").asBoolean(), text(o, "planner"))
  }

  /** Reads the reply to events, or the fault that it carries. */
  def decodeAcknowledged(body: Array[Byte]): Either[Fault, Acknowledged] = reply(body).map { o =>
    Acknowledged(o.path("acked_seq").asLong(), directive(o.path("directive")))
  }

  /** Reads a published directive. */
  def decodeDirective(body: Array[Byte]): Directive = directive(mapper.readTree(body))

  private def reply(body: Array[Byte]): Either[Fault, JsonNode] = {
    val o = mapper.readTree(body)
    val error = o.path("error")
    if (error.isObject) {
      Left(Fault(error.path("kind").asInt(), text(error, "message")))
    } else if (o.path("v").asInt() != Version) {
      Left(Fault(KindVersion, s"the planner speaks protocol version ${o.path("v").asInt()}, " +
        s"this driver speaks $Version: install the same release of Pacer on both"))
    } else {
      Right(o)
    }
  }

  private def directive(o: JsonNode): Directive = Directive(o.path("epoch").asLong(), o.path("gated").asBoolean(),
    o.path("executors").elements().asScala.map { e =>
      DirectiveExecutor(text(e, "id"), text(e, "node"), e.path("cores").asDouble(), e.path("leaving").asBoolean(), e.path("node_lost").asBoolean(),
        perStage = e.path("per_stage").asInt(1), taken = e.path("taken").asBoolean())
    }.toSeq, text(o, "notice"), text(o, "dead"), o.path("shares").elements().asScala.map(shares).toSeq,
    Some(o.path("queued")).filter(_.isObject).map(q => Queued(q.path("place").asInt(), q.path("of").asInt(), q.path("start_s").asDouble())),
    o.path("wanted").asInt(), o.path("wanted_on").elements().asScala.map(_.asText("")).toSeq, text(o, "pool"))

  private def shares(o: JsonNode): StageShares =
    StageShares(StageKey(o.path("stage").asInt(), o.path("attempt").asInt()), o.path("rev").asLong(),
      o.path("shares").elements().asScala.map(s => text(s, "executor") -> s.path("weight").asDouble()).toMap)

  private def text(o: JsonNode, field: String): String = o.path(field).asText("")

  private def message(): ObjectNode = mapper.createObjectNode().put("v", Version)

  private def bytes(o: ObjectNode): Array[Byte] = mapper.writeValueAsBytes(o)
}
