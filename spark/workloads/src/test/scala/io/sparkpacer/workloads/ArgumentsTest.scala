package io.sparkpacer.workloads

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

class ArgumentsTest {
  private def parsed(line: String): Arguments = Arguments.parse(words(line)).fold(fault => throw new AssertionError(fault), identity)
  private def words(line: String): Seq[String] = line.split(' ').toSeq.filter(_.nonEmpty)

  @Test def theEightWorkloadsOfTheSourceAndTwoOfOtherShapes(): Unit =
    assertEquals(Seq("aggregate-by-key", "aggregate-by-key-int", "group-by", "sort-by-key", "sort-by-key-int", "kmeans", "pagerank", "svm",
      "diamond", "short-stages"), Workload.all.map(_.name))

  @Test def whatIsNotGivenHasItsDefault(): Unit =
    for (w <- Workload.all) {
      val a = parsed(w.name)
      w.settings.foreach(s => assertEquals(s.default, a(s.name), s"${w.name} --${s.name}"))
      assertEquals(1, w.settings.count(_.scaled), s"${w.name} has one size")
    }

  @Test def theScaleTimesTheSize(): Unit =
    for (w <- Workload.all) {
      val size = w.settings.find(_.scaled).get
      assertEquals((size.default / 4).round, parsed(s"${w.name} --scale 0.25").long(size.name))
      val sliced = parsed(s"${w.name} --slice").long(size.name)
      assertEquals((size.default * w.slice).round, sliced)
      assertTrue(sliced < size.default / 2, s"${w.name}: the slice is $sliced of ${size.default}")
    }

  @Test def settingsAreTaken(): Unit = {
    val a = parsed("group-by --records 1000 --keys 10 --zipf 1.5 --partitions 4 --seed 9")
    assertEquals("group-by --records 1000 --keys 10 --zipf 1.5 --partitions 4 --seed 9", a.toString)
    assertEquals(a, parsed(a.toString))
  }

  @Test def whatIsWrongIsOneLineThatNamesIt(): Unit =
    for ((line, want) <- Seq(
        "" -> "no workload is named: want aggregate-by-key,",
        "wordcount" -> "workload wordcount: want aggregate-by-key,",
        "Group-By" -> "workload Group-By",
        "group-by records" -> "records: group-by takes --slice, --scale, --records",
        "group-by --points 5" -> "--points: group-by takes",
        "kmeans --zipf 1" -> "--zipf: kmeans takes",
        "group-by --records" -> "--records: no value is given",
        "group-by --records many" -> "--records many: want a whole number from 1 to 100000000000",
        "group-by --records 1.5" -> "--records 1.5: want a whole number",
        "group-by --records 0" -> "--records 0: want",
        "group-by --zipf -1" -> "--zipf -1: want a number from 0 to 10",
        "group-by --zipf NaN" -> "--zipf NaN: want a number from 0 to 10",
        "group-by --scale 0" -> "--scale 0: want a number from 1.0E-4 to 10000",
        "group-by --scale 0.1 --scale 0.2" -> "--scale is given twice",
        "group-by --slice --slice" -> "--slice is given twice",
        "group-by --slice --scale 2" -> "--slice and --scale: give one of them",
        "group-by --scale 2 --records 10" -> "--scale and --records: give one of them",
        "svm --examples 10 --slice" -> "--slice and --examples: give one of them",
        "svm --examples 10 --partitions 11" -> "--partitions 11: there are 10 examples only")) {
      Arguments.parse(words(line)) match {
        case Right(a) => fail(s"\"$line\" was taken as $a")
        case Left(fault) =>
          assertTrue(fault.startsWith(want), s"\"$line\": $fault, want $want")
          assertFalse(fault.contains('\n'), fault)
      }
    }

  @Test def theHelpNamesEverySetting(): Unit = {
    val usage = Arguments.usage
    for (w <- Workload.all; word <- w.name +: w.settings.map("--" + _.name)) assertTrue(usage.contains(word), word)
  }
}
