package org.apache.spark.pacer

import java.io.IOException
import java.nio.file.{Files, Paths}
import java.util.concurrent.{LinkedBlockingQueue, SynchronousQueue}
import java.util.concurrent.TimeUnit.SECONDS

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.Wire._

/**
 * Plays driver/testdata/conversation/rules.txt, which the Go package driver plays too, by
 * a PlannerClient: the transport takes each of its requests and holds it until the
 * transcript has an answer. What the client does before its next request goes with that.
 */
class ConversationTranscriptTest {
  import ConversationTranscriptTest._

  @Test def theRules(): Unit = {
    var player: Player = null
    val lines = Files.readAllLines(Paths.get("..", "driver", "testdata", "conversation", "rules.txt")).asScala
    assertTrue(lines.size > 100, "the transcript is short")
    try {
      lines.zipWithIndex.filterNot { case (line, _) => line.isEmpty || line.startsWith("#") }.foreach { case (line, i) =>
        val call = line.split(" -> ")(0)
        if (call == "begin") {
          if (player != null) player.end()
          player = new Player
        } else if (call == "next") {
          assertEquals(line, s"$call -> ${player.next()}", s"line ${i + 1}")
        } else {
          player.play(call.split(" ").toList)
        }
      }
    } finally if (player != null) player.end()
  }
}

object ConversationTranscriptTest {
  private val mapper = new ObjectMapper()

  /** A client, and the planner's end of its transport. */
  private final class Player extends Transport {
    private val heard = new LinkedBlockingQueue[String]() // Requests, and the end.
    private val answers = new SynchronousQueue[Option[String]]()
    private val done = mutable.ArrayBuffer[String]()
    private val handlers = mutable.Map[String, Array[Byte] => Unit]()
    private var appId = ""
    private var planner = ""
    private var begun = false

    private val client = new PlannerClient(this, "u-1", new DeadlineClock(0, 0, () => System.nanoTime()),
      id => WireTest.register.copy(appId = id), d => note(s"follow ${d.epoch}"), () => note("forgot"),
      () => { note("recall"); Seq(ExecutorUp("1"), ExecutorUp("2")) })

    def end(): Unit = client.close()

    /** What was done until the next request, and that. */
    def next(): String = {
      if (!begun) aside(try client.start() catch { case _: RefusedException => heard.add("closed") })
      begun = true
      val request = heard.poll(60, SECONDS)
      assertNotNull(request, "the client is silent")
      synchronized {
        val all = (done :+ request).mkString("; ")
        done.clear()
        all
      }
    }

    def play(call: List[String]): Unit = call match {
      case List("say", "exit") =>
        // It waits for the acknowledgement: by then it is in the outbox.
        val saying = aside(client.exit(Exit(clean = true, failed = false, ""), 60000))
        while (saying.isAlive && saying.getState != Thread.State.TIMED_WAITING) Thread.onSpinWait()
      case List("say", "end") => client.end(End(failed = false, ""), 0)
      case "say" :: what :: times => (1 to times.headOption.fold(1)(_.toInt)).foreach(_ => client.send(driverEvent(what)))
      case "accept" :: id :: acked :: epoch =>
        appId = id
        answer(s""""app_id":"$id","planner":"$planner","acked_seq":$acked,"directive":${directive(epoch)}""")
      case "reclaim" :: id :: acked :: epoch =>
        appId = id
        answer(s""""app_id":"$id","planner":"$planner","acked_seq":$acked,"recall":true,"directive":${directive(epoch)}""")
      case "answer" :: acked :: epoch => answer(s""""acked_seq":$acked,"directive":${directive(epoch)}""")
      case List("refuse" | "fault", kind) => answer(s""""error":{"kind":$kind,"message":"no"}""")
      case List("fail") => give(None)
      case List("planner", name) => planner = name
      case "publish" :: epoch => handlers(PlannerClient.directiveSubject(appId))(directive(epoch).getBytes)
      case List("reconnected") => client.reconnected()
      case _ => fail(s"no call ${call.mkString(" ")}")
    }

    private def answer(fields: String): Unit = give(Some(s"""{"v":1,$fields}"""))
    private def give(body: Option[String]): Unit = assertTrue(answers.offer(body, 60, SECONDS), "the client asks nothing")
    private def directive(words: List[String]) =
      s"""{"epoch":${words.head},"gated":true,"executors":[]${if (words.size > 1) ""","queued":{"place":1,"of":1}""" else ""}}"""
    private def note(what: String): Unit = synchronized(done += what)

    private def aside(what: => Unit): Thread = {
      val thread = new Thread(() => what)
      thread.setDaemon(true)
      thread.start()
      thread
    }

    private def driverEvent(name: String): DriverEvent = name match {
      case "executor_up" => ExecutorUp("1")
      case "executor_gone" => ExecutorGone("1", "")
      case "stage_ready" => WireTest.events(2).what
      case "stage_bound" => StageBound(StageKey(0, 0), Nil)
      case s"stage_bound_$n" => StageBound(StageKey(0, 0), Seq.fill(n.toInt)(Binding("1", 1, 1)))
    }

    override def login: String = "user-ann"
    override def become(application: String): Unit = ()
    override def leave(): Unit = note("leave")

    override def request(subject: String, body: Array[Byte], millis: Long): Array[Byte] = {
      heard.add(asked(subject, mapper.readTree(body)))
      answers.take().map(_.getBytes).getOrElse(throw new IOException("no reply"))
    }

    override def subscribe(subject: String, handler: Array[Byte] => Unit): Unit = synchronized(handlers(subject) = handler)
    override def close(): Unit = { val _ = heard.add("closed") }
  }

  private def asked(subject: String, body: JsonNode): String = {
    val id = body.path("app_id").asText() + (if (body.has("planner")) s" (${body.path("planner").asText()})" else "")
    if (subject == PlannerClient.registerSubject("user-ann")) {
      s"register $id".trim
    } else {
      val runs = mutable.ArrayBuffer[(String, Long, Long)]()
      body.path("events").elements().asScala.foreach { e =>
        val (kind, seq) = (e.path("type").asText(), e.path("seq").asLong())
        runs.lastOption match {
          case Some((`kind`, first, _)) => runs(runs.size - 1) = (kind, first, seq)
          case _ => runs += ((kind, seq, seq))
        }
      }
      s"events $id" + runs.map { case (kind, first, last) => s" $kind $first-$last" }.mkString
    }
  }
}
