package org.apache.spark.pacer

import java.nio.file.{Files, Path, Paths}

/**
 * The samples that both sides of a contract are tested against: messages and a
 * page under src/test/resources, read by these tests and by the Go tests of this
 * directory (samples_test.go).
 */
object Samples {
  private val dir = Paths.get("src", "test", "resources", "samples")

  def path(name: String): Path = dir.resolve(name)
  def read(name: String): Array[Byte] = Files.readAllBytes(path(name))
}
