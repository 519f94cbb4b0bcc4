package org.apache.spark.pacer

import java.io.IOException
import java.nio.file.Path
import java.time.{Duration, Instant}
import java.util.concurrent.{Executors, ThreadFactory, TimeoutException}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable

import io.nats.client.{AuthenticationException, Connection, ConnectionListener, Consumer, ErrorListener, Nats, Options}

/** The bus as the client needs it; the real one is [[NatsTransport]]. */
private[spark] trait Transport {
  /** As whom it is connected now. */
  def login: String

  /**
   * Connects as an application from now on, which the planner has just registered with the hash that
   * NatsTransport.key is. When the planner knows it no more, the connection is the user's again, and
   * whoever listens for reconnects is told.
   */
  def become(application: String): Unit

  /**
   * Connects as its user again: the planner does not know the application any more, and the server has kept
   * the connection. Nobody is told. Does nothing for who is the user already.
   */
  def leave(): Unit

  /** Sends body and waits for the reply; throws IOException when there is none in time. */
  def request(subject: String, body: Array[Byte], millis: Long): Array[Byte]

  /** Calls handler with each body published on subject, one after the other. */
  def subscribe(subject: String, handler: Array[Byte] => Unit): Unit

  def close(): Unit
}

/** The planner cannot be reached or refused the connection; message is one line for the user. */
private[spark] final class UnreachableException(message: String, cause: Throwable) extends IOException(message, cause)

/**
 * NATS by jnats, reconnecting for ever: as its user until the application is registered, then as that.
 * Thread-safe.
 */
private[spark] final class NatsTransport private (
    address: String,
    user: Option[Credential],
    reconnected: () => Unit,
    tlsCa: Option[Path]) extends Transport {

  import NatsTransport._

  private val own = Credential.fresh("")
  private val handlers = mutable.Map[String, Array[Byte] => Unit]() // By subject; guarded by this.
  @volatile private var who = user
  @volatile private var connection: Connection = open(user)
  @volatile private var closed = false

  /** The hash of the secret with which it will connect as an application. */
  def key: String = own.hash

  override def login: String = name(who)

  override def become(application: String): Unit = synchronized {
    if (login != application) replace(Some(new Credential(application, own.secret)))
  }

  override def leave(): Unit = synchronized {
    if (login != name(user) && !closed) replace(user)
  }

  private def name(of: Option[Credential]): String = of.fold(Credential.Anyone)(_.login)

  private def replace(next: Option[Credential]): Unit = {
    val before = connection
    connection = open(next)
    who = next
    handlers.foreach { case (subject, handler) => listen(subject, handler) }
    aside(before.close())
  }

  /** The connection, opened again where jnats has given up: the planner did not take the credential. */
  private def alive(): Connection = {
    if (connection.getStatus == Connection.Status.CLOSED && !closed) synchronized {
      if (connection.getStatus == Connection.Status.CLOSED && !closed) {
        try replace(who) catch {
          case _: DeniedException if login != name(user) => replace(user)
        }
        reconnected()
      }
    }
    connection
  }

  private def open(as: Option[Credential]): Connection =
    connect(address, as, tlsCa, (c, event) => if (event == ConnectionListener.Events.RECONNECTED && (c eq connection)) reconnected())

  override def request(subject: String, body: Array[Byte], millis: Long): Array[Byte] = {
    val reply = try {
      alive().request(subject, body, Duration.ofMillis(millis))
    } catch {
      // Closed or draining: to the caller it is one more way of not answering.
      case e: IllegalStateException => throw new IOException(e.getMessage, e)
    }
    if (reply == null) throw new IOException(s"no reply on $subject within $millis ms")
    if (reply.isStatusMessage) throw new IOException(s"nobody listens on $subject")
    reply.getData
  }

  override def subscribe(subject: String, handler: Array[Byte] => Unit): Unit = synchronized {
    handlers(subject) = handler
    listen(subject, handler)
  }

  /** What belongs to an application is heard by that alone; a user without one hears what the server lets it. */
  private def listen(subject: String, handler: Array[Byte] => Unit): Unit =
    if (user.isEmpty || subject.contains(s".$login.")) {
      connection.createDispatcher(message => handler(message.getData)).subscribe(subject)
    }

  override def close(): Unit = {
    closed = true
    aside(connection.close())
  }

  /** Returns at once: to close a secured connection takes jnats more than a second, for which no driver need wait. */
  private def aside(close: => Unit): Unit = Daemons.newThread(() => close).start()
}

/** The server does not take the credential. */
private[spark] final class DeniedException(message: String, cause: Throwable) extends IOException(message, cause)

private[spark] object NatsTransport {

  /**
   * Connects to host:port once and keeps the connection from then on.
   *
   * @param user        whose driver it is; None for a server that lets everybody in
   * @param reconnected called after each reconnect, on a thread of jnats or of who makes a request
   * @param tlsCa       secures the connection: the server's certificate must be signed by one of these authorities and
   *                    bear the host's name or address ([[ServerTrust]])
   * @throws UnreachableException with one line for the user
   */
  def connect(address: String, user: Option[Credential], reconnected: () => Unit, tlsCa: Option[Path] = None): NatsTransport =
    try new NatsTransport(address, user, reconnected, tlsCa) catch {
      case d: DeniedException => throw new UnreachableException(d.getMessage, d)
    }

  private def connect(address: String, as: Option[Credential], tlsCa: Option[Path], listener: ConnectionListener): Connection = {
    val trust = tlsCa.map(new ServerTrust(_, address))
    val said = new Listener
    val builder = new Options.Builder()
      .server((if (tlsCa.isEmpty) "nats://" else "tls://") + address)
      .connectionName("pacer-driver")
      .connectionTimeout(Duration.ofSeconds(10))
      .maxReconnects(-1)
      .reconnectDelayHandler(tries => Duration.ofMillis(math.min(1000L, 100L << math.min(tries, 4L))))
      // Requests that wait in a buffer would age: they fail and are sent again.
      .reconnectBufferSize(0)
      .pingInterval(Duration.ofSeconds(2))
      .maxPingsOut(2)
      .executor(Executors.newCachedThreadPool(Daemons))
      .scheduledExecutor(Executors.newScheduledThreadPool(1, Daemons))
      .connectExecutor(Executors.newCachedThreadPool(Daemons))
      .callbackExecutor(Executors.newSingleThreadExecutor(Daemons))
      .errorListener(said)
      .connectionListener(listener)
      .inboxPrefix(s"_INBOX_${as.fold(Credential.Anyone)(_.login)}.")
    as.foreach(c => builder.userInfo(c.login, c.secret))
    // The name that is dialled is the one that the certificate has to bear, not an address that it stands for.
    trust.foreach(t => builder.sslContext(t.context).noResolveHostnames())
    try {
      Nats.connect(builder.build())
    } catch {
      case e: AuthenticationException => throw new DeniedException(denied(address, as), e)
      case e @ (_: IOException | _: TimeoutException) =>
        throw new UnreachableException(trust.flatMap(_.fault).orElse(said.mismatch(address)).getOrElse(s"no planner answers at $address"), e)
    }
  }

  private def denied(address: String, as: Option[Credential]): String = as match {
    case None => s"no credentials for this planner: ask its operator for `pacer auth issue --user ${sys.props("user.name")} --role submit` ($address)"
    case Some(c) => c.refusal(address, Instant.now())
  }

  /** A forgotten SparkContext must not keep the JVM alive. */
  private object Daemons extends ThreadFactory {
    private val number = new AtomicInteger()

    override def newThread(r: Runnable): Thread = {
      val t = new Thread(r, s"pacer-nats-${number.incrementAndGet()}")
      t.setDaemon(true)
      t
    }
  }

  /** jnats would print to stderr by itself; the client says what matters. */
  private final class Listener extends ErrorListener {
    @volatile private var last = ""

    /** What to say if one side wants a secured connection and the other does not. */
    def mismatch(address: String): Option[String] = last match {
      case "SSL required by server." =>
        Some(s"the planner at $address takes secured connections only: get its ca.pem from its operator and name it in spark.pacer.tls.ca")
      case "SSL connection wanted by client." =>
        Some(s"the planner at $address has no secured connections: leave spark.pacer.tls.ca out, or run pacer auth init where it runs")
      case _ => None
    }

    override def errorOccurred(c: Connection, error: String): Unit = ()
    override def exceptionOccurred(c: Connection, e: Exception): Unit = last = String.valueOf(e.getMessage)
    override def slowConsumerDetected(c: Connection, consumer: Consumer): Unit = ()
  }
}
