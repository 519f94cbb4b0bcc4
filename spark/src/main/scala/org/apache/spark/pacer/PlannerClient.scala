package org.apache.spark.pacer

import java.io.IOException
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.pacer.Wire._

/** The planner said no; the message is for the user. */
private[spark] final class RefusedException(val fault: Fault) extends Exception(fault.message)

/**
 * The driver's conversation with the planner: one registration, then events in
 * order from one thread, a heartbeat every second when there are none, and
 * directives from replies and from their own subject.
 *
 * send never blocks and never throws, whatever the planner does. When the
 * connection has been away, or the planner knows the application no more, the
 * client registers again with the same submission. If the planner then gives
 * another application id, or says that it knows no more than the id, it has lost its
 * state: it is told what is true now (recall), and events go on under the id that it gave.
 *
 * One that is queued registers again when a directive says that it has started: the reply
 * has what it would have been told then.
 *
 * After the end of the context it goes on with heartbeats until the last word: they say
 * that the driver has not exited.
 *
 * @param register  makes the registration; its argument is the application id, "" at first
 * @param follow    takes each new directive, newest epoch wins, one at a time
 * @param forgotten is called before the first directive of a planner that has lost its state
 * @param recall    what a planner that has forgotten everything has to be told
 * @param accepted  takes the reply to each further registration
 * @param refused   is called with the planner's line when it will not take the application
 *                  again, whatever is tried: the conversation is over
 */
private[spark] final class PlannerClient(
    transport: Transport,
    submission: String,
    clock: DeadlineClock,
    register: String => Register,
    follow: Directive => Unit,
    forgotten: () => Unit,
    recall: () => Seq[DriverEvent],
    accepted: Registered => Unit = _ => (),
    refused: String => Unit = _ => ()) extends Logging {

  import PlannerClient._

  private val outbox = new Outbox(clock)
  private val again = new AtomicBoolean(false)
  @volatile private var appId = ""
  @volatile private var planner = "" // Who has answered the last registration.
  @volatile private var closed = false
  @volatile private var ended = 0L // When the context ended, on System.nanoTime; 0 before.
  private var dropped = 0L // As unpaced: the thread's. Events that were left out, and whether the planner was told.
  private var unpaced = false
  private var subscribed = Set.empty[String]
  private var epoch = -1L // Guarded by directives, as queued.
  private var queued = false
  private val directives = new Object

  private val thread = new Thread(() => run(), "pacer-planner-client")
  thread.setDaemon(true)

  /**
   * Registers and starts the conversation. Blocks until the planner answers, a
   * few seconds at most, or as long as patience has it.
   *
   * @throws RefusedException the planner said no
   * @throws IOException      it did not answer
   */
  def start(patience: Patience = Patience.fromNow(asked = false)): Registered = {
    val reply = patience.have(registerOnce(FirstMillis))
    thread.start()
    reply
  }

  /** Puts an event on its way; returns its number. */
  def send(what: DriverEvent): Long = outbox.add(what)

  /** Says that the context stops and waits for the acknowledgement; false if none came in time. */
  def end(what: End, millis: Long): Boolean = {
    val acknowledged = conclude(what, millis)
    ended = math.max(1L, System.nanoTime())
    acknowledged
  }

  /** Says the last word, waits for its acknowledgement and stops the conversation. */
  def exit(what: Exit, millis: Long): Boolean = {
    val acknowledged = ended != 0 && !closed && conclude(what, millis)
    close()
    acknowledged
  }

  private def conclude(what: DriverEvent, millis: Long): Boolean = {
    val seq = outbox.add(what)
    thread.isAlive && outbox.awaitAcknowledged(seq, millis)
  }

  /** Whether the planner knows that the context has ended. */
  private def over: Boolean = ended != 0 && !outbox.holdsEnd

  /** Stops the conversation without another word. */
  def close(): Unit = {
    closed = true
    outbox.wake()
    thread.interrupt()
    try transport.close() catch { case NonFatal(_) | _: InterruptedException => () }
  }

  /** To be called when the connection is lost, which the next request takes up again, and when it is taken up. */
  def reconnected(): Unit = {
    again.set(true)
    outbox.wake()
  }

  private def run(): Unit = {
    var pause = 0L
    var lost = false
    while (!closed) {
      try {
        if (pause > 0) Thread.sleep(pause) else outbox.await(HeartbeatMillis)
        if (!closed) {
          if (over && System.nanoTime() - ended > LingerNanos) close()
          if (again.getAndSet(false) && !over) registerAgain()
          exchange()
          if (lost) logInfo("pacer: the planner answers again")
          lost = false
          pause = 0
        }
      } catch {
        case _: InterruptedException => ()
        case NonFatal(e) if !closed =>
          pause = math.min(1000L, math.max(100L, pause * 2))
          if (!lost && !over) logWarning(s"pacer: the planner does not answer, work goes on: ${e.getMessage}")
          lost = true
        case NonFatal(_) => ()
        // Memory may be there again later, and a class that is missing is not needed for all that is said.
        case e: Throwable if !closed =>
          pause = 1000L
          if (!lost) logError("pacer: the conversation with the planner is disturbed, work goes on", e)
          lost = true
        case _: Throwable => ()
      }
    }
  }

  /** Sends one batch, or a heartbeat, and takes the reply in. */
  private def exchange(): Unit = {
    val batch = outbox.pending(BatchSize)
    val body = encode(appId, submission, batch, planner)
    decodeAcknowledged(transport.request(eventsSubject(appId), body, RequestMillis)) match {
      case Right(reply) =>
        // The last reply's line has to be said before end returns.
        take(reply.directive)
        outbox.acknowledge(reply.ackedSeq)
      case Left(fault) if fault.kind == KindInvalid && batch.nonEmpty => outbox.refused(batch).foreach(leaveOut(_, fault))
      case Left(fault) =>
        if (fault.kind == KindNotFound && over) close() else if (fault.kind == KindNotFound) again.set(true)
        throw new IOException(fault.message)
    }
  }

  /**
   * Goes on without an event that the planner will never take. From then on it does not know
   * all that has happened, and is told not to hold the application back.
   */
  private def leaveOut(event: Event, fault: Fault): Unit = {
    dropped += 1
    logWarning(s"pacer: the planner refuses an event, which is left out ($dropped so far): ${fault.message}")
    val last = ended != 0 || outbox.holdsEnd || (event.what match {
      case _: End | _: Exit => true
      case _ => false
    })
    if (!last && !unpaced) {
      unpaced = true
      outbox.add(Unpaced(Incomplete))
    }
  }

  private def registerAgain(): Unit = {
    val before = appId
    try {
      val reply = registerOnce(RequestMillis)
      if (reply.appId == before && !reply.recall) {
        outbox.acknowledge(reply.ackedSeq)
      } else {
        logWarning(s"pacer: the planner had forgotten $before and calls it ${reply.appId} from now on")
        unpaced = false
        if (outbox.forget()) recall().foreach(outbox.add)
      }
      accepted(reply)
    } catch {
      case r: RefusedException if ends(r.fault.kind) =>
        close()
        refused(r.fault.message)
      case NonFatal(e) =>
        again.set(true)
        e match {
          case r: RefusedException if unknown(r.fault.kind) => transport.leave()
          case _ => ()
        }
        throw e
    }
  }

  /**
   * Whether a refusal of that kind says that the planner does not know who asks: it has lost its state,
   * and a NATS server of one's own has kept the application's connection.
   */
  private def unknown(kind: Int): Boolean = kind == KindNotFound || kind == KindDenied

  /**
   * Whether a refusal of that kind ends an application that was registered: its submission
   * has ended or was killed or, while it is queued, it cannot be had.
   */
  private def ends(kind: Int): Boolean = kind match {
    case KindConflict => true
    case KindInvalid | KindInfeasible => directives.synchronized(queued)
    case _ => false
  }

  private def registerOnce(millis: Long): Registered = {
    val body = encode(register(appId).copy(planner = planner))
    decodeRegistered(transport.request(registerSubject(transport.login), body, millis)) match {
      case Left(fault) => throw new RefusedException(fault)
      case Right(reply) =>
        planner = reply.planner
        if (reply.own) transport.become(reply.appId)
        if (reply.appId != appId || reply.recall) {
          // A planner without its state counts epochs from the beginning.
          if (appId.nonEmpty) forgotten()
          appId = reply.appId
          directives.synchronized {
            epoch = -1
            queued = false
          }
        }
        if (!subscribed(appId)) {
          subscribed += appId
          val mine = appId
          transport.subscribe(directiveSubject(mine), body => if (mine == appId) heard(body))
        }
        // This reply has what there is to know of a start.
        directives.synchronized { if (reply.directive.epoch > epoch) queued = reply.directive.queued.nonEmpty }
        take(reply.directive)
        reply
    }
  }

  private def heard(body: Array[Byte]): Unit = {
    try take(decodeDirective(body)) catch {
      case NonFatal(e) => logWarning(s"pacer: a directive cannot be read: ${e.getMessage}")
      // It would end the thread on which all later ones come.
      case e: Throwable => logError("pacer: a directive is not followed", e)
    }
  }

  private def take(directive: Directive): Unit = directives.synchronized {
    if (directive.epoch > epoch) {
      epoch = directive.epoch
      val started = queued && directive.queued.isEmpty
      queued = directive.queued.nonEmpty
      follow(directive)
      if (started && !over) reconnected()
    }
  }
}

private[spark] object PlannerClient {
  def registerSubject(login: String): String = s"pacer.v1.register.$login"
  def eventsSubject(appId: String): String = s"pacer.v1.app.$appId.events"
  def directiveSubject(appId: String): String = s"pacer.v1.app.$appId.directive"

  /** Silence of the driver after which a heartbeat is sent; the planner asks for 2 s at most. */
  val HeartbeatMillis = 1000L
  val FirstMillis = 5000L

  val RequestMillis = 2000L

  /** How long a driver that does not exit after its context's end goes on to say that it is there. */
  val LingerNanos = 10L * 60 * 1000 * 1000 * 1000
  val BatchSize = 200

  /** Why an application runs unpaced of which the planner has refused an event. */
  val Incomplete = "the planner could not take one of its events"
}
