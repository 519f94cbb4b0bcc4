package org.apache.spark.scheduler.pacer

import scala.collection.mutable
import scala.util.Random

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.Wire.{Binding, Directive, DirectiveExecutor, StageKey, StageShares}
import org.apache.spark.scheduler.pacer.StageBindings.{MeanWeight, StallNanos}

class StageBindingsTest {
  import StageBindingsTest._

  private val b = new StageBindings

  @Test def aReadyStageGetsOneIdleExecutorOfEachNode(): Unit = {
    pool(1 -> "a", 2 -> "a", 3 -> "b", 4 -> "b")
    assertEquals(Seq("1", "3"), ids(ready(0, tasks = 8)))
    assertEquals(Seq("2", "4"), ids(ready(1, tasks = 8)))
    assertTrue(b.admits(key(0), "1", false))
    assertFalse(b.admits(key(0), "2", false), "executor 2 is the other stage's")
    assertFalse(b.admits(key(1), "1", false))
  }

  @Test def itPrefersTheExecutorThatHasItsCachedBlocks(): Unit = {
    pool(1 -> "a", 2 -> "a", 3 -> "a")
    assertEquals(Seq("3"), ids(ready(0, tasks = 4, cached = Map("2" -> 1, "3" -> 3))))
    assertEquals(Seq("1"), ids(ready(1, tasks = 4, cached = Map("3" -> 4))), "the best one is taken")
  }

  @Test def theHeaviestWaitingTaskIsKnown(): Unit = {
    pool(1 -> "a")
    b.ready(key(0), 0, Array(3L, 9L, 5L, 1L), Map.empty, barrier = false)
    assertEquals(9L, b.heaviestWaiting(key(0)))
    b.launched(key(0), 1, "1")
    b.launched(key(0), 0, "1")
    assertEquals(5L, b.heaviestWaiting(key(0)))
    b.returned(key(0), 1)
    assertEquals(9L, b.heaviestWaiting(key(0)), "it has to run again")
    Seq(1, 2, 3).foreach(b.launched(key(0), _, "1"))
    assertEquals(0L, b.heaviestWaiting(key(0)))
    assertEquals(0L, b.heaviestWaiting(key(5)))
  }

  @Test def tasksAreSortedHeaviestFirstWithTheirWeights(): Unit = {
    val tasks = Array("a", "b", "c", "d")
    val weights = Array(2L, 7L, 2L, 9L)
    StageBoundScheduling.heaviestFirst(tasks, weights)
    assertEquals((Seq("d", "b", "a", "c"), Seq(9L, 7L, 2L, 2L)), (tasks.toSeq, weights.toSeq))
  }

  @Test def aStageThatFindsNoneWaitsIsCountedAndServedInOrder(): Unit = {
    pool(1 -> "a")
    ready(4, tasks = 2)
    assertEquals(Nil, ready(7, tasks = 2, order = 2))
    assertEquals(Nil, ready(6, tasks = 2, order = 1))
    assertEquals(2L, b.waited)
    assertFalse(b.admits(key(6), "1", false))
    b.takeChanges()
    b.takeFreed()
    b.done(key(4))
    assertTrue(b.takeFreed(), "offers have to be revived at once")
    assertEquals(Seq(key(6) -> Seq(Binding("1", 2, 2))), b.takeChanges())
    b.done(key(6))
    assertEquals(Seq(key(7) -> Seq(Binding("1", 2, 2))), b.takeChanges())
  }

  @Test def sharesFollowCapacityAndAddUp(): Unit = {
    directive(gated = true, Seq(("1", "a", 3.0), ("2", "b", 1.0)))
    up(1, 2)
    val got = ready(0, tasks = 10)
    assertEquals(Seq(Binding("1", 7.5, 8), Binding("2", 2.5, 3)), got)
    // Admitted while the launched weight is below the share: 8 and 3 times, and 10 tasks in all.
    val taken = drain(key(0), 10, Seq("1", "2"))
    assertEquals(10, taken.values.sum)
    assertTrue(taken("1") <= 8 && taken("2") <= 3, taken.toString)
  }

  @Test def anExecutorThroughWithItsShareTakesOverAtTheTail(): Unit = {
    pool(1 -> "a", 2 -> "b")
    ready(0, tasks = 8)
    (0 until 4).foreach(launch(0, _, "1"))
    assertFalse(b.admits(key(0), "1", false), "it still works on its share")
    (0 until 4).foreach(_ => b.ended(key(0), "1"))
    b.takeChanges()
    assertTrue(b.admits(key(0), "1", false), "it is idle and 2 has four tasks left")
    assertEquals(Seq(key(0) -> Seq(Binding("1", 6, 6), Binding("2", 2, 2))), b.takeChanges())
  }

  @Test def weightsDecideNotNumbers(): Unit = {
    pool(1 -> "a", 2 -> "b")
    val large = Array(3 * MeanWeight, MeanWeight / 3, MeanWeight / 3, MeanWeight / 3)
    b.ready(key(0), 0, large, Map.empty, barrier = false)
    launch(0, 0, "1")
    assertFalse(b.admits(key(0), "1", false), "the large task alone is more than half")
    (1 to 3).foreach(launch(0, _, "2"))
  }

  @Test def aLostExecutorsTasksGoToTheOthersAndAnotherOneIsBound(): Unit = {
    pool(1 -> "a", 2 -> "b")
    ready(0, tasks = 4)
    launch(0, 0, "1")
    launch(0, 1, "1")
    launch(0, 2, "2")
    launch(0, 3, "2")
    b.takeChanges()
    b.executorGone("1")
    assertEquals(Seq("2"), ids(b.current(key(0))))
    b.returned(key(0), 0)
    b.returned(key(0), 1)
    assertTrue(b.admits(key(0), "2", false))
    directive(gated = true, Seq(("2", "b", 1.0), ("3", "a", 1.0)))
    up(3)
    assertEquals(Seq("2", "3"), ids(b.current(key(0))))
  }

  @Test def theLastExecutorLostMakesTheStageWaitForTheNext(): Unit = {
    pool(1 -> "a")
    ready(0, tasks = 2)
    launch(0, 0, "1")
    launch(0, 1, "1")
    b.executorGone("1")
    b.returned(key(0), 0)
    b.returned(key(0), 1)
    assertEquals(Nil, b.current(key(0)))
    up(2) // Not listed by the planner yet: better than none.
    assertEquals(Seq(Binding("2", 2, 2)), b.current(key(0)))
    assertTrue(b.admits(key(0), "2", false))
  }

  @Test def executorsThatComeLateJoinRunningStages(): Unit = {
    directive(gated = true, Seq(("1", "a", 1.0), ("2", "b", 1.0)))
    up(1)
    assertEquals(Seq(Binding("1", 4, 4)), ready(0, tasks = 4))
    up(2)
    assertEquals(Seq(key(0) -> Seq(Binding("1", 2, 2), Binding("2", 2, 2))), b.takeChanges())
  }

  @Test def thePlannersSharesDivideWhatIsNotLaunched(): Unit = {
    pool(1 -> "a", 2 -> "b")
    ready(0, tasks = 8)
    (0 until 2).foreach(launch(0, _, "1"))
    launch(0, 2, "2")
    b.takeChanges()
    b.takeFreed()
    handOver(rev = 1, "1" -> 6.0, "2" -> 2.0)
    assertEquals(Seq(key(0) -> Seq(Binding("1", 6, 6), Binding("2", 2, 2))), b.takeChanges())
    assertTrue(b.takeFreed(), "an executor that had launched its share has to be offered again")
    handOver(rev = 1, "1" -> 2.0, "2" -> 6.0)
    assertEquals(Nil, b.takeChanges(), "a revision is followed once")
    (3 until 5).foreach(launch(0, _, "1"))
    // By the time that the word comes, 1 has launched more than it is to have.
    handOver(rev = 2, "1" -> 3.0, "2" -> 5.0)
    assertEquals(Seq(key(0) -> Seq(Binding("1", 4, 4), Binding("2", 4, 4))), b.takeChanges())
    handOver(rev = 3, "7" -> 8.0)
    assertEquals(Nil, b.takeChanges(), "shares of unknown executors move nothing")
    assertFalse(b.admits(key(0), "1", false))
    (5 until 8).foreach(launch(0, _, "2"))
  }

  @Test def anExecutorThatLeavesGivesItsRestAwayAndIsLeftWhenIdle(): Unit = {
    directive(gated = true, Seq(("1", "a", 1.0), ("2", "b", 1.0)))
    up(1, 2)
    ready(0, tasks = 8)
    launch(0, 0, "2")
    b.takeChanges()
    leave(Seq(("1", "a", 1.0), ("2", "b", 1.0)), "2")
    assertEquals(Seq(key(0) -> Seq(Binding("1", 7, 7), Binding("2", 1, 1))), b.takeChanges())
    assertTrue(b.takeFreed())
    assertFalse(b.admits(key(0), "2", false))
    b.ended(key(0), "2")
    assertEquals(Seq("1"), ids(b.current(key(0))), "nothing of the stage runs on it any more")
    assertEquals(Seq("1"), ids(ready(1, tasks = 2)) ++ ids(b.current(key(0))), "it is bound no more")
    (1 until 8).foreach(launch(0, _, "1"))
  }

  @Test def aStageWhoseOnlyExecutorLeavesWaitsForAnother(): Unit = {
    directive(gated = true, Seq(("1", "a", 1.0), ("2", "b", 1.0)))
    up(1)
    ready(0, tasks = 4)
    leave(Seq(("1", "a", 1.0), ("2", "b", 1.0)), "1")
    up(2)
    assertEquals(Seq(Binding("2", 4, 4)), b.current(key(0)))
  }

  @Test def ungatedStagesLeaveAnExecutorThatLeaves(): Unit = {
    directive(gated = false, Seq(("1", "a", 1.0), ("2", "b", 1.0)))
    up(1, 2)
    assertEquals(Seq("1", "2"), ids(ready(0, tasks = 4)))
    leave(Seq(("1", "a", 1.0), ("2", "b", 1.0)), "1", gated = false)
    assertEquals(Seq("2"), ids(b.current(key(0))))
  }

  @Test def ungatedOnlyTheFirstExecutorOfEachNodeWorksForAllStages(): Unit = {
    pool(false, 2 -> "a", 10 -> "a", 3 -> "b")
    assertEquals(Seq("2", "3"), ids(ready(0, tasks = 4)))
    assertEquals(Seq("2", "3"), ids(ready(1, tasks = 4)))
    assertFalse(b.admits(key(0), "10", false), "ids count as numbers")
    (0 until 4).foreach(launch(0, _, "2"))
    b.executorGone("2")
    assertTrue(b.admits(key(1), "10", false), "the next one takes over")
  }

  @Test def theGateClosesAndOpensAtRunTime(): Unit = {
    pool(false, 1 -> "a", 2 -> "a")
    ready(0, tasks = 4)
    ready(1, tasks = 4)
    directive(gated = true, Seq(("1", "a", 1.0), ("2", "a", 1.0)))
    assertEquals(Seq("1"), ids(b.current(key(0))))
    assertEquals(Seq("2"), ids(b.current(key(1))))
    assertEquals(Set(key(0), key(1)), b.takeChanges().map(_._1).toSet)
    directive(gated = false, Seq(("1", "a", 1.0), ("2", "a", 1.0)))
    assertTrue(b.admits(key(1), "1", false))
    assertFalse(b.admits(key(1), "2", false))
  }

  @Test def anOlderDirectiveIsIgnored(): Unit = {
    assertTrue(b.follow(Directive(5, gated = true, Nil, "")))
    assertFalse(b.follow(Directive(4, gated = false, Nil, "")))
    assertTrue(b.gated)
  }

  @Test def aBarrierStageIsNotHeldBackByShares(): Unit = {
    pool(1 -> "a", 2 -> "b")
    b.ready(key(0), 0, Array.fill(4)(MeanWeight), Map.empty, barrier = true)
    (0 until 4).foreach(launch(0, _, "1"))
    assertFalse(b.admits(key(0), "3", false))
  }

  @Test def anAttemptThatGivesWayGetsNoMoreExecutorsAndLeavesFreeSlots(): Unit = {
    directive(gated = true, Seq(("1", "a", 1.0), ("2", "b", 1.0)))
    up(1)
    ready(0, tasks = 4)
    launch(0, 0, "1")
    b.retire(key(0))
    b.ready(StageKey(0, 1), 0, Array.fill(4)(MeanWeight), Map.empty, barrier = false)
    assertEquals(Seq("1"), ids(b.current(StageKey(0, 1))))
    up(2)
    assertEquals(Seq("1", "2"), ids(b.current(StageKey(0, 1))))
  }

  @Test def aStageThatGetsNothingToRunIsOpenedToAll(): Unit = {
    pool(1 -> "a", 2 -> "a")
    ready(0, tasks = 4)
    assertEquals(Nil, b.watch(0))
    assertEquals(Nil, b.watch(StallNanos - 1))
    launch(0, 0, "1")
    b.ended(key(0), "1")
    assertEquals(Nil, b.watch(StallNanos), "it was idle for a moment only")
    assertEquals(Seq(key(0)), b.watch(2 * StallNanos))
    assertTrue(b.admits(key(0), "2", false))
    assertEquals(Nil, b.watch(4 * StallNanos), "said once")
  }

  @Test def givenUpForGoodStaysUngatedWhateverThePlannerSays(): Unit = {
    pool(1 -> "a", 2 -> "a")
    b.openForGood("a streaming query")
    directive(gated = true, Seq(("1", "a", 1.0)))
    assertFalse(b.gated)
    ready(0, tasks = 1)
    ready(1, tasks = 1)
    assertTrue(b.admits(key(0), "1", false) && b.admits(key(1), "1", false))
  }

  @Test def boundableIsOneExecutorOfEachNode(): Unit = {
    pool(1 -> "a", 2 -> "a", 3 -> "b", 4 -> "b")
    assertEquals(Set(1 -> Seq("1", "2"), 1 -> Seq("3", "4")), b.boundable.toSet)
  }

  /**
   * Random stages, launches, failures, losses and directives; after every step:
   * no executor is bound to two stages, no stage has two executors on a node,
   * shares add up, and whenever executors are alive and tasks wait, something can
   * start or something runs. In the end everything has run.
   */
  @Test def propertiesOfManyRandomRuns(): Unit = (1 to 300).foreach(seed => new World(new Random(seed)).run())

  private def key(stage: Int) = StageKey(stage, 0)
  private def ids(bound: Seq[Binding]) = bound.map(_.executor)
  private def up(executors: Int*): Unit = executors.foreach(e => b.executorUp(e.toString, "host"))
  private def ready(stage: Int, tasks: Int, order: Int = 0, cached: Map[String, Int] = Map.empty) =
    b.ready(key(stage), order, Array.fill(tasks)(MeanWeight), cached, barrier = false)
  private var epoch = 0L
  private var last = Seq.empty[DirectiveExecutor]
  private def handOver(rev: Long, weights: (String, Double)*): Unit =
    redirect(StageShares(key(0), rev, weights.toMap))

  private def redirect(shares: StageShares): Unit = {
    epoch += 1
    b.follow(Directive(epoch, gated = true, last, "", shares = Seq(shares)))
  }

  private def leave(executors: Seq[(String, String, Double)], who: String, gated: Boolean = true): Unit = {
    epoch += 1
    last = executors.map { case (id, node, c) => DirectiveExecutor(id, node, c, leaving = id == who) }
    b.follow(Directive(epoch, gated, last, ""))
  }

  private def directive(gated: Boolean, executors: Seq[(String, String, Double)]): Unit = {
    epoch += 1
    last = executors.map { case (id, node, c) => DirectiveExecutor(id, node, c) }
    b.follow(Directive(epoch, gated, last, ""))
  }
  private def pool(executors: (Int, String)*): Unit = pool(gated = true, executors: _*)
  private def pool(gated: Boolean, executors: (Int, String)*): Unit = {
    directive(gated, executors.map { case (id, node) => (id.toString, node, 1.0) })
    up(executors.map(_._1): _*)
  }
  private def launch(stage: Int, index: Int, executor: String): Unit = {
    assertTrue(b.admits(key(stage), executor, false), s"task $index of stage $stage is not admitted to $executor")
    b.launched(key(stage), index, executor)
  }

  /** Launches as long as anything is admitted, nothing ends; returns tasks by executor. */
  private def drain(stage: StageKey, tasks: Int, executors: Seq[String]): Map[String, Int] = {
    val taken = mutable.Map[String, Int]().withDefaultValue(0)
    var next = 0
    var moved = true
    while (moved && next < tasks) {
      moved = false
      executors.filter(e => next < tasks && b.admits(stage, e, false)).foreach { e =>
        if (next < tasks) {
          b.launched(stage, next, e)
          taken(e) += 1
          next += 1
          moved = true
        }
      }
    }
    taken.toMap.withDefaultValue(0)
  }
}

object StageBindingsTest {

  /** Spark's part: which tasks wait, run and are done. */
  private final class World(random: Random) {
    private val b = new StageBindings
    private val nodes = Seq("a", "b", "c").take(1 + random.nextInt(3))
    private val slots = 1 + random.nextInt(3)
    private var listed = Map.empty[String, String] // Executor -> node.
    private val alive = mutable.LinkedHashSet[String]()
    private val leavers = mutable.Set[String]()
    private var revs = 0L
    private var nextExecutor, nextStage = 1
    private var epoch = 0L
    private var gated = random.nextBoolean()
    private val work = mutable.LinkedHashMap[StageKey, Tasks]()

    private final class Tasks(val weights: Array[Long]) {
      val waiting: mutable.Set[Int] = mutable.LinkedHashSet.from(weights.indices)
      val running: mutable.Map[Int, String] = mutable.LinkedHashMap[Int, String]()
      val at: mutable.Map[Int, String] = mutable.Map[Int, String]()
    }

    def run(): Unit = {
      nodes.foreach(n => (0 to random.nextInt(2)).foreach(_ => add(n)))
      tell()
      (1 to 150).foreach { _ =>
        random.nextInt(17) match {
          case 0 | 1 if nextStage < 12 => submit()
          case 2 if alive.size > 1 => lose(pick(alive.toSeq))
          case 3 if alive.size < 8 => add(pick(nodes)); tell()
          case 4 => gated = !gated; tell()
          case 5 | 6 => failOne()
          case 7 | 8 | 9 | 10 => endOne()
          case 11 if alive.size > leavers.size + 1 => leavers += pick(alive.toSeq.filter(listed.contains) :+ alive.last); tell()
          case 12 => leavers.find(e => busy(e) == 0).foreach(lose)
          case 13 => shareOut()
          case _ => offer()
        }
        check()
      }
      if (alive.forall(leavers)) { add(nodes.head); tell() }
      var steps = 0
      while (work.nonEmpty) {
        offer()
        check()
        assertTrue(work.valuesIterator.exists(_.running.nonEmpty), s"nothing runs and ${work.keys} are left")
        endOne()
        steps += 1
        assertTrue(steps < 10000)
      }
    }

    private def pick[T](from: Seq[T]): T = from(random.nextInt(from.size))

    private def add(node: String): Unit = {
      val id = nextExecutor.toString
      nextExecutor += 1
      // Now and then an executor that the planner has not listed yet.
      if (random.nextInt(5) > 0) listed += id -> node
      alive += id
      b.executorUp(id, "host-" + node)
    }

    private def tell(): Unit = {
      epoch += 1
      b.follow(Directive(epoch, gated, told, ""))
    }

    private def told = listed.toSeq.map { case (e, n) => DirectiveExecutor(e, n, 1.0 + n.head % 3, leavers(e)) }

    /** A hand-over to any of the executors, also some that the stage does not have. */
    private def shareOut(): Unit = if (work.nonEmpty) {
      epoch += 1
      revs += 1
      val key = pick(work.keys.toSeq)
      val weights = alive.toSeq.map(_ -> random.nextInt(20).toDouble).toMap
      b.follow(Directive(epoch, gated, told, "", shares = Seq(StageShares(key, revs, weights))))
    }

    private def submit(): Unit = {
      val n = 1 + random.nextInt(20)
      val bytes = Array.fill(n)((1L << random.nextInt(10)) << 20)
      val weights = TaskWeights.of(bytes).getOrElse(TaskWeights.alike(n))
      assertEquals(n * MeanWeight, weights.sum)
      val key = StageKey(nextStage, 0)
      nextStage += 1
      work(key) = new Tasks(weights)
      b.ready(key, random.nextInt(3), weights, alive.toSeq.map(_ -> random.nextInt(3)).toMap, barrier = false)
    }

    private def busy(e: String): Int = work.valuesIterator.map(_.running.values.count(_ == e)).sum

    /** Whether Spark offers it no more. */
    private def leaves(e: String): Boolean = leavers(e) && listed.contains(e)

    private def offer(): Unit = random.shuffle(alive.toSeq.filterNot(leaves)).foreach { e =>
      work.foreach { case (key, t) =>
        while (busy(e) < slots && t.waiting.nonEmpty && b.admits(key, e, false)) {
          val index = pick(t.waiting.toSeq)
          t.waiting -= index
          t.running(index) = e
          t.at(index) = e
          b.launched(key, index, e)
        }
      }
    }

    private def anyRunning: Option[(StageKey, Tasks, Int, String)] = {
      val all = work.toSeq.flatMap { case (k, t) => t.running.map { case (i, e) => (k, t, i, e) } }
      if (all.isEmpty) None else Some(pick(all))
    }

    private def endOne(): Unit = anyRunning.foreach { case (k, t, i, e) =>
      t.running -= i
      b.ended(k, e)
      if (t.running.isEmpty && t.waiting.isEmpty) {
        work -= k
        b.done(k)
      }
    }

    private def failOne(): Unit = anyRunning.foreach { case (k, t, i, e) =>
      t.running -= i
      b.ended(k, e)
      t.waiting += i
      b.returned(k, i)
    }

    private def lose(e: String): Unit = {
      alive -= e
      leavers -= e
      b.executorGone(e)
      work.foreach { case (k, t) =>
        t.at.filter(_._2 == e).keys.toSeq.foreach { i =>
          if (t.running.remove(i).isDefined) b.ended(k, e)
          t.at -= i
          t.waiting += i
          b.returned(k, i)
        }
      }
    }

    private def check(): Unit = {
      val bound = work.keys.toSeq.map(k => k -> b.current(k))
      bound.foreach { case (k, mine) =>
        val n = work(k).weights.length
        assertTrue(mine.forall(x => alive(x.executor)), s"$k is bound to a lost executor")
        if (mine.nonEmpty) {
          val onNodes = mine.map(x => listed.getOrElse(x.executor, "?" + x.executor))
          assertEquals(onNodes.distinct, onNodes, "two executors on a node")
          assertTrue(mine.map(_.weight).sum <= n + 1e-6, s"$k has shares of more than its $n tasks")
        }
      }
      if (b.gated) {
        val all = bound.flatMap(_._2.map(_.executor))
        assertEquals(all.distinct, all, "an executor is bound twice")
        // A stage with an executor and a task left is admitted somewhere.
        work.foreach { case (k, t) =>
          val mine = b.current(k)
          if (mine.exists(x => !leaves(x.executor)) && t.waiting.nonEmpty) {
            assertTrue(mine.exists(x => b.admits(k, x.executor, false)), s"$k is stranded")
          }
        }
        // An idle executor and a waiting stage do not stay apart.
        val staying = alive.filterNot(leaves)
        val usable = if (staying.exists(listed.contains)) staying.filter(listed.contains) else staying
        val idle = usable.filterNot(all.toSet)
        val left = bound.filter { case (k, mine) => mine.isEmpty && work(k).waiting.nonEmpty }
        assertTrue(idle.isEmpty || left.isEmpty, s"$idle are idle and ${left.map(_._1)} wait")
      }
    }
  }
}
