package org.apache.spark.scheduler.pacer

import java.util.ServiceLoader

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.{SparkContext, SparkException}
import org.apache.spark.scheduler.{ExternalClusterManager, SchedulerBackend, TaskScheduler, TaskSchedulerImpl}
import org.apache.spark.scheduler.cluster.{YarnClusterScheduler, YarnScheduler}
import org.apache.spark.util.Utils

/**
 * Makes a scheduler that binds stages in front of the back end of Spark's own cluster manager, which is
 * asked for everything else. Only [[Attachment]] shows it to Spark.
 */
private[spark] final class AttachedClusterManager extends ExternalClusterManager {
  private val attachment = Attachment.shown

  override def canCreate(url: String): Boolean = attachment.exists(_.claims(url))

  override def createTaskScheduler(sc: SparkContext, url: String): TaskScheduler = try {
    AttachedSchedulers.of(sc, attachment.get)
  } catch {
    case e @ (NonFatal(_) | _: LinkageError) =>
      attachment.get.leave(s"its scheduler is not ours to replace ($e)")
      stock(url).createTaskScheduler(sc, url)
  }

  override def createSchedulerBackend(sc: SparkContext, url: String, scheduler: TaskScheduler): SchedulerBackend =
    stock(url).createSchedulerBackend(sc, url, scheduler)

  override def initialize(scheduler: TaskScheduler, backend: SchedulerBackend): Unit =
    scheduler.asInstanceOf[TaskSchedulerImpl].initialize(backend)

  /** Spark's own. */
  private def stock(url: String): ExternalClusterManager =
    ServiceLoader.load(classOf[ExternalClusterManager], Utils.getContextOrSparkClassLoader).asScala
      .find(_.canCreate(url)).getOrElse(throw new SparkException(s"Could not parse Master URL: '$url'"))
}

/** Spark's schedulers, with stages bound. Those of YARN are loaded where its jar is. */
private object AttachedSchedulers {
  def of(sc: SparkContext, attachment: Attachment): TaskScheduler =
    if (attachment.manager != "yarn") new AttachedScheduler(sc, attachment)
    else if (sc.deployMode == "cluster") new AttachedYarnClusterScheduler(sc, attachment)
    else new AttachedYarnScheduler(sc, attachment)
}

private[scheduler] trait AttachedScheduling extends StageBoundScheduling {
  protected def attachment: Attachment
  override def settings = attachment.settings
  override def clock = attachment.clock
  override lazy val planned = new AttachedApplication(this, attachment)
}

private[pacer] final class AttachedScheduler(sc: SparkContext, val attachment: Attachment)
  extends TaskSchedulerImpl(sc) with AttachedScheduling

private final class AttachedYarnScheduler(sc: SparkContext, val attachment: Attachment)
  extends YarnScheduler(sc) with AttachedScheduling

private final class AttachedYarnClusterScheduler(sc: SparkContext, val attachment: Attachment)
  extends YarnClusterScheduler(sc) with AttachedScheduling
