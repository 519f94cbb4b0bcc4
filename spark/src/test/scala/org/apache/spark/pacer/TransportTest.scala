package org.apache.spark.pacer

import java.io.{BufferedReader, IOException, InputStreamReader}
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration
import java.util.Base64
import java.util.concurrent.{LinkedBlockingQueue, Semaphore}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.{AfterEach, Test, Timeout}

class TransportTest {

  /** An hour, so that what waits for it is seen by the test's own end. */
  private val patience = Duration.ofHours(1)
  private val ann = new Credential("user-ann", "s")
  private val changes = new Semaphore(0)

  /** A server that lets in by verdicts, one for each attempt, and answers each request with its subject. */
  private object Server {
    private val listening = new ServerSocket(0, 8, InetAddress.getLoopbackAddress)
    private val verdicts = new LinkedBlockingQueue[Verdict]()
    val logins = new LinkedBlockingQueue[String]()
    /** All that was said before the first verdict. */
    val connects = new LinkedBlockingQueue[String]()

    /** What INFO asks to be signed, "" for nothing. */
    @volatile var nonce = "kTJ7Uo0hHBLY5Rg"
    @volatile private var current: Socket = _
    daemon(try while (true) take(listening.accept()) catch { case _: IOException => () })

    val address = s"127.0.0.1:${listening.getLocalPort}"

    def next(v: Verdict*): Unit = v.foreach(verdicts.add)

    /** Closes the newest connection. */
    def cut(): Unit = current.close()

    def close(): Unit = listening.close()

    private def daemon(run: => Unit): Unit = {
      val thread = new Thread(() => run)
      thread.setDaemon(true)
      thread.start()
    }

    private def take(socket: Socket): Unit = {
      current = socket
      daemon(serve(socket))
    }

    private def serve(socket: Socket): Unit = {
      val in = new BufferedReader(new InputStreamReader(socket.getInputStream, UTF_8))
      def say(line: String): Unit = socket.getOutputStream.write(s"$line\r\n".getBytes(UTF_8))
      @tailrec def talk(): Unit = in.readLine() match {
        case null => ()
        case connect if connect.startsWith("CONNECT") =>
          connects.add(connect)
          logins.add("\"user\":\"([^\"]*)\"".r.findFirstMatchIn(connect).fold("")(_.group(1)))
          verdicts.take() match {
            case LetIn => talk()
            case Refuse => say("-ERR 'Authorization Violation'")
            case Die => ()
          }
        case "PING" =>
          say("PONG")
          talk()
        case published if published.startsWith("PUB") =>
          in.readLine()
          val Array(_, subject, inbox, _) = published.split(" ")
          say(s"MSG $inbox 1 ${subject.length}\r\n$subject")
          talk()
        case _ => talk()
      }
      try {
        say(s"""INFO {"server_id":"x","version":"2.12.0","proto":1,"max_payload":1048576,"auth_required":true,"nonce":"$nonce"}""")
        talk()
      } catch { case _: IOException => () } finally socket.close()
    }
  }

  private sealed trait Verdict
  private case object LetIn extends Verdict
  private case object Refuse extends Verdict
  private case object Die extends Verdict

  @AfterEach def close(): Unit = Server.close()

  private def connect(): NatsTransport = NatsTransport.connect(Server.address, Some(ann), () => changes.release(), None, patience)

  private def ask(t: Transport, subject: String): String = new String(t.request(subject, Array.emptyByteArray, 60000), UTF_8)

  /** A transport that is application app-1 and whose connection is cut. */
  private def cutOff(verdicts: Verdict*): NatsTransport = {
    Server.next(LetIn, LetIn)
    val t = connect()
    t.become("app-1")
    Server.next(verdicts: _*)
    assertEquals("hello", ask(t, "hello"))
    Server.logins.clear()
    assertEquals(0, changes.availablePermits)
    Server.cut()
    changes.acquire() // It says that the connection is lost.
    t
  }

  /** The planner lets no other driver go on by a ticket: all contexts of a driver are one's. */
  @Test @Timeout(60) def contextsOfADriverHaveOneKey(): Unit = {
    Server.next(LetIn, LetIn)
    val (first, second) = (connect(), connect())
    try assertEquals(first.key, second.key) finally Seq(first, second).foreach(_.close())
  }

  /** Whoever listens where a planner does not, while that restarts, learns no secret. */
  @Test @Timeout(60) def attackSquatter(): Unit = for (nonce <- Seq("", "kTJ7Uo0hHBLY5Rg", "n" * 4000)) {
    Server.nonce = nonce
    Server.next(LetIn, LetIn)
    val hidden = new Credential("user-ann", "0123456789abcdef" * 4)
    val t = NatsTransport.connect(Server.address, Some(hidden), () => (), None, patience)
    t.become("app-1")
    assertEquals("hello", ask(t, "hello"))
    t.close()
    for (_ <- 1 to 2) {
      val said = Server.connects.take()
      val raw = Array.fill(4)(Seq(0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef).map(_.toByte)).flatten
      for (form <- Seq(hidden.secret, Base64.getEncoder.encodeToString(raw), Base64.getUrlEncoder.encodeToString(raw), "\"pass\"", "\"auth_token\"")) {
        assertFalse(said.contains(form), s"$form is in $said")
      }
      assertEquals(nonce.nonEmpty, "\"sig\":\"[^\"]+\"".r.findFirstIn(said).nonEmpty, said)
    }
  }

  /** Another one may leave tls_required out of INFO in the server's place: the client does not go by that. */
  @Test @Timeout(60) def attackClearTextOffLoopback(): Unit = {
    val port = Server.address.split(':').last
    val said = assertThrows(classOf[UnreachableException],
      () => NatsTransport.connect(s"0.0.0.0:$port", Some(ann), () => (), None, patience)).getMessage
    assertTrue(said.contains("spark.pacer.tls.ca") && said.contains("spark.pacer.plaintext"), said)
    assertTrue(Server.connects.isEmpty)
    Server.next(LetIn)
    NatsTransport.connect(s"0.0.0.0:$port", Some(ann), () => (), None, patience, plaintext = true).close()
    assertTrue(Server.connects.take().contains("user-ann"))
  }

  @Test @Timeout(60) def whoIsRefusedIsToldAtOnce(): Unit = {
    Server.next(Refuse)
    assertEquals(ann.refusal(Server.address, java.time.Instant.now()), assertThrows(classOf[UnreachableException], () => connect()).getMessage)
  }

  @Test @Timeout(60) def aServerThatDiesWhileItDecidesIsNobody(): Unit = {
    Server.next(Die)
    assertEquals(s"no planner answers at ${Server.address}", assertThrows(classOf[UnreachableException], () => connect()).getMessage)
  }

  @Test @Timeout(60) def aServerThatRefusesOnceIsAskedAgainAsTheApplication(): Unit = {
    val t = cutOff(Refuse, Die, LetIn)
    assertThrows(classOf[DeniedException], () => ask(t, "one"))
    assertThrows(classOf[UnreachableException], () => ask(t, "two"))
    assertEquals("three", ask(t, "three"))
    assertEquals("app-1", t.login)
    changes.acquire()
    t.close()
  }

  @Test @Timeout(60) def theThreadsOfAConnectionEndWithIt(): Unit = {
    def alive: Set[String] = Thread.getAllStackTraces.asScala.keySet.map(_.getName).filter(_.startsWith("pacer-nats-")).toSet
    val before = alive
    val t = cutOff(Refuse, LetIn, LetIn, LetIn)
    assertThrows(classOf[DeniedException], () => ask(t, "one"))
    (1 to 3).foreach { i =>
      assertEquals(s"ask-$i", ask(t, s"ask-$i"))
      changes.acquire()
      Server.cut()
      changes.acquire()
    }
    t.close()
    while (!alive.subsetOf(before)) Thread.onSpinWait()
  }

  @Test @Timeout(60) def whoIsRefusedTwiceIsItsUserAgain(): Unit = {
    val t = cutOff(Refuse, Refuse, LetIn)
    assertThrows(classOf[DeniedException], () => ask(t, "one"))
    // What is asked as the application is not asked as the user.
    assertThrows(classOf[DeniedException], () => ask(t, "two"))
    assertEquals("user-ann", t.login)
    changes.acquire()
    assertEquals("three", ask(t, "three"))
    assertEquals(Seq("app-1", "app-1", "user-ann"), Seq.fill(3)(Server.logins.take()))
    t.close()
  }
}
