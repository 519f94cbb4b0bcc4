package org.apache.spark.pacer

import java.io.IOException
import java.time.{Duration, Instant}
import java.util.concurrent.{ExecutionException, Executors, ExecutorService, FutureTask, ScheduledExecutorService, ThreadFactory, TimeoutException}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable

import io.nats.client.{AuthenticationException, AuthHandler, Connection, ConnectionListener, Consumer, ErrorListener, Nats, Options}
import io.nats.client.Options.HostnameResolveMode
import io.nats.client.impl.SocketDataPort

/** The bus as the client needs it; the real one is [[NatsTransport]]. */
private[spark] trait Transport {
  /** As whom it is connected now. */
  def login: String

  /**
   * Connects as an application from now on, which the planner has just registered with the public key that
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
 * NATS by jnats: as its user until the application is registered, then as that. A connection that is lost
 * is taken up again by the next request, for as long as it takes: jnats does not reconnect by itself, as it
 * gives up after two refusals, and a server refuses everybody while the planner that it asks is away.
 * Thread-safe.
 */
private[spark] final class NatsTransport private (
    address: String,
    user: Option[Credential],
    changed: () => Unit,
    tlsCa: Option[String],
    plaintext: Boolean,
    patience: Duration) extends Transport {

  import NatsTransport._

  private val handlers = mutable.Map[String, Array[Byte] => Unit]() // By subject; guarded by this.
  @volatile private var who = user
  @volatile private var line: Line = open(user)
  @volatile private var closed = false
  private var refusals = 0 // Of the application, one after the other; guarded by this.

  /** The public key of the secret with which it will connect as an application: of all contexts of a driver, which it shows to be one. */
  def key: String = own.key

  override def login: String = name(who)

  override def become(application: String): Unit = synchronized {
    if (login != application) replace(Some(new Credential(application, own.secret)))
  }

  override def leave(): Unit = synchronized {
    if (login != name(user) && !closed) replace(user)
  }

  private def name(of: Option[Credential]): String = of.fold(Credential.Anyone)(_.login)

  private def replace(next: Option[Credential]): Unit = {
    val before = line
    line = open(next)
    who = next
    handlers.foreach { case (subject, handler) => listen(subject, handler) }
    aside(before.close())
  }

  /** The connection, taken up again where it is lost. */
  private def alive(): Connection = {
    if (down) synchronized {
      if (down) takeUp()
    }
    line.connection
  }

  private def down: Boolean = !closed && line.connection.getStatus != Connection.Status.CONNECTED

  /**
   * Connects again, as its user where the application is refused twice. One refusal says little: of a server
   * that asks a planner, an attempt that comes a moment too early is refused like one of who is not known.
   *
   * @throws IOException of who has another name than it began with, too: what it sends depends on that
   */
  private def takeUp(): Unit = {
    try replace(who) catch {
      case d: DeniedException if login != name(user) =>
        refusals += 1
        if (refusals < 2) throw d
        replace(user)
        taken()
        throw d
    }
    taken()
  }

  private def taken(): Unit = {
    refusals = 0
    changed()
  }

  private def open(as: Option[Credential]): Line =
    connect(address, as, tlsCa, plaintext, patience, (c, event) => if (event == ConnectionListener.Events.DISCONNECTED && current(c) && !closed) changed())

  /** Whether it is the connection in use; none is while the first one is made. */
  private def current(c: Connection): Boolean = Option(line).exists(_.connection eq c)

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
      line.connection.createDispatcher(message => handler(message.getData)).subscribe(subject)
    }

  override def close(): Unit = {
    closed = true
    aside(line.close())
  }

  /** Returns at once: to close a secured connection takes jnats more than a second, for which no driver need wait. */
  private def aside(close: => Unit): Unit = Daemons.newThread(() => close).start()
}

/** The server does not take the credential. */
private[spark] final class DeniedException(message: String, cause: Throwable) extends IOException(message, cause)

private[spark] object NatsTransport {

  private val own = Credential.fresh("")

  /** How long an attempt to connect waits for a server that says nothing; a JVM on a busy machine takes seconds itself. */
  val Patience: Duration = Duration.ofSeconds(10)

  /**
   * Connects to host:port once and keeps the connection from then on.
   *
   * @param user    whose driver it is; None for a server that lets everybody in
   * @param changed called when the connection is lost, on a thread of jnats, and when it was taken up again, on
   *                that of who makes a request
   * @param tlsCa   secures the connection: the server's certificate must be signed by one of these authorities and
   *                bear the host's name or address ([[ServerTrust]])
   * @param plaintext allows an address that is not loopback without that
   * @throws UnreachableException with one line for the user
   */
  def connect(address: String, user: Option[Credential], changed: () => Unit, tlsCa: Option[String] = None,
      patience: Duration = Patience, plaintext: Boolean = false): NatsTransport =
    try new NatsTransport(address, user, changed, tlsCa, plaintext, patience) catch {
      case d: DeniedException => throw new UnreachableException(d.getMessage, d)
    }

  private def connect(address: String, as: Option[Credential], tlsCa: Option[String], plaintext: Boolean, patience: Duration,
      listener: ConnectionListener): Line = {
    // Whatever the server says: another one may say it in its place.
    if (tlsCa.isEmpty && !plaintext && !Credential.isLoopback(address)) {
      throw new UnreachableException(s"$address can be reached from other machines: get the planner's ca.pem from its operator and name it in " +
        "spark.pacer.tls.ca, or go without by spark.pacer.plaintext=true", null)
    }
    val trust = tlsCa.map(new ServerTrust(_, address))
    val said = new Listener
    val threads = new Threads
    val builder = new Options.Builder()
      .server((if (tlsCa.isEmpty) "nats://" else "tls://") + address)
      .connectionName("pacer-driver")
      .connectionTimeout(patience)
      .maxReconnects(0)
      .dataPortType(classOf[Port].getName)
      .pingInterval(Duration.ofSeconds(2))
      .maxPingsOut(2)
      .executor(threads.any)
      .scheduledExecutor(threads.timed)
      .connectExecutor(threads.any)
      .callbackExecutor(threads.callbacks)
      .errorListener(said)
      .connectionListener(listener)
      .inboxPrefix(s"_INBOX_${as.fold(Credential.Anyone)(_.login)}.")
    as.foreach(c => builder.userInfo(c.login.toCharArray, null).authHandler(new Signer(c)))
    // The name that is dialled is the one that the certificate has to bear, not an address that it stands for: all other
    // modes that look a name up dial the address, noResolveHostnames of this release among them.
    trust.foreach(t => builder.sslContext(t.context).hostnameResolveMode(HostnameResolveMode.HappyEyeballs))
    try new Line(said.attempt(Nats.connect(builder.build())), threads) catch {
      case e: Throwable =>
        threads.end()
        e match {
          case _: AuthenticationException => throw new DeniedException(denied(address, as), e)
          case _: IOException | _: TimeoutException =>
            throw new UnreachableException(trust.flatMap(_.fault).orElse(said.mismatch(address)).getOrElse(s"no planner answers at $address"), e)
          case _ => throw e
        }
    }
  }

  private def denied(address: String, as: Option[Credential]): String = as match {
    case None => s"no credentials for this planner: ask its operator for `pacer auth issue --user ${sys.props("user.name")} --role submit` ($address)"
    case Some(c) => c.refusal(address, Instant.now())
  }

  /** Proves a credential by the server's nonce. The server finds connections by their logins: it gets no other name. */
  private final class Signer(c: Credential) extends AuthHandler {
    override def sign(nonce: Array[Byte]): Array[Byte] = if (nonce.isEmpty) nonce else c.prove(nonce)
    override def getID: Array[Char] = Array.emptyCharArray
    override def getJWT: Array[Char] = Array.emptyCharArray
  }

  /** A connection with its threads. */
  private final class Line(val connection: Connection, threads: Threads) {
    def close(): Unit = try connection.close() finally threads.end()
  }

  /** What a connection runs on: jnats does not end threads that it was given. */
  private final class Threads {
    val any: ExecutorService = Executors.newCachedThreadPool(Daemons)
    val timed: ScheduledExecutorService = Executors.newScheduledThreadPool(1, Daemons)
    val callbacks: ExecutorService = Executors.newSingleThreadExecutor(Daemons)

    def end(): Unit = Seq(any, timed, callbacks).foreach(_.shutdownNow())
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

  /** One connection's: jnats would print to stderr by itself; the client says what matters. */
  private final class Listener extends ErrorListener {
    @volatile private var last = ""
    @volatile private var attempting: Option[Thread] = None

    /** Runs connect on a thread of its own, until gone cuts it short. */
    def attempt(connect: => Connection): Connection = {
      val task = new FutureTask[Connection](() => connect)
      val thread = Daemons.newThread(task)
      attempting = Some(thread)
      thread.start()
      try task.get() catch {
        case e: ExecutionException => throw e.getCause match {
            case cut: InterruptedException => new IOException("the server has closed the connection", cut)
            case fault => fault
          }
        case e: InterruptedException =>
          thread.interrupt()
          throw e
      }
    }

    /** The server has closed the connection: an attempt, if it still goes on, has failed. */
    def gone(): Unit = {
      attempting.foreach(_.interrupt())
      attempting = None // What jnats closes then is not to be cut short.
    }

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

  /**
   * The socket, which tells its connection's listener when the server closes it. While it connects, jnats only
   * notes that, and waits for an answer until the end of the connection's timeout.
   */
  private[pacer] final class Port extends SocketDataPort {
    private var listener: Option[Listener] = None

    override def afterConstruct(options: Options): Unit = listener = Some(options.getErrorListener).collect { case l: Listener => l }

    override def read(into: Array[Byte], offset: Int, length: Int): Int = {
      val n = try super.read(into, offset, length) catch {
        case e: IOException =>
          listener.foreach(_.gone())
          throw e
      }
      if (n < 0) listener.foreach(_.gone())
      n
    }
  }
}
