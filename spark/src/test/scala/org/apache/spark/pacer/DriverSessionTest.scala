package org.apache.spark.pacer

import java.nio.file.{Files, Path}

import org.junit.jupiter.api.Assertions.{assertEquals, assertFalse, assertTrue}
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class DriverSessionTest {
  import DriverSession._

  @Test def itComesFirstWhileItsDeadlineCanBeKept(@TempDir dir: Path): Unit = {
    val file = Files.writeString(dir.resolve("autogroup"), "/autogroup-12 nice 5\n")
    val session = new DriverSession(file, leads = true)
    def says(nice: String): Unit = Files.writeString(file, s"/autogroup-12 nice $nice\n")
    session.take(First)
    assertEquals("-10", Files.readString(file))
    says("-10")
    session.take(First)
    assertEquals("/autogroup-12 nice -10\n", Files.readString(file), "nothing is written twice")
    assertTrue(session.first)
    session.take(Even)
    assertEquals("0", Files.readString(file))
    assertFalse(session.first)
  }

  /** What the session's file says once it has taken a place, where it said that before. */
  private def written(dir: Path, place: Place, leads: Boolean = true)(said: String): String = {
    val file = Files.writeString(dir.resolve("autogroup"), said)
    new DriverSession(file, leads).take(place)
    Files.readString(file)
  }

  @Test def itIsOnAParWithOthersOtherwise(@TempDir dir: Path): Unit = {
    val even = written(dir, Even) _
    assertEquals("0", even("/autogroup-12 nice 5\n"))
    assertEquals("/autogroup-12 nice 0\n", even("/autogroup-12 nice 0\n"))
    assertEquals("", even(""), "what this kernel says is not understood")
    new DriverSession(dir.resolve("none"), leads = true).take(First)
  }

  @Test def aSessionThatItSharesStaysAsItIs(@TempDir dir: Path): Unit =
    assertEquals("/autogroup-12 nice 0\n", written(dir, First, leads = false)("/autogroup-12 nice 0\n"))

  @Test def itYieldsWhereItsDeadlineCannotBeKept(@TempDir dir: Path): Unit = {
    val behind = written(dir, Behind) _
    assertEquals("5", behind("/autogroup-12 nice 0\n"))
    assertEquals("5", behind("/autogroup-12 nice -10\n"))
    assertEquals("5", behind("/autogroup-12 nice 10\n"), "pacer submit had it yield more while it started")
    assertEquals("/autogroup-12 nice 12\n", behind("/autogroup-12 nice 12\n"), "its user had it yield more")
  }
}
