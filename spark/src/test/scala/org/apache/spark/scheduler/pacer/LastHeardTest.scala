package org.apache.spark.scheduler.pacer

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class LastHeardTest {
  private val s = 1000000000L
  private val heard = new LastHeard(10 * s)

  @Test def anExecutorThatNobodyHearsIsGivenUp(): Unit = {
    heard.registered("1", 0)
    heard.registered("2", 0)
    heard.beat("1", 15 * s)
    heard.beat("2", 16 * s)
    heard.follow(Seq("1", "2"))
    assertEquals(Nil, heard.silent(29 * s))
    assertEquals(Seq("1"), heard.silent(30 * s))
    assertEquals(Seq("1", "2"), heard.silent(31 * s))
    assertEquals(16 * s, heard.since("1", 31 * s))
    heard.gone("1")
    assertEquals(0, heard.since("1", 31 * s))
    assertEquals(Seq("2"), heard.silent(31 * s))
    heard.beat("1", 40 * s) // Too late: Spark has forgotten it.
    assertEquals(Seq("2"), heard.silent(100 * s))
  }

  @Test def theFirstBeatMayTakeTwoIntervals(): Unit = {
    heard.registered("1", 0)
    heard.follow(Seq("1"))
    assertEquals(Nil, heard.silent(24 * s))
    assertEquals(Seq("1"), heard.silent(25 * s))
  }

  @Test def anExecutorThatTheDriverHearsGoesOn(): Unit = {
    heard.registered("1", 0)
    heard.follow(Seq("1"))
    for (now <- 10 * s to 1000 * s by 10 * s) {
      heard.beat("1", now)
      assertEquals(Nil, heard.silent(now + 9 * s))
    }
  }

  @Test def spareThoseWhoseNodesThePlannerHears(): Unit = {
    heard.registered("1", 0)
    assertEquals(Nil, heard.silent(1000 * s))
    heard.follow(Seq("1", "2")) // The driver has never seen the second one.
    assertEquals(Seq("1"), heard.silent(1000 * s))
    heard.follow(Nil)
    assertEquals(Nil, heard.silent(2000 * s))
  }

  @Test def aSilentExecutorOfANodeThatIsHeardIsSaidOnce(): Unit = {
    val often = new LastHeard(2 * s)
    often.registered("1", 0)
    often.registered("2", 0)
    often.registered("3", 0)
    often.follow(Seq("3"))
    often.beat("1", 6 * s)
    assertEquals(Nil, often.quiet(10 * s - 1))
    assertEquals(Seq("2"), often.quiet(10 * s), "the node of the third is lost")
    assertEquals(Seq("1"), often.quiet(16 * s))
    assertEquals(Nil, often.quiet(100 * s))
    often.beat("2", 100 * s)
    assertEquals(Seq("2"), often.quiet(110 * s), "silent once more")
    heard.registered("1", 0)
    assertEquals(Nil, heard.quiet(25 * s - 1), "an interval of the user's own, and a half of it")
    assertEquals(Seq("1"), heard.quiet(25 * s))
  }

  @Test def aBeatMayBeThreeSecondsLate(): Unit = {
    val often = new LastHeard(2 * s)
    often.registered("1", 0)
    often.follow(Seq("1"))
    assertEquals(Nil, often.silent(7 * s - 1))
    assertEquals(Seq("1"), often.silent(7 * s))
    often.beat("1", 7 * s)
    assertEquals(Nil, often.silent(12 * s - 1))
    assertEquals(Seq("1"), often.silent(12 * s))
  }
}
