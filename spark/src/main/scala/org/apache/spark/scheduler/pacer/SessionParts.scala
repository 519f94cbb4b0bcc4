package org.apache.spark.scheduler.pacer

import scala.collection.mutable

import org.apache.spark.pacer.JobGroup
import org.apache.spark.pacer.Wire.{DriverEvent, PartBegan, PartOver, StageKey}

/**
 * The parts of a session that have deadlines of their own, one after the other: each is the jobs of a
 * [[JobGroup]]. It begins with the first of these. It is over when its setting is, or its deadline has passed, and none
 * of its stages has run for a second or two. A setting of SQL's configuration, of which nobody says that it is over, ends
 * when none of its jobs has run for [[SessionParts.IdleSeconds]].
 *
 * Not thread-safe: the task scheduler's lock guards it. Times are seconds of the session's deadline clock.
 *
 * @param unfit why the session has no parts, if it has none
 * @param named the name of a group without one
 * @param say   takes a line for the user
 */
private[pacer] final class SessionParts(unfit: => Option[String], named: String, say: String => Unit) {
  import SessionParts._

  private var running = Option.empty[SessionPart]
  private var last = "" // The setting whose part is over.
  private val said = mutable.Set[String]()

  /** The part that runs. */
  def current: Option[SessionPart] = running

  /** The part of a stage that is submitted now, None for the rest of the session. events are to be told before it. */
  def of(group: Option[JobGroup], streaming: Boolean, now: Double): (Option[SessionPart], Seq[DriverEvent]) = group match {
    case Some(g) if running.exists(_.group.setting == g.setting) => (running, Nil)
    case Some(g) if g.setting == last && g.closes => (None, Nil) // Its deadline has passed.
    case Some(g) =>
      val why = g.deadline.left.toOption.orElse(unfit).orElse(Option.when(streaming)("a streaming query has no end"))
        .orElse(running.filterNot(p => p.idle && (p.group.closed || !p.group.closes))
          .map(p => s"group '${p.name}' runs, and one has a deadline at a time"))
      why match {
        case Some(text) =>
          once(g, s"the deadline of group '${nameOf(g)}' is set aside: $text")
          (None, Nil)
        case None =>
          val before = over()
          running = Some(new SessionPart(g, nameOf(g), now))
          (running, before)
      }
    case None => (None, if (running.exists(p => p.idle && p.group.closed)) over() else Nil)
  }

  /** Looks, once a second, whether the part that runs is over; returns what is to be told then. */
  def look(now: Double): Seq[DriverEvent] = running.fold(Seq.empty[DriverEvent]) { p =>
    p.looks = if (p.idle) p.looks + 1 else 0
    val ends = p.group.closed || now >= p.began + p.deadline || !p.group.closes && now >= p.last + IdleSeconds
    if (p.looks > 1 && ends) over() else Nil
  }

  /** The session ends: so does its part. */
  def stop(): Seq[DriverEvent] = over()

  /** The planner has lost its state, and knows of no part. */
  def forget(): Unit = {
    running.foreach(p => once(p.group, s"the deadline of group '${p.name}' is set aside: the planner has lost its state"))
    running = None
  }

  private def over(): Seq[DriverEvent] = running.toSeq.flatMap { p =>
    running = None
    last = p.group.setting
    if (p.told) Seq(PartOver(p.last, p.failed || !p.idle)) else Nil
  }

  private def nameOf(g: JobGroup): String = if (g.name.nonEmpty) g.name else named

  private def once(g: JobGroup, line: String): Unit = if (said.size < MostSaid && said.add(g.setting + line)) say(line)
}

private[pacer] object SessionParts {
  /** After how many seconds without a job a setting of SQL's configuration ends. */
  val IdleSeconds = 30.0

  private val MostSaid = 1000
}

/** A part of a session, of jobs of that group, which began then. */
private[pacer] final class SessionPart(val group: JobGroup, val name: String, val began: Double) {
  val deadline: Double = group.deadline.getOrElse(0.0)
  private[pacer] var told = false
  private[pacer] var looks = 0 // How often nothing of it ran when it was looked, since something did.
  private var fresh = true
  private var open = Set.empty[StageKey]
  /** When the last of its stages ended that has, and whether that failed. */
  private[pacer] var last: Double = began
  private[pacer] var failed = false

  def idle: Boolean = open.isEmpty

  /** Whether it is asked for the first time. */
  def first(): Boolean = fresh && { fresh = false; true }

  /** What is to be told before the first of its stages. */
  def begins(): Option[DriverEvent] = Option.when(!told) {
    told = true
    PartBegan(began, name, deadline, group.byMoment)
  }

  def submitted(key: StageKey): Unit = open += key

  def ended(key: StageKey, well: Boolean, now: Double): Unit = if (open(key)) {
    open -= key
    last = now
    failed = !well
  }
}
