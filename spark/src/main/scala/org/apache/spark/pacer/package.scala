package org.apache.spark

/**
 * Pacer inside Spark's JVMs, apart from scheduling
 * ([[org.apache.spark.scheduler.pacer]]).
 *
 * Driver side: [[pacer.PacerConf]] reads and completes the configuration,
 * [[pacer.PlannerClient]] talks to the planner over NATS in the messages of
 * [[pacer.Wire]], [[pacer.Outbox]] keeps driver events until they are
 * acknowledged. Executor side: [[pacer.PacerPlugin]] folds task metrics into a
 * [[pacer.TaskLedger]] and publishes it on the [[pacer.ProgressPage]].
 *
 * Units: times on the wire are seconds on the application's deadline clock
 * ([[pacer.DeadlineClock]]); the page has nanoseconds of System.nanoTime.
 * Weights are millionths as Long ("micro"), the mean task weighs one million, so
 * that shares add up exactly.
 *
 * Losing the planner costs control, never work: nothing here may block Spark's
 * scheduler or throw into a task.
 *
 * The package lies below org.apache.spark because the interfaces that it
 * implements are private[spark].
 */
package object pacer
