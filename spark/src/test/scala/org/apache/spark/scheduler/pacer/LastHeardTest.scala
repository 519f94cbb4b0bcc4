package org.apache.spark.scheduler.pacer

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class LastHeardTest {
  private val heard = new LastHeard(10)

  @Test def anExecutorThatNobodyHearsIsGivenUp(): Unit = {
    heard.registered("1", 0)
    heard.registered("2", 0)
    heard.beat("1", 15)
    heard.beat("2", 16)
    heard.follow(Seq("1", "2"))
    assertEquals(Nil, heard.silent(29))
    assertEquals(Seq("1"), heard.silent(30))
    assertEquals(Seq("1", "2"), heard.silent(31))
    assertEquals(16, heard.since("1", 31))
    heard.gone("1")
    assertEquals(0, heard.since("1", 31))
    assertEquals(Seq("2"), heard.silent(31))
    heard.beat("1", 40) // Too late: Spark has forgotten it.
    assertEquals(Seq("2"), heard.silent(100))
  }

  @Test def theFirstBeatMayTakeTwoIntervals(): Unit = {
    heard.registered("1", 0)
    heard.follow(Seq("1"))
    assertEquals(Nil, heard.silent(24))
    assertEquals(Seq("1"), heard.silent(25))
  }

  @Test def anExecutorThatTheDriverHearsGoesOn(): Unit = {
    heard.registered("1", 0)
    heard.follow(Seq("1"))
    for (now <- 10 to 1000 by 10) {
      heard.beat("1", now)
      assertEquals(Nil, heard.silent(now + 9))
    }
  }

  @Test def spareThoseWhoseNodesThePlannerHears(): Unit = {
    heard.registered("1", 0)
    assertEquals(Nil, heard.silent(1000))
    heard.follow(Seq("1", "2")) // The driver has never seen the second one.
    assertEquals(Seq("1"), heard.silent(1000))
    heard.follow(Nil)
    assertEquals(Nil, heard.silent(2000))
  }
}
