package org.apache.spark.scheduler.pacer

import org.apache.spark.{SPARK_VERSION, SparkContext}
import org.apache.spark.pacer.{DriverContexts, PacerConf}
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
    val settings = PacerConf.parse(masterURL, sc.conf, context)
    // scalastyle:off println
    PacerConf.complete(sc.conf, settings.deadline, settings.mode).foreach(line => System.err.println("pacer: " + line))
    // scalastyle:on println
    // Spark would say every 15 s that the cluster has no resources while the application is queued.
    sc.conf.setIfMissing("spark.starvation.timeout", "365d")
    new StageBoundTaskScheduler(sc, settings, context.clock)
  }

  override def createSchedulerBackend(sc: SparkContext, masterURL: String, scheduler: TaskScheduler): SchedulerBackend =
    new PacerSchedulerBackend(scheduler.asInstanceOf[StageBoundTaskScheduler], sc)

  override def initialize(scheduler: TaskScheduler, backend: SchedulerBackend): Unit =
    scheduler.asInstanceOf[TaskSchedulerImpl].initialize(backend)
}
