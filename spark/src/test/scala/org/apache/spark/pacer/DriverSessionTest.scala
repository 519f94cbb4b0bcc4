package org.apache.spark.pacer

import java.nio.file.{Files, Path}

import org.junit.jupiter.api.Assertions.{assertEquals, assertFalse, assertTrue}
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class DriverSessionTest {
  import DriverSession._

  @Test def itComesFirstWhileItsDeadlineCanBeKept(@TempDir dir: Path): Unit = {
    val file = Files.writeString(dir.resolve("autogroup"), "/autogroup-12 nice 5\n")
    val session = new DriverSession(file)
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

  @Test def itIsOnAParWithOthersOtherwise(@TempDir dir: Path): Unit = {
    def written(said: String): String = {
      val file = Files.writeString(dir.resolve("autogroup"), said)
      new DriverSession(file).take(Even)
      Files.readString(file)
    }
    assertEquals("0", written("/autogroup-12 nice 5\n"))
    assertEquals("/autogroup-12 nice 0\n", written("/autogroup-12 nice 0\n"))
    assertEquals("", written(""), "what this kernel says is not understood")
    new DriverSession(dir.resolve("none")).take(First)
  }

  @Test def itYieldsWhereItsDeadlineCannotBeKept(@TempDir dir: Path): Unit = {
    def written(said: String): String = {
      val file = Files.writeString(dir.resolve("autogroup"), said)
      new DriverSession(file).take(Behind)
      Files.readString(file)
    }
    assertEquals("5", written("/autogroup-12 nice 0\n"))
    assertEquals("5", written("/autogroup-12 nice -10\n"))
    assertEquals("/autogroup-12 nice 10\n", written("/autogroup-12 nice 10\n"), "its user had it yield more")
  }
}
