package org.apache.spark.scheduler

/**
 * Pacer's scheduling in the driver: a running stage owns its executors.
 *
 * [[pacer.PacerClusterManager]] is found by Spark for `sparkpacer://host:port`
 * and makes a [[pacer.StageBoundTaskScheduler]] and a
 * [[pacer.PacerSchedulerBackend]]. [[pacer.StageBoundScheduling]], a trait for any of
 * Spark's schedulers, gives every task set to a
 * [[pacer.StageBoundTaskSet]], which takes tasks only for executors that
 * [[pacer.StageBindings]] admits, and has a [[pacer.PlannedApplication]] say what
 * happened to the planner through [[org.apache.spark.pacer.PlannerClient]].
 * [[pacer.StageFacts]] knows what a stage reads before it starts,
 * [[pacer.StageTotals]] what it did, [[pacer.InputOrigin]] where its input came from. [[pacer.SessionParts]] knows which jobs
 * of a session have a deadline of their own, by their [[org.apache.spark.pacer.JobGroup]].
 *
 * What the caller must do: hold the TaskSchedulerImpl's lock around every call
 * of StageBindings, as Spark's own scheduling does.
 *
 * '''Lock order.''' A thread that holds one of these takes only those after it:
 *
 *  1. PlannerClient's directives: one directive is followed at a time
 *  1. the TaskSchedulerImpl: offers, task sets, StageBindings
 *  1. the CoarseGrainedSchedulerBackend: Spark's withLock, in offers and decommissioning
 *  1. those of LastHeard, StageHistory, SqlQueries, Outbox and DriverSession, whose holders call nobody
 *
 * Spark takes the scheduler's lock before the back end's (docs/spark.md, S60). So a
 * `synchronized` of PacerSchedulerBackend that calls the scheduler would deadlock; neither it
 * nor PlannedApplication has one, and what they keep is atomic or volatile. LockOrderTest tries every way from
 * here into the scheduler.
 *
 * No code of a user's is called under a lock: what a stage reads is found out before the
 * scheduler's is taken, and of a task's accumulators only Spark's own are read.
 *
 * What it does not do: it chooses no quota and no pool size (planner and node
 * do), starts no executor, and changes no locality, retry or fairness of Spark.
 *
 * One jar serves Spark 4.0 to 4.3. Members that changed between these are not
 * overridden or called: TaskSetManager.resourceOffer and prepareLaunchingTask,
 * WorkerOffer.cores, ExecutorData.freeCores (Int up to 4.2, BigDecimal in 4.3).
 * An override that no longer matches would be silently ignored.
 */
package object pacer
