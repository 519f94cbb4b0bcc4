package org.apache.spark.scheduler.pacer

import org.apache.spark.SparkContext
import org.apache.spark.pacer.{DeadlineClock, PacerConf}
import org.apache.spark.scheduler.TaskSchedulerImpl

/** The scheduler of an application whose executors Pacer starts. */
private[scheduler] final class StageBoundTaskScheduler(sc: SparkContext, val settings: PacerConf, val clock: DeadlineClock)
  extends TaskSchedulerImpl(sc) with StageBoundScheduling {

  lazy val planned = new PacerApplication(this)

  /** The SparkContext does not wait for executors: the first stage does. */
  override def postStartHook(): Unit = ()
}
