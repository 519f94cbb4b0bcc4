package org.apache.spark.pacer

import java.nio.file.{Files, Path}

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class DriverSessionTest {
  @Test def aSessionThatYieldsComesFirst(@TempDir dir: Path): Unit = {
    def written(said: String): String = {
      val file = Files.writeString(dir.resolve("autogroup"), said)
      DriverSession.comesFirst(file)
      Files.readString(file)
    }
    assertEquals("0", written("/autogroup-12 nice 5\n"))
    for (other <- Seq("/autogroup-12 nice 0\n", "/autogroup-5 nice 19\n", "/autogroup-12 nice -5\n", "")) {
      assertEquals(other, written(other))
    }
    DriverSession.comesFirst(dir.resolve("none"))
  }
}
