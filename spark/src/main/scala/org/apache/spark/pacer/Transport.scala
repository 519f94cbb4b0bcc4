package org.apache.spark.pacer

import java.io.IOException
import java.nio.file.{Files, Path}
import java.time.Duration
import java.util.concurrent.{Executors, ThreadFactory, TimeoutException}
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import io.nats.client.{AuthenticationException, Connection, ConnectionListener, Consumer, ErrorListener, Nats, Options}

/** The bus as the client needs it; the real one is [[NatsTransport]]. */
private[spark] trait Transport {
  /** Sends body and waits for the reply; throws IOException when there is none in time. */
  def request(subject: String, body: Array[Byte], millis: Long): Array[Byte]

  /** Calls handler with each body published on subject, one after the other. */
  def subscribe(subject: String, handler: Array[Byte] => Unit): Unit

  def close(): Unit
}

/** The planner cannot be reached or refused the connection; message is one line for the user. */
private[spark] final class UnreachableException(message: String, cause: Throwable) extends IOException(message, cause)

/** NATS by jnats, reconnecting for ever. Thread-safe. */
private[spark] final class NatsTransport private (connection: Connection) extends Transport {

  override def request(subject: String, body: Array[Byte], millis: Long): Array[Byte] = {
    val reply = try {
      connection.request(subject, body, Duration.ofMillis(millis))
    } catch {
      // Closed or draining: to the caller it is one more way of not answering.
      case e: IllegalStateException => throw new IOException(e.getMessage, e)
    }
    if (reply == null) throw new IOException(s"no reply on $subject within $millis ms")
    if (reply.isStatusMessage) throw new IOException(s"nobody listens on $subject")
    reply.getData
  }

  override def subscribe(subject: String, handler: Array[Byte] => Unit): Unit = {
    connection.createDispatcher(message => handler(message.getData)).subscribe(subject)
  }

  /** Returns at once: a secured connection takes jnats more than a second, for which a driver that exits need not wait. */
  override def close(): Unit = NatsTransport.Daemons.newThread(() => connection.close()).start()
}

private[spark] object NatsTransport {

  /**
   * Connects to host:port once and keeps the connection from then on.
   *
   * @param credentials a file with the line "application:password" (bus/doc.go)
   * @param reconnected called after each reconnect, on a thread of jnats
   * @param tlsCa       secures the connection: the server's certificate must be signed by one of these authorities and
   *                    bear the host's name or address ([[ServerTrust]])
   * @throws UnreachableException with one line for the user
   */
  def connect(address: String, credentials: Option[Path], reconnected: () => Unit, tlsCa: Option[Path] = None): NatsTransport = {
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
      .connectionListener((_: Connection, event: ConnectionListener.Events) =>
        if (event == ConnectionListener.Events.RECONNECTED) reconnected())
    credentials.foreach(file => builder.userInfo("application", password(file)))
    // The name that is dialled is the one that the certificate has to bear, not an address that it stands for.
    trust.foreach(t => builder.sslContext(t.context).noResolveHostnames())
    try {
      new NatsTransport(Nats.connect(builder.build()))
    } catch {
      case e: AuthenticationException =>
        throw new UnreachableException(s"the planner at $address refused the credentials", e)
      case e @ (_: IOException | _: TimeoutException) =>
        throw new UnreachableException(trust.flatMap(_.fault).orElse(said.mismatch(address)).getOrElse(s"no planner answers at $address"), e)
    }
  }

  /** The password of the role application in a credentials file. */
  private[pacer] def password(file: Path): String = {
    val lines = try Files.readAllLines(file).asScala catch {
      case e: IOException => throw new UnreachableException(s"cannot read the credentials file $file", e)
    }
    lines.map(_.trim).collectFirst {
      case line if line.startsWith("application:") => line.stripPrefix("application:")
    }.filter(_.nonEmpty).getOrElse {
      throw new UnreachableException(s"credentials file $file has no line application:password", null)
    }
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
