package org.apache.spark.scheduler.pacer

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class PacerSchedulerBackendTest {
  private val s = 1000000000L

  @Test def theFirstStageBeginsWithMostOfItsExecutors(): Unit =
    for ((up, wanted, enough) <- Seq((0, 0, false), (1, 0, true), (0, 1, false), (1, 1, true), (1, 2, false), (3, 4, false),
        (4, 5, true), (31, 40, false), (32, 40, true), (27, 35, false), (28, 35, true))) {
      assertEquals(enough, PacerSchedulerBackend.enough(up, wanted), s"$up of $wanted")
    }

  @Test def itWaitsForATenthOfTheDeadlineAtMost(): Unit = {
    assertEquals(2 * s, PacerSchedulerBackend.patience(up = 1, deadline = 20))
    assertEquals(60 * s, PacerSchedulerBackend.patience(up = 1, deadline = 3600))
    assertEquals(60 * s, PacerSchedulerBackend.patience(up = 1, deadline = 0), "it has none")
    assertEquals(60 * s, PacerSchedulerBackend.patience(up = 0, deadline = 20), "it has nothing to run on")
  }
}
