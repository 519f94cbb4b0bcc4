package org.apache.spark.scheduler.pacer

import java.util.Properties

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.{ShuffleDependency, SparkContext}
import org.apache.spark.internal.Logging
import org.apache.spark.pacer.Wire.QueryStage
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{ShuffleMapStage, Stage}
import org.apache.spark.storage.StorageLevel

/**
 * The SQL queries that have had stages and have not ended. The DAG scheduler's thread asks for the places
 * of stages, without a lock; another one may ask what has ended. Nothing here throws.
 */
private[scheduler] final class SqlQueries extends Logging {
  import SqlQueries._

  // Guarded by this.
  private val open = mutable.LinkedHashMap[Long, SqlQuery]()
  private val seen = mutable.LinkedHashMap[String, Int]()

  /** The place of a stage, which computes chain, in its query; None where it has none, or it cannot be told. */
  def place(properties: Properties, stage: Stage, chain: StageChain): Option[QueryStage] =
    quietly(Option.empty[QueryStage]) {
      for {
        execution <- property(properties, Execution).flatMap(_.toLongOption)
        query <- queryOf(execution)
        tags = property(properties, SparkContext.SPARK_JOB_TAGS).fold(Seq.empty[String])(_.split(',').toSeq)
        exchange <- query.exchange(stage, chain, tags)
      } yield QueryStage(execution, query.initial.shape, query.nth, exchange)
    }

  /** Counts equal queries from the beginning: a part of a session has begun. */
  def anew(): Unit = synchronized(seen.clear())

  /** The queries that have ended since, each told once. */
  def ended(): Seq[Long] = quietly(Seq.empty[Long]) {
    val gone = synchronized(open.keys.toSeq).filter(SparkPlans.query(_).isEmpty)
    synchronized(open --= gone)
    gone
  }

  private def queryOf(execution: Long): Option[SqlQuery] = synchronized(open.get(execution)).orElse {
    for (query <- SparkPlans.query(execution); initial <- SparkPlans.initial(query)) yield synchronized {
      val nth = seen.remove(initial.shape).getOrElse(0)
      seen(initial.shape) = nth + 1
      if (seen.size > MostShapes) seen.remove(seen.head._1)
      val made = new SqlQuery(query, initial, nth)
      open(execution) = made
      if (open.size > MostOpen) open.remove(open.head._1)
      made
    }
  }

  private def quietly[T](otherwise: T)(body: => T): T = try body catch {
    case e @ (NonFatal(_) | _: LinkageError) =>
      logDebug("pacer: the place of a stage in its query is not known", e)
      otherwise
  }
}

private[scheduler] object SqlQueries {
  private val Execution = "spark.sql.execution.id"
  private val MostOpen = 1000
  private val MostShapes = 10000

  private def property(p: Properties, name: String): Option[String] =
    Option(p).flatMap(all => Option(all.getProperty(name)))
}

/**
 * A query that runs. Its plan changes with adaptive execution; of that the exchange is found that made a
 * stage's shuffle, and by the operators below that its place in the plan from before. To be used by one
 * thread.
 */
private[scheduler] final class SqlQuery(query: AnyRef, val initial: PlanTree, val nth: Int) {
  private var current = initial

  /** The ordinal of what a stage hands on; None where it cannot be told. */
  def exchange(stage: Stage, chain: StageChain, tags: Seq[String]): Option[Int] = stage match {
    case map: ShuffleMapStage => written(map.shuffleDep).map(_.operator).flatMap(before).orElse(limit(map.shuffleDep.rdd))
    case _ => broadcast(tags).orElse(cached(stage.rdd)).orElse(result(stage.rdd, chain))
  }

  private def broadcast(tags: Seq[String]): Option[Int] = if (!tags.exists(_.startsWith("broadcast exchange"))) None else {
    located(e => SparkPlans.jobTag(e.plan).exists(tags.contains)).map(_.operator).flatMap(before)
  }

  /** A job that fills a cache. */
  private def cached(rdd: RDD[_]): Option[Int] = if (rdd.getStorageLevel == StorageLevel.NONE) None else {
    initial.caches.collectFirst { case (scan, ordinal) if SparkPlans.cache(scan).exists(_ eq rdd) => ordinal }
  }

  /** What is below an exchange and does not write it samples data for it; a subquery's result is below that. */
  private def result(rdd: RDD[_], chain: StageChain): Option[Int] = {
    val above = chain.shuffles.flatMap(written(_)).map(_.within)
    above.maxOption.orElse(if (scope(rdd).contains("Exchange")) sampled else None) match {
      case Some(operator) if operator != QueryStage.Result => before(operator)
      case _ => Some(QueryStage.Result)
    }
  }

  /** What the innermost exchange hands on that has no shuffle yet: a sample is taken before. */
  private def sampled: Option[Int] = {
    val waiting = current.exchanges.filter(e => SparkPlans.shuffles(e.plan) && SparkPlans.shuffle(e.plan).isEmpty)
    waiting.find(e => !waiting.exists(_.within == e.operator)).map(_.operator)
  }

  /** Limits have shuffles of their own. */
  private def limit(rdd: RDD[_]): Option[Int] = scope(rdd).map(initial.named(_)).collect { case Seq(one) => one }

  private def scope(rdd: RDD[_]): Option[String] = rdd.scope.map(_.name)

  private def written(d: ShuffleDependency[_, _, _]): Option[PlanTree.Exchange] =
    located(e => SparkPlans.shuffle(e.plan).exists(_ eq d))

  private def located(is: PlanTree.Exchange => Boolean): Option[PlanTree.Exchange] = current.exchanges.find(is).orElse {
    SparkPlans.current(query).flatMap { now =>
      current = now
      now.exchanges.find(is)
    }
  }

  private def before(operator: Int): Option[Int] = initial.placeOf(current, operator)
}
