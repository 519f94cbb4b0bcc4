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
