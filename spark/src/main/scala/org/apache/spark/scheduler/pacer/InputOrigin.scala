package org.apache.spark.scheduler.pacer

import org.apache.spark.scheduler.{ExecutorCacheTaskLocation, TaskLocation}

/** Where what a task reads comes from, but for shuffles, of which Spark tells itself. */
private[scheduler] sealed trait InputOrigin

private[scheduler] object InputOrigin {
  /** Blocks that the task's executor holds: neither a disk nor the network. */
  case object Cached extends InputOrigin
  /** A disk of the task's host. */
  case object Disk extends InputOrigin
  /** Another host. */
  case object Elsewhere extends InputOrigin

  /**
   * That of a task on an executor, by the places that its partition prefers. One without a place reads from a service,
   * as an object store, unless its files are the machine's own: Spark leaves the name localhost out.
   */
  def of(places: Seq[TaskLocation], executor: String, host: String, ownFiles: Boolean): InputOrigin =
    if (places.exists { case e: ExecutorCacheTaskLocation => e.executorId == executor; case _ => false }) Cached
    else if (places.exists(_.host == host) || places.isEmpty && ownFiles) Disk
    else Elsewhere
}
