package org.apache.spark.pacer

import scala.collection.mutable

import org.apache.spark.pacer.Wire.{DriverEvent, Event}

/**
 * The driver's events until the planner has acknowledged them: numbered from 1
 * without a gap, sent in order, sent again until acknowledged. Thread-safe; add
 * never blocks for longer than it takes to append.
 *
 * An event that nobody fetches costs about 200 bytes. With the planner away for
 * long they are kept all the same: one that comes back needs them all.
 */
private[spark] final class Outbox(clock: DeadlineClock) {
  private val events = mutable.ArrayDeque[Event]()
  private var last = 0L
  // The newest number of a batch that was refused: up to it each event goes by itself.
  private var alone = 0L

  /** Numbers and appends what happened; returns its number. */
  def add(what: DriverEvent): Long = synchronized {
    last += 1
    events.append(Event(last, clock.elapsed(), what))
    notifyAll()
    last
  }

  /** Drops the events up to seq. Numbers that were never given are ignored. */
  def acknowledge(seq: Long): Unit = synchronized {
    if (seq <= last) {
      while (events.headOption.exists(_.seq <= seq)) events.removeHead()
      notifyAll()
    }
  }

  /**
   * The oldest events, at most limit, in order, and no more than fit into bytes but for one
   * that is larger itself. Their numbers follow each other: the planner takes no others in
   * one request. They stay until acknowledged.
   */
  def pending(limit: Int, bytes: Int = Outbox.BatchBytes): Seq[Event] = synchronized {
    var size = 0L
    val some = mutable.ArrayBuffer[Event]()
    events.iterator.take(limit).takeWhile { e =>
      size += Wire.size(e.what)
      some.isEmpty || size <= bytes && e.seq > alone && e.seq == some.last.seq + 1
    }.foreach(some += _)
    some.toSeq
  }

  /**
   * Takes in that the planner will never take batch, which is not empty, as it stands: its
   * events go one by one from now on. One that was alone is dropped and returned: it would
   * keep back all that follow it for ever.
   */
  def refused(batch: Seq[Event]): Option[Event] = synchronized {
    if (batch.size > 1) {
      alone = batch.last.seq
      None
    } else {
      events.removeFirst(_.seq == batch.head.seq)
      notifyAll()
      batch.headOption
    }
  }

  /** Waits until there is an event, at most millis; true if there is one. */
  def await(millis: Long): Boolean = synchronized {
    if (events.isEmpty) wait(millis)
    events.nonEmpty
  }

  /** Waits until seq is acknowledged, at most millis; true if it is. */
  def awaitAcknowledged(seq: Long, millis: Long): Boolean = synchronized {
    val end = System.nanoTime() + millis * 1000000L
    def open: Boolean = events.headOption.exists(_.seq <= seq)
    var left = millis
    while (open && left > 0) {
      wait(left)
      left = (end - System.nanoTime()) / 1000000L
    }
    !open
  }

  /**
   * Drops everything, for a planner that starts anew: what is true now is told
   * again. The last word is kept: after it there is nothing to tell. Returns
   * whether there is more to say.
   */
  def forget(): Boolean = synchronized {
    val over = holdsEnd
    if (!over) events.clear()
    !over
  }

  /** Whether the end of the context is still to be acknowledged. */
  def holdsEnd: Boolean = synchronized(events.exists(_.what.isInstanceOf[Wire.End]))

  /** Wakes whoever waits. */
  def wake(): Unit = synchronized(notifyAll())
}

private[spark] object Outbox {

  /** What a request is filled to, by Wire.size: api.BatchBytes. */
  val BatchBytes: Int = 256 << 10
}
