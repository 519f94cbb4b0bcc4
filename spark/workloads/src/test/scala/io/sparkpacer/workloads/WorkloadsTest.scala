package io.sparkpacer.workloads

import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import org.junit.jupiter.api.{AfterAll, BeforeAll, Test, TestInstance}
import org.junit.jupiter.api.Assertions._

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd, SparkListenerStageCompleted}

/** Every workload, small, on Spark inside this JVM. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WorkloadsTest {
  private var sc: SparkContext = _

  @BeforeAll def start(): Unit =
    sc = new SparkContext(new SparkConf().setMaster("local[2]").setAppName("test").set("spark.ui.enabled", "false")
      .set("spark.driver.bindAddress", "127.0.0.1").set("spark.driver.host", "127.0.0.1"))

  @AfterAll def stop(): Unit = sc.stop()

  private def parsed(line: String): Arguments =
    Arguments.parse(line.split(' ').toSeq).fold(fault => throw new AssertionError(fault), identity)

  private def answer(line: String): String = {
    val a = parsed(line)
    a.workload.run(sc, a)
  }

  private val records = "--records 3000 --keys 40 --zipf 1"

  @Test def recordsAreTheSameHoweverPartitioned(): Unit = {
    def all(partitions: Int) = KeyValue.ints(sc, parsed(s"group-by $records --partitions $partitions")).collect().toSeq
    assertEquals(3000, all(1).size)
    assertEquals(all(1), all(7))
    assertEquals(all(1).map { case (k, v) => (f"$k%010d", f"$v%010d") },
      KeyValue.strings(sc, parsed(s"group-by $records --partitions 3")).collect().toSeq)
    assertEquals(sc.parallelize(all(1)).keys.collect().toSet.size, all(1).map(_._1).distinct.size)
    assertTrue(all(1).count(_._1 == 0) > 3000 / 8, "the first key of 40 has 23 % by the law with s = 1")
  }

  @Test def sumsOfAKeyAreTheSameByEveryWay(): Unit = {
    val byKey = answer(s"aggregate-by-key $records --partitions 4")
    assertEquals(byKey, answer(s"group-by $records --partitions 5"))
    // An oracle without Spark's shuffle; keys are text there and numbers here.
    val sums = KeyValue.ints(sc, parsed(s"group-by $records --partitions 1")).collect().groupMapReduce(_._1)(_._2)(_ + _)
    assertEquals(byKey, Checksum.text(sums.map { case (k, v) => Checksum.of(KeyValue.padded(k), v) }.sum))
    assertEquals(answer(s"aggregate-by-key-int $records --partitions 4"), Checksum.text(sums.map { case (k, v) => Checksum.of(k, v) }.sum))
  }

  @Test def sortingKeepsEveryRecord(): Unit = {
    val ints = KeyValue.ints(sc, parsed(s"group-by $records --partitions 1")).collect()
    assertEquals(Checksum.text(ints.map { case (k, v) => Checksum.of(k, v) }.sum), answer(s"sort-by-key-int $records --partitions 6"))
    assertEquals(Checksum.text(ints.map { case (k, v) => Checksum.of(KeyValue.padded(k), KeyValue.padded(v)) }.sum),
      answer(s"sort-by-key $records --partitions 6"))
  }

  @Test def anotherSeedGivesAnotherAnswer(): Unit =
    for (w <- Workload.all) {
      val small = s"${w.name} --${w.settings.find(_.scaled).get.name} 400 --partitions 3"
      val first = answer(small)
      assertEquals(first, answer(small), w.name)
      assertNotEquals(first, answer(s"$small --seed 6"), w.name)
    }

  @Test def clustersAreFoundWhereTheyAre(): Unit = {
    // Far more clusters' spread than noise would need another scaling; a cost near the noise's says enough.
    val a = parsed("kmeans --points 4000 --dimensions 20 --clusters 5 --iterations 20 --partitions 2")
    val cost = a.workload.run(sc, a).split(',').head.toDouble / 4000
    assertTrue(cost > 15 && cost < 24, s"$cost a point, of which noise of variance 1 in 20 dimensions is 20")
  }

  @Test def ranksAddUpToTheVertices(): Unit = {
    val a = parsed("pagerank --vertices 500 --degree 3 --partitions 3")
    val edges = Ranking.edges(sc, a).collect()
    assertEquals(500, edges.map(_.srcId).distinct.length, "each vertex has an edge")
    assertTrue(edges.forall(e => e.dstId >= 0 && e.dstId < 500))
    // The weights are 1 to 97: their mean on ranks that add up to 500 is near 48.
    val mean = a.workload.run(sc, a).toDouble / 500
    assertTrue(mean > 40 && mean < 58, s"mean weight $mean")
  }

  @Test def thePlaneIsLearnt(): Unit = {
    val a = parsed("svm --examples 4000 --features 10 --iterations 20 --partitions 2")
    val wrong = a.workload.run(sc, a).split(',').last.toDouble / 4000
    assertTrue(wrong < 0.1, s"$wrong of the examples are on the wrong side")
  }

  @Test def aShapeHasItsStages(): Unit =
    for ((line, stages) <- Seq("diamond --records 4000 --keys 50 --partitions 3" -> 9, "short-stages --rounds 20 --keys 40 --stages 30 --partitions 2" -> 30)) {
      // Events come in order, and late: the second job is there to end after all of the first one's.
      val (ran, jobs, ended) = (new AtomicInteger, new AtomicInteger, new CountDownLatch(1))
      val listener = new SparkListener {
        override def onStageCompleted(e: SparkListenerStageCompleted): Unit = if (jobs.get == 0) ran.incrementAndGet()
        override def onJobEnd(e: SparkListenerJobEnd): Unit = if (jobs.incrementAndGet() == 2) ended.countDown()
      }
      sc.addSparkListener(listener)
      answer(line)
      sc.parallelize(Seq(1), 1).count()
      assertTrue(ended.await(1, TimeUnit.MINUTES), line)
      sc.removeSparkListener(listener)
      assertEquals(stages, ran.get, line)
    }

  @Test def aShapesAnswerIsTheSameHoweverPartitioned(): Unit =
    for (line <- Seq("diamond --records 4000 --keys 50", "short-stages --rounds 200 --keys 40 --stages 5"))
      assertEquals(answer(s"$line --partitions 2"), answer(s"$line --partitions 7"), line)
}
