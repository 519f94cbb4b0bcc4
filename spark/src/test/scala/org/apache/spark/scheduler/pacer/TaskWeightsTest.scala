package org.apache.spark.scheduler.pacer

import java.util.{Collections, IdentityHashMap, Properties}

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.{JobArtifactSet, TaskContext}
import org.apache.spark.pacer.PacerExecutorPlugin
import org.apache.spark.pacer.Wire.{Directive, DirectiveExecutor, StageKey}
import org.apache.spark.scheduler.Task

/** Stages of many tasks, whose weights are in classes. */
class TaskWeightsTest {
  import TaskWeightsTest._

  private val mib = 1L << 20
  private val bytes = Array.tabulate(Tasks)(i => (i * 7919L % Tasks) * mib)
  private val weights = TaskWeights.withFixedPart(TaskWeights.of(bytes).get, 0.1)

  @Test def eachWeighsAboutItsOwn(): Unit = {
    assertEquals(Tasks * TaskWeights.MeanWeight, weights.sum)
    assertTrue(weights.distinct.length <= TaskWeights.MostClasses, s"${weights.distinct.length} weights")
    val mean = bytes.map(_.toDouble).sum / Tasks
    val fixed = 0.05 * mean
    for (i <- 0 until Tasks) {
      assertEquals(0.1 + 0.9 * (bytes(i) + fixed) / (mean + fixed), weights(i) / 1e6, 0.002, s"task $i")
    }
  }

  @Test def aLargeTaskAmongManyKeepsItsWeight(): Unit = {
    val skewed = Array.fill(5000)(mib)
    skewed(4321) = 5000 * mib
    val w = TaskWeights.of(skewed).get
    assertEquals(4321, TaskWeights.heaviestFirst(w).head)
    assertEquals(5000 * TaskWeights.MeanWeight, w.sum)
    assertEquals(2, w.distinct.length)
    assertEquals(2400, w(4321) / 1e6, 30)
  }

  @Test def aStageOfFourMillionTasksIsWeighedAndBound(): Unit = {
    val tasks = 4000000
    val w = TaskWeights.of(Array.tabulate(tasks)(i => (i * 7919L % tasks) * 1024)).get
    assertEquals(tasks * TaskWeights.MeanWeight, w.sum)
    assertTrue(w.distinct.length <= TaskWeights.MostClasses, s"${w.distinct.length} weights")
    val order = TaskWeights.heaviestFirst(w)
    assertTrue((1 until tasks).forall(i => w(order(i - 1)) >= w(order(i))))
    val b = new StageBindings
    val key = StageKey(0, 0)
    b.follow(Directive(1, gated = true, Seq("1", "2").map(e => DirectiveExecutor(e, s"n$e", 1)), ""))
    Seq("1", "2").foreach(e => b.executorUp(e, s"n$e"))
    assertEquals(Seq(2e6, 2e6), b.ready(key, 0, w, Map.empty, barrier = false).map(_.weight))
    for (i <- 0 until 1000) {
      assertEquals(w(order(i)), b.heaviestWaiting(key))
      b.launched(key, order(i), "1")
      b.ended(key, "1")
      b.succeeded(key, order(i), 1)
    }
  }

  @Test def theHeaviestComeFirstThoseThatWeighTheSameInOrder(): Unit = {
    assertEquals(weights.indices.sortBy(i => -weights(i)), TaskWeights.heaviestFirst(weights).toSeq)
    assertEquals(Seq(0, 1, 2, 3), TaskWeights.heaviestFirst(Array(9L, 5, 5, 1)).toSeq)
    assertEquals(Nil, TaskWeights.heaviestFirst(Array.empty[Long]).toSeq)
  }

  @Test def thoseThatWeighTheSameShareTheirProperties(): Unit = {
    val properties = new Properties
    properties.setProperty("spark.job.description", "x")
    val tasks = Array.tabulate[Task[_]](Tasks)(new Idle(_, properties))
    StageBoundScheduling.giveWeights(tasks, weights)
    assertEquals(1, properties.size, "others have them, too")
    val sets = Collections.newSetFromMap(new IdentityHashMap[Properties, java.lang.Boolean])
    tasks.foreach(t => sets.add(t.localProperties))
    assertEquals(weights.distinct.length, sets.size)
    for (i <- 0 until Tasks by 997) {
      assertEquals(weights(i).toString, tasks(i).localProperties.getProperty(PacerExecutorPlugin.WeightProperty))
      assertEquals("x", tasks(i).localProperties.getProperty("spark.job.description"))
    }
  }
}

object TaskWeightsTest {
  private val Tasks = 100000

  private final class Idle(partition: Int, properties: Properties)
    extends Task[Int](0, 0, partition, Tasks, JobArtifactSet.emptyJobArtifactSet, properties, Array.emptyByteArray) {
    override def runTask(context: TaskContext): Int = 0
  }
}
