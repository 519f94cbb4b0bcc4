package org.apache.spark.pacer

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.Wire._
import org.apache.spark.scheduler.pacer.StageSignature

class WireTest {
  private val mapper = new ObjectMapper()

  private def assertSample(name: String, body: Array[Byte]): Unit =
    assertEquals(mapper.readTree(Samples.read(name)), mapper.readTree(body), name)

  @Test def aRegistrationHasTheShapeOfTheSample(): Unit = assertSample("register.json", encode(WireTest.register))

  @Test def everyEventHasTheShapeOfTheSample(): Unit =
    assertSample("events.json", encode("app-20261121043012-0001-3fa94c", "u-1", WireTest.events, "planner-1"))

  @Test def aHeartbeatIsAnEmptyBatch(): Unit =
    assertEquals("""{"v":1,"app_id":"a","submission":"s","events":[]}""", new String(encode("a", "s", Nil), "UTF-8"))

  @Test def repliesAreReadAsThePlannerWritesThem(): Unit = {
    val directive = Directive(7, gated = true,
      Seq(DirectiveExecutor("1", "node-1", 1.5), DirectiveExecutor("2", "node-2", 2, leaving = true, nodeLost = true, perStage = 3, taken = true)), "executor 1 was replaced",
      "no memory", Seq(StageShares(StageKey(3, 1), 9, Map("1" -> 5.5, "2" -> 2.5))), Some(Queued(2, 3, 64.5)), wanted = 4, wantedOn = Seq("worker-1", "worker-2"), pool = "nightly")
    assertEquals(Right(Registered("app-20261121043012-0001-3fa94c", "tight", "deadline 1m30s is tight", 2, 4, 268435456L,
      directive, 12, Map("00ff" -> 0.25), own = true, recall = true, planner = "planner-1")), decodeRegistered(Samples.read("register_reply.json")))
    assertEquals(Right(Acknowledged(12, directive)), decodeAcknowledged(Samples.read("events_reply.json")))
    assertEquals(Left(Fault(KindInfeasible, "too soon")), decodeRegistered(Samples.read("refusal.json")))
    assertEquals(directive, decodeDirective(Samples.read("directive.json")))
  }

  @Test def fieldsOfALaterPlannerAreSkipped(): Unit = {
    val reply = decodeAcknowledged("""{"v":1,"acked_seq":3,"more":{"x":[1]},"directive":{"epoch":9}}""".getBytes)
    assertEquals(Right(Acknowledged(3, Directive(9, gated = false, Nil, ""))), reply)
  }

  /** What the planner would refuse, and with it all that comes after, is shortened. */
  @Test def textsAreNoLongerThanThePlannerTakes(): Unit = {
    val long = "\u20ac" * 5000
    val shortened = mapper.readTree(encode("a", "s", Seq(
      Event(1, 0, StageReady(WireTest.key, 0, long, "", Nil, 1, 0, 0, weighted = false, Nil)),
      Event(2, 0, StageDone(WireTest.key, failed = true, long, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
      Event(3, 0, ExecutorGone("1", long)), Event(4, 0, Unpaced(long)), Event(5, 0, End(failed = true, long)),
      Event(6, 0, Exit(clean = false, failed = true, long))))).path("events")
    val texts = Seq(0 -> "stage/name", 1 -> "done/reason", 2 -> "executor/reason", 3 -> "reason", 4 -> "reason", 5 -> "reason")
    texts.foreach { case (i, at) =>
      val text = shortened.get(i).at("/" + at).asText()
      val most = if (i == 0) MostName else MostText
      assertTrue(text.endsWith("\u20ac...") && text.getBytes("UTF-8").length <= most && text.length > most / 3 - 3, at)
    }
    assertEquals("a", clip("a", MostName))
    assertEquals("a?b", clip("a\ud83db", MostName), "half a character has no UTF-8")
    assertEquals("\ud83d\ude00...", clip("\ud83d\ude00" * 3, 9))
  }

  /** The reader of event logs makes the same of the same (infra/eventlog). */
  @Test def stagesAreSignedAsEventLogsAre(): Unit = {
    val stages = mapper.readTree(Samples.read("signatures.json")).elements().asScala.toSeq
    assertTrue(stages.size >= 10)
    stages.foreach { s =>
      val rdds = s.path("rdds").elements().asScala.map(r =>
        StageSignature.Kind(r.path("name").asText(), r.path("scope").asText(), r.path("root").asBoolean())).toSeq
      def parents(hash: String): Seq[String] =
        s.path("parents").elements().asScala.map(p => Some(p.path(hash).asText()).filter(_.nonEmpty).getOrElse("?")).toSeq
      val (map, name) = (s.path("map").asBoolean(), s.path("name").asText())
      assertEquals(s.path("signed").path("signature").asText(), StageSignature.of(map, name, rdds, parents("signature")), name)
      assertEquals(s.path("signed").path("lineage").asText(), StageSignature.lineage(map, rdds, parents("lineage")), name)
    }
  }

  @Test def anotherVersionIsAFaultThatNamesBoth(): Unit = decodeAcknowledged("""{"v":2}""".getBytes) match {
    case Left(Fault(KindVersion, message)) => assertTrue(message.contains("2") && message.contains("1"), message)
    case other => fail(other.toString)
  }
}

object WireTest {
  val register: Register = Register("u-1", "wordcount", "wc", "alice", 90, 4.5, requireFeasible = true,
    Launch("spark://CoarseGrainedScheduler@127.0.0.1:40123", "/opt/spark", "/opt/java", "4.3.0", 2, 1L << 30,
      402653184L, 0, offHeapFixed = true, offHeapFloor = 268435456L, offHeapWeight = 2, offHeapPage = 2097152L,
      Seq("-Dx=y"), Seq("/a.jar"), Map("PATH" -> "/bin", "SPARK_USER" -> "alice"), taskCpus = 2, heapAuto = true,
      attach = Some(Attach("yarn", "application_1764300000000_0007", 2, 8, "5e" * 32))),
    "app-20261121043012-0001-3fa94c", PacerConf.Observe, watched = true, utcOffset = 3600, program = "/jobs/wc.py", byMoment = true, jobClass = "batch", noWait = true, key = "U" + "ABC2567" * 7 + "ABCDEF",
    executors = 7, planner = "planner-1", context = 2, before = 12.5, shared = true, leastNodes = 2, mostNodes = 5,
    uiWebUrl = "http://driver-1:4040", certainty = 0.9, jobMost = 16)

  private[pacer] val key = StageKey(3, 1)

  val events: Seq[Event] = Seq(
    Event(1, 0.5, ExecutorUp("1", "worker-1", 4, 1408L << 20, "container_1764300000000_0007_01_000002",
      "00ff-01")),
    Event(2, 0.75, ExecutorGone("2", "killed")),
    Event(3, 1, StageReady(key, 2, "count at app.py:3", "00ff", Seq(0, 1), 8, 1000, Wire.Unknown, weighted = true,
      Seq(Binding("1", 5.5, 5), Binding("3", 2.5, 3)), Some(1), query = Some(QueryStage(5, "0f1e", 2, QueryStage.Result)), pool = "interactive")),
    Event(4, 1.25, StageBound(key, Seq(Binding("1", 8, 8)))),
    Event(5, 2, StageDone(key, failed = true, "lost", 7, 10, 11, 12, 13, 6, 4, 1.5, 2.5, 0.5, 1, 1.75, 0.25, 0.125)),
    Event(6, 2.5, Unpaced("streaming")),
    Event(7, 3, End(failed = true, "exit 1")),
    Event(8, 3.25, QueryEnded(5)),
    Event(9, 3.25, PartBegan(3.125, "daily report", 900, byMoment = true)),
    Event(10, 3.5, PartOver(3.25, failed = true)),
    Event(11, 3.5, Exit(clean = true, failed = false, "")))
}
