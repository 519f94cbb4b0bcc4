package org.apache.spark.pacer

import java.util.concurrent.{ConcurrentLinkedQueue, Executors, TimeUnit}
import java.util.concurrent.locks.LockSupport

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.{Test, Timeout}

import org.apache.spark.{SparkConf, SparkContext, SparkEnv}
import org.apache.spark.scheduler.{SparkListener, SparkListenerExecutorMetricsUpdate}
import org.apache.spark.util.AccumulatorV2

class HeartbeatWatchTest {
  import HeartbeatWatchTest._

  @Test @Timeout(60) def aTimerThatHasEndedIsToldFromOneThatGoesOn(): Unit = {
    val (alive, stop) = timer(())
    val (dead, stopDead) = timer(throw new NullPointerException("for the test"))
    while (!HeartbeatWatch.hasEnded(dead)) Thread.onSpinWait()
    while (alive.getState != Thread.State.TIMED_WAITING) Thread.onSpinWait()
    assertFalse(HeartbeatWatch.hasEnded(alive))
    stop()
    stopDead()
    dead.join()
    assertFalse(HeartbeatWatch.hasEnded(dead), "its executor ends")
  }

  @Test @Timeout(60) def itBeatsOnceTheHeartbeaterHasEndedAndThroughFaults(): Unit = {
    var beats = 0
    def beat(): Unit = {
      beats += 1
      if (beats == 1) throw new NoClassDefFoundError("for the test")
    }
    val (dead, stop) = timer(throw new NullPointerException("for the test"))
    var thread = Option.empty[Thread]
    val watch = new HeartbeatWatch(() => thread, () => beat())
    watch.look()
    new HeartbeatWatch(() => Some(Thread.currentThread()), () => beat()).look()
    assertEquals(0, beats)
    while (!HeartbeatWatch.hasEnded(dead)) Thread.onSpinWait()
    thread = Some(dead)
    watch.look()
    watch.look()
    assertEquals(2, beats)
    stop()
  }

  @Test def threadsAreFoundByTheirNames(): Unit = {
    assertEquals(None, HeartbeatWatch.named("a thread that is not there"))
    assertEquals(Some(Thread.currentThread()), HeartbeatWatch.named(Thread.currentThread().getName))
  }

  /** What the driver hears of an executor whose task has an accumulator that throws, on a real executor's heartbeater. */
  @Test @Timeout(120) def anAccumulatorThatThrowsDoesNotEndTheBeats(): Unit = {
    val sc = new SparkContext(new SparkConf(false).setMaster("local[1]").setAppName("t").set("spark.ui.enabled", "false")
      .set("spark.executor.heartbeatInterval", "50ms"))
    try {
      val heard = new ConcurrentLinkedQueue[String]()
      sc.addSparkListener(new SparkListener {
        override def onExecutorMetricsUpdate(u: SparkListenerExecutorMetricsUpdate): Unit =
          if (u.executorUpdates.isEmpty) heard.add(u.execId) // Others are the driver's own.
      })
      val throwing = new Throwing
      sc.register(throwing)
      over = false
      val watch = HeartbeatWatch.of(SparkEnv.get)
      val task = sc.parallelize(Seq(1), 1).foreachAsync { _ =>
        throwing.add(1)
        while (!over) LockSupport.parkNanos(1000000)
      }
      def waited = HeartbeatWatch.named(HeartbeatWatch.ThreadName).exists(HeartbeatWatch.hasEnded)
      while (!waited && !Thread.currentThread().isInterrupted) LockSupport.parkNanos(1000000)
      sc.listenerBus.waitUntilEmpty()
      heard.clear()
      watch.look()
      sc.listenerBus.waitUntilEmpty()
      assertEquals(1, heard.size)
      watch.look()
      sc.listenerBus.waitUntilEmpty()
      assertEquals(2, heard.size)
      over = true
      task.get()
    } finally {
      over = true
      sc.stop()
    }
  }
}

object HeartbeatWatchTest {
  @volatile var over = false

  /** The thread of a timer that does its work once and then an hour later, with what stops it. */
  private def timer(work: => Unit): (Thread, () => Unit) = {
    @volatile var thread: Thread = null
    val pool = Executors.newSingleThreadScheduledExecutor((r: Runnable) => {
      thread = new Thread(r)
      thread
    })
    pool.scheduleAtFixedRate(() => work, 0, 3600, TimeUnit.SECONDS)
    (thread, () => pool.shutdownNow())
  }

  private final class Throwing extends AccumulatorV2[Int, Int] {
    override def isZero: Boolean = if (isAtDriverSide) true else throw new NullPointerException("for the test")
    override def copy(): Throwing = new Throwing
    override def reset(): Unit = ()
    override def add(v: Int): Unit = ()
    override def merge(other: AccumulatorV2[Int, Int]): Unit = ()
    override def value: Int = 0
  }
}
