package org.apache.spark.pacer

import java.io.{BufferedReader, IOException, InputStreamReader}
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.Duration
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
        say("""INFO {"server_id":"x","version":"2.12.0","proto":1,"max_payload":1048576,"auth_required":true}""")
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
