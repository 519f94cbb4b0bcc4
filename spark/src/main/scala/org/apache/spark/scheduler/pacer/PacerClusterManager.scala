package org.apache.spark.scheduler.pacer

import org.apache.spark.{SPARK_VERSION, SparkContext}
import org.apache.spark.memory.pacer.MemoryPools
import org.apache.spark.pacer.{DriverContexts, EndlessSession, ObjectOutput, PacerConf}
import org.apache.spark.pacer.Stderr.say
import org.apache.spark.scheduler.{ExternalClusterManager, SchedulerBackend, TaskScheduler, TaskSchedulerImpl}

/**
 * The entry point: Spark finds it by its service file for
 * `--master sparkpacer://host:port`. The scheme must begin with "spark" for stock
 * spark-submit to let it pass (docs/spark.md, S1).
 *
 * Faults of the configuration end the start with one line (SparkException).
 */
private[spark] final class PacerClusterManager extends ExternalClusterManager {

  override def canCreate(masterURL: String): Boolean = masterURL.startsWith(PacerConf.Scheme)

  override def createTaskScheduler(sc: SparkContext, masterURL: String): TaskScheduler = {
    PacerConf.checkSpark(SPARK_VERSION)
    val context = DriverContexts.here.next(PacerConf.submitted(sc.conf))
    val settings = onThisSpark(EndlessSession.setAside(PacerConf.parse(masterURL, sc.conf, context)))
    settings.pastDue.foreach(say)
    PacerConf.complete(sc.conf, settings.deadline, settings.mode).foreach(say)
    ObjectOutput.complete(sc, settings).foreach(say)
    // Spark would say every 15 s that the cluster has no resources while the application is queued.
    sc.conf.setIfMissing("spark.starvation.timeout", "365d")
    new StageBoundTaskScheduler(sc, settings, context.clock)
  }

  /** Leaves scheduling to Spark where that is not the one which Pacer's classes were made for. */
  private def onThisSpark(settings: PacerConf): PacerConf = try {
    if (MemoryPools.gone.nonEmpty) say(s"Spark $SPARK_VERSION has changed ${MemoryPools.gone.mkString(", ")}: off-heap memory does not move")
    if (settings.mode == PacerConf.Off || Overrides.gone.isEmpty) settings
    else {
      say(s"Spark $SPARK_VERSION has changed ${Overrides.gone.mkString(", ")}, which Pacer overrides: mode off, nothing is paced")
      settings.copy(mode = PacerConf.Off)
    }
  } catch {
    case e: LinkageError => throw PacerConf.refuse(s"Spark $SPARK_VERSION has changed what Pacer needs: $e")
  }

  override def createSchedulerBackend(sc: SparkContext, masterURL: String, scheduler: TaskScheduler): SchedulerBackend =
    new PacerSchedulerBackend(scheduler.asInstanceOf[StageBoundTaskScheduler], sc)

  override def initialize(scheduler: TaskScheduler, backend: SchedulerBackend): Unit =
    scheduler.asInstanceOf[TaskSchedulerImpl].initialize(backend)
}
