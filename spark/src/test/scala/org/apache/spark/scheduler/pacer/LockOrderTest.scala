package org.apache.spark.scheduler.pacer

import java.lang.management.ManagementFactory
import java.util.concurrent.CountDownLatch

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.{Test, Timeout}

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.pacer.Wire.{Directive, DirectiveExecutor, Queued}
import org.apache.spark.resource.ResourceProfile

/**
 * Every way from the back end into the scheduler, while a thread holds the scheduler's lock
 * and asks for the back end's, as Spark does with each round of offers.
 */
class LockOrderTest {

  private def withBackend(body: (StageBoundTaskScheduler, PacerSchedulerBackend) => Unit): Unit = {
    val sc = new SparkContext(new SparkConf(false).setMaster("pacer-test").setAppName("t").set("spark.ui.enabled", "false"))
    try {
      val scheduler = sc.taskScheduler.asInstanceOf[StageBoundTaskScheduler]
      val local = scheduler.backend
      val backend = new PacerSchedulerBackend(scheduler, sc)
      scheduler.initialize(backend)
      try body(scheduler, backend) finally scheduler.initialize(local)
    } finally {
      sc.stop()
      // Who died has begun to stop it on a thread of its own.
      while (SparkContext.getActive.nonEmpty) Thread.onSpinWait()
    }
  }

  @Test @Timeout(120) def aDeadDirectiveIsFollowedInSparksOrder(): Unit = withBackend { (scheduler, backend) =>
    // Between taking the directive in and ending the application it asks who was heard last.
    inOrder("a dead directive", scheduler, backend, after = Some(scheduler.heard)) {
      scheduler.planned.follow(Directive(1, gated = true, Nil, "", dead = "killed by its user"))
    }
  }

  @Test @Timeout(120) def everyOtherWayTakesSparksOrderOrNone(): Unit = withBackend { (scheduler, backend) =>
    scheduler.heard.registered("1", System.nanoTime() - (1L << 50))
    scheduler.heard.follow(Seq("1"))
    val draining = Directive(1, gated = true, Seq(DirectiveExecutor("1", "a", 1.0, leaving = true, nodeLost = true)), "")
    val taken = Directive(2, gated = true, Seq(DirectiveExecutor("2", "a", 1.0, leaving = true, taken = true)), "")
    val barrier = ResourceProfile.getOrCreateDefaultProfile(scheduler.sc.conf)
    Seq[(String, () => Unit)](
      "executors leave" -> (() => scheduler.planned.follow(draining)),
      "memory is taken back" -> (() => scheduler.planned.follow(taken)),
      "an executor is given up" -> (() => scheduler.planned.giveUp()),
      "the planner refuses it" -> (() => scheduler.planned.die("its submission has ended", aloud = true)),
      "a stage is submitted after that" -> (() => scheduler.planned.abortDead()),
      "a barrier stage counts slots" -> (() => backend.maxNumConcurrentTasks(barrier): Unit),
      "a planner asks what is true" -> (() => scheduler.recall(): Unit),
      "an executor is lost" -> (() => scheduler.executorLost("1", org.apache.spark.scheduler.ExecutorKilled)))
      .foreach { case (what, way) => inOrder(what, scheduler, backend)(way()) }
  }

  @Test @Timeout(120) def nobodyWaitsForExecutorsToCountThem(): Unit = withBackend { (scheduler, backend) =>
    scheduler.planned.follow(Directive(1, gated = true, Nil, "", queued = Some(Queued(1, 1, 0))))
    assertEquals(Int.MaxValue, backend.maxNumConcurrentTasks(ResourceProfile.getOrCreateDefaultProfile(scheduler.sc.conf)))
  }

  /**
   * Lets one thread go a way that needs the scheduler's lock, which another one holds that then
   * takes the back end's. With after, the way is stopped at that lock first.
   */
  private def inOrder(what: String, scheduler: AnyRef, backend: AnyRef, after: Option[AnyRef] = None)(way: => Unit): Unit = {
    val held = new CountDownLatch(1)
    val goes = daemon(way)
    val spark = daemon(scheduler.synchronized {
      held.countDown()
      awaitBlocked(goes, scheduler)
      backend.synchronized(())
    })
    after match {
      case None =>
        spark.start()
        held.await()
        goes.start()
      case Some(lock) => lock.synchronized {
        goes.start()
        awaitBlocked(goes, lock)
        spark.start()
        held.await()
      }
    }
    while (goes.isAlive || spark.isAlive) {
      assertNull(threads.findDeadlockedThreads(), s"$what: threads wait for each other")
      Thread.onSpinWait()
    }
  }

  private val threads = ManagementFactory.getThreadMXBean

  /** Waits until the thread waits for that lock, or has ended. */
  private def awaitBlocked(thread: Thread, on: AnyRef): Unit = {
    def waitsFor = Option(threads.getThreadInfo(thread.getId)).flatMap(i => Option(i.getLockInfo)).map(_.getIdentityHashCode)
    while (thread.getState == Thread.State.NEW || thread.isAlive && !waitsFor.contains(System.identityHashCode(on))) Thread.onSpinWait()
  }

  private def daemon(body: => Unit): Thread = {
    val t = new Thread(() => body)
    t.setDaemon(true)
    t
  }
}
