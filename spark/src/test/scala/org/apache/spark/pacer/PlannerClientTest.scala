package org.apache.spark.pacer

import java.io.IOException
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit.SECONDS

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.junit.jupiter.api.{AfterEach, Test}
import org.junit.jupiter.api.Assertions._

import org.apache.spark.pacer.Wire._

class PlannerClientTest {
  import PlannerClientTest._

  private val planner = new FakePlanner
  private val followed = new LinkedBlockingQueue[Directive]()
  private val client = new PlannerClient(planner, "u-1", new DeadlineClock(0, 0, () => System.nanoTime()),
    appId => WireTest.register.copy(appId = appId), d => followed.put(d), () => (), () => Seq(ExecutorUp("1"), ExecutorUp("2")))

  @AfterEach def stop(): Unit = client.close()

  private def next(): Directive = {
    val d = followed.poll(60, SECONDS)
    assertNotNull(d, "no directive came")
    d
  }

  @Test def itRegistersThenSendsEventsInOrder(): Unit = {
    assertEquals("app-1", client.start().appId)
    assertEquals(1L, next().epoch)
    (1 to 500).foreach(i => client.send(ExecutorUp(i.toString)))
    assertTrue(client.end(End(failed = false, ""), 60000))
    assertEquals((1 to 501).map(_.toLong), planner.taken.toSeq)
  }

  @Test def whatIsNotAcknowledgedIsSentAgain(): Unit = {
    client.start()
    planner.synchronized { planner.deaf = 3 }
    client.send(ExecutorUp("1"))
    client.send(ExecutorUp("2"))
    assertTrue(client.end(End(failed = false, ""), 60000))
    assertEquals(Seq(1L, 2L, 3L), planner.taken.toSeq, "each once, in order")
    assertEquals(0, planner.deaf)
  }

  @Test def aReplyThatGotLostDoesNoHarm(): Unit = {
    client.start()
    planner.synchronized { planner.mute = 2 }
    client.send(ExecutorUp("1"))
    assertTrue(client.end(End(failed = false, ""), 60000))
    assertEquals(Seq(1L, 2L), planner.taken.toSeq)
  }

  @Test def theNewestDirectiveWinsWhicheverWayItComes(): Unit = {
    client.start()
    next()
    planner.publish(5)
    assertEquals(5L, next().epoch)
    planner.publish(4)
    planner.publish(6)
    assertEquals(6L, next().epoch, "4 is older")
  }

  @Test def anUnreadableDirectiveIsSkipped(): Unit = {
    client.start()
    next()
    planner.publishRaw("{".getBytes)
    planner.publish(7)
    assertEquals(7L, next().epoch)
  }

  @Test def afterAReconnectItRegistersAgainWithTheSameSubmission(): Unit = {
    client.start()
    client.reconnected()
    planner.awaitRegistrations(2)
    assertEquals(Seq(("u-1", ""), ("u-1", "app-1")), planner.registrations.toSeq)
  }

  @Test def aPlannerThatForgotIsToldWhatIsTrueNow(): Unit = {
    client.start()
    next()
    planner.synchronized { planner.forget("app-2") }
    client.send(ExecutorUp("9"))
    planner.awaitRegistrations(2)
    assertEquals(1L, next().epoch, "its epochs begin again")
    planner.awaitTold(2)
    assertTrue(client.end(End(failed = false, ""), 60000))
    assertEquals(Seq("executor_up 1", "executor_up 2", "end "), planner.told.toSeq)
  }

  @Test def itSpeaksAsTheApplicationOnceThatIsRegistered(): Unit = {
    client.start()
    assertEquals("app-1", planner.login)
    client.reconnected()
    planner.awaitRegistrations(2) // The planner takes no other subject than the login's.
    planner.synchronized { planner.forget("app-2") }
    client.send(ExecutorUp("9"))
    planner.awaitRegistrations(3)
    planner.awaitTold(2)
    assertEquals("app-2", planner.login)
  }

  @Test def itIsItsUserAgainWhereThePlannerKnowsNoApplication(): Unit = {
    client.start()
    assertEquals("app-1", planner.login)
    planner.synchronized {
      planner.forget("app-1")
      planner.stranger = Some("app-1")
    }
    client.send(ExecutorUp("9"))
    planner.awaitTold(1)
    assertEquals("app-1", planner.login, "and the application once that is registered")
  }

  @Test def aRefusalCarriesThePlannersMessage(): Unit = {
    planner.synchronized { planner.refusal = Some(Fault(KindInfeasible, "too soon")) }
    assertEquals("too soon", assertThrows(classOf[RefusedException], () => client.start()).getMessage)
  }

  @Test def aRefusalThatMayPassIsTriedAgain(): Unit = {
    planner.synchronized {
      planner.refusal = Some(Fault(KindTransient, "node b is away"))
      planner.refusals = 2
    }
    assertEquals("app-1", client.start().appId)
    assertEquals(3, planner.synchronized(planner.registrations.size))
  }

  @Test def afterTheEndItIsThereUntilItsLastWord(): Unit = {
    client.start()
    assertTrue(client.end(End(failed = false, ""), 60000))
    val heartbeats = planner.beats
    planner.awaitBeats(heartbeats + 1)
    client.reconnected() // It would be refused: its application has ended.
    planner.awaitBeats(heartbeats + 2)
    assertEquals(1, planner.registrations.size)
    assertTrue(client.exit(Exit(clean = true, failed = false, ""), 60000))
    assertEquals(Seq("end ", "exit "), planner.told.toSeq)
    assertFalse(client.exit(Exit(clean = true, failed = false, ""), 60000), "it is said once")
  }

  @Test def aPlannerThatForgotAfterTheEndIsNotToldAgain(): Unit = {
    client.start()
    assertTrue(client.end(End(failed = false, ""), 60000))
    planner.synchronized { planner.forget("app-2") }
    assertFalse(client.exit(Exit(clean = true, failed = false, ""), 3000))
    assertEquals(1, planner.registrations.size)
  }

  @Test def anErrorOfTheJvmDoesNotEndTheConversation(): Unit = {
    client.start()
    next()
    planner.synchronized { planner.errors = List(new OutOfMemoryError("for the test"), new NoClassDefFoundError("for the test")) }
    client.send(ExecutorUp("1"))
    assertTrue(client.end(End(failed = false, ""), 60000))
    assertEquals(Seq(1L, 2L), planner.taken.toSeq)
  }

  @Test def anErrorOfTheJvmDoesNotEndTheDirectivesOwnWay(): Unit = {
    val errors = new LinkedBlockingQueue[Error]()
    val touchy = new PlannerClient(planner, "u-1", new DeadlineClock(0, 0, () => System.nanoTime()),
      appId => WireTest.register.copy(appId = appId), d => Option(errors.poll()).fold(followed.put(d))(e => throw e), () => (), () => Nil)
    try {
      touchy.start()
      next()
      errors.put(new OutOfMemoryError("for the test"))
      planner.publish(5)
      planner.publish(6)
      assertEquals(6L, next().epoch)
    } finally touchy.close()
  }

  @Test def theEndDoesNotWaitForAPlannerThatIsGone(): Unit = {
    client.start()
    planner.synchronized { planner.deaf = Int.MaxValue }
    assertFalse(client.end(End(failed = false, ""), 50))
  }
}

object PlannerClientTest {
  private val mapper = new ObjectMapper()

  /** A planner on the other end of a transport that can lose requests and replies. */
  private final class FakePlanner extends Transport {
    val registrations = mutable.ArrayBuffer[(String, String)]()
    val taken = mutable.ArrayBuffer[Long]()
    val told = mutable.ArrayBuffer[String]()
    var refusal: Option[Fault] = None
    var refusals = Int.MaxValue // So often it refuses.
    var deaf, mute = 0
    var errors = List.empty[Error] // What requests end with, one after the other.
    var stranger = Option.empty[String] // A login that is not known until its user has registered it.
    private var appId = "app-1"
    private var known = true
    private var acked = 0L
    private val epoch = 1L
    private val handlers = mutable.Map[String, Array[Byte] => Unit]()

    @volatile var login = "user-ann"
    override def become(application: String): Unit = login = application
    override def leave(): Unit = login = "user-ann"

    override def request(subject: String, body: Array[Byte], millis: Long): Array[Byte] = synchronized {
      val o = mapper.readTree(body)
      if (subject == s"pacer.v1.register.$login") {
        register(o)
      } else {
        errors match {
          case first :: others =>
            errors = others
            throw first
          case Nil => ()
        }
        if (deaf > 0) {
          deaf -= 1
          throw new IOException("no reply")
        }
        val reply = events(subject, o)
        if (mute > 0) {
          mute -= 1
          throw new IOException("no reply")
        }
        reply
      }
    }

    override def subscribe(subject: String, handler: Array[Byte] => Unit): Unit = synchronized(handlers(subject) = handler)
    override def close(): Unit = ()

    def publish(newEpoch: Long): Unit = publishRaw(directive(newEpoch).getBytes)
    def publishRaw(body: Array[Byte]): Unit = handlers(s"pacer.v1.app.$appId.directive")(body)

    def forget(newId: String): Unit = {
      known = false
      appId = newId
      acked = 0
      taken.clear()
      told.clear()
    }

    def awaitRegistrations(n: Int): Unit = synchronized {
      while (registrations.size < n) wait()
    }

    var beats = 0

    def awaitBeats(n: Int): Unit = synchronized {
      while (beats < n) wait()
    }

    def awaitTold(n: Int): Unit = synchronized {
      while (told.size < n) wait()
    }

    private def register(o: JsonNode): Array[Byte] = if (stranger.contains(login)) {
      s"""{"v":1,"error":{"kind":$KindDenied,"message":"$login has no credentials here"}}""".getBytes
    } else {
      stranger = None
      registrations += ((o.path("submission").asText(), o.path("app_id").asText()))
      known = true
      notifyAll()
      refusals -= 1
      refusal.filter(_ => refusals >= 0) match {
        case Some(f) => s"""{"v":1,"error":{"kind":${f.kind},"message":"${f.message}"}}""".getBytes
        case None => s"""{"v":1,"app_id":"$appId","own":true,"directive":${directive(epoch)},"acked_seq":$acked}""".getBytes
      }
    }

    private def events(subject: String, o: JsonNode): Array[Byte] =
      if (!known || subject != s"pacer.v1.app.$appId.events") {
        """{"v":1,"error":{"kind":2,"message":"not known"}}""".getBytes
      } else {
        if (o.path("events").isEmpty) beats += 1
        o.path("events").elements().asScala.filter(_.path("seq").asLong() > acked).foreach { e =>
          acked = e.path("seq").asLong()
          taken += acked
          told += e.path("type").asText() + " " + e.path("executor").path("id").asText("")
        }
        notifyAll()
        s"""{"v":1,"acked_seq":$acked,"directive":${directive(epoch)}}""".getBytes
      }

    private def directive(epoch: Long) = s"""{"epoch":$epoch,"gated":true,"executors":[]}"""
  }
}
