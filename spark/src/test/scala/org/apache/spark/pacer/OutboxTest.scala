package org.apache.spark.pacer

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.Wire.{End, ExecutorUp}

class OutboxTest {
  private var now = 0L
  private val clock = new DeadlineClock(1000, 3000, () => now)
  private val box = new Outbox(clock)

  @Test def eventsKeepTheirOrderNumberAndTimeUntilAcknowledged(): Unit = {
    (1 to 5).foreach { i =>
      now = i * 1000000000L
      assertEquals(i.toLong, box.add(ExecutorUp(i.toString)))
    }
    assertEquals(Seq(1L, 2L, 3L), box.pending(3).map(_.seq))
    assertEquals(Seq(3.0, 4.0), box.pending(2).map(_.at), "2 s had passed before the clock was made")
    box.acknowledge(2)
    assertEquals(Seq(3L, 4L, 5L), box.pending(9).map(_.seq))
    box.acknowledge(1)
    box.acknowledge(99)
    assertEquals(Seq(3L, 4L, 5L), box.pending(9).map(_.seq), "an old number and one never given change nothing")
    box.acknowledge(5)
    assertFalse(box.await(1))
  }

  @Test def forgettingKeepsNumbersGrowingAndTheLastWord(): Unit = {
    box.add(ExecutorUp("1"))
    assertTrue(box.forget())
    assertEquals(Nil, box.pending(9))
    assertEquals(2L, box.add(ExecutorUp("1")))
    box.add(End(failed = false, ""))
    assertFalse(box.forget(), "there is nothing to tell after the end")
    assertEquals(Seq(2L, 3L), box.pending(9).map(_.seq))
  }

  @Test def waitingEndsWithTheAcknowledgement(): Unit = {
    val seq = box.add(ExecutorUp("1"))
    assertFalse(box.awaitAcknowledged(seq, 1))
    val t = new Thread(() => box.acknowledge(seq))
    t.start()
    assertTrue(box.awaitAcknowledged(seq, 60000))
    t.join()
  }

  @Test def anEventThatIsRefusedKeepsNothingBack(): Unit = {
    (1 to 4).foreach(i => box.add(ExecutorUp(i.toString)))
    assertEquals(None, box.refused(box.pending(9)), "which one it is shows alone")
    assertEquals(Seq(1L), box.pending(9).map(_.seq))
    box.acknowledge(1)
    assertEquals(Some(2L), box.refused(box.pending(9)).map(_.seq))
    box.acknowledge(4)
    box.add(ExecutorUp("5"))
    box.add(ExecutorUp("6"))
    assertEquals(Seq(5L, 6L), box.pending(9).map(_.seq), "together again")
    assertEquals(None, box.refused(box.pending(9)))
    assertEquals(Some(5L), box.refused(box.pending(9)).map(_.seq))
    assertTrue(box.awaitAcknowledged(5, 1), "nobody waits for what was left out")
  }
}
