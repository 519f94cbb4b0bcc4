package org.apache.spark.scheduler.pacer

import java.lang.reflect.{Field, Method}
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{ShuffleDependency, SparkContext}
import org.apache.spark.rdd.RDD

/**
 * Spark SQL's plans by reflection: it is not on this module's class path (docs/spark.md, S70 to S72). A plan is
 * only looked at. What is not evaluated yet stays so, but for an executed plan, which is there before the
 * first job of its query.
 */
private[scheduler] object SparkPlans {
  private val methods = new ConcurrentHashMap[(Class[_], String), Method]()
  private val fields = new ConcurrentHashMap[(Class[_], String), Option[Field]]()
  private lazy val queries =
    Class.forName("org.apache.spark.sql.execution.SQLExecution", true, classOf[SparkContext].getClassLoader)
      .getMethod("getQueryExecution", java.lang.Long.TYPE)

  /** The query (QueryExecution) that runs under that number; None once it has ended. */
  def query(execution: Long): Option[AnyRef] = Option(queries.invoke(null, java.lang.Long.valueOf(execution)))

  /** The plan of a query before adaptive execution. */
  def initial(query: AnyRef): Option[PlanTree] = tree(query, "initialPlan")

  /** The plan as it is now. */
  def current(query: AnyRef): Option[PlanTree] = tree(query, "executedPlan")

  private def tree(query: AnyRef, adaptive: String): Option[PlanTree] =
    PlanTree.of(call(query, "executedPlan"))(name, inputs(_, adaptive))

  /** The shuffle that a plan's node writes; None where it has not made one yet, or is something else. */
  def shuffle(plan: AnyRef): Option[ShuffleDependency[_, _, _]] =
    read(plan, Shuffle).collect { case d: ShuffleDependency[_, _, _] => d }

  /** Whether a node is one that writes a shuffle. */
  def shuffles(plan: AnyRef): Boolean = field(plan, Shuffle).isDefined

  /** What a scan of a cached table has of it, from when that is to be filled. */
  def cache(plan: AnyRef): Option[RDD[_]] = kind(plan) match {
    case Cached =>
      read(call(call(plan, "relation"), "cacheBuilder"), "_cachedColumnBuffers").collect { case r: RDD[_] => r }
    case _ => None
  }

  /** The tag of the jobs that make a broadcast; None with any other node. */
  def jobTag(plan: AnyRef): Option[String] = kind(plan) match {
    case Broadcast => Some(call(plan, "jobTag").toString)
    case _ => None
  }

  private def name(plan: AnyRef): String = call(plan, "nodeName").toString

  /** The children that SparkPlanInfo gives a node; adaptive has the one of adaptive execution. */
  private def inputs(plan: AnyRef, adaptive: String): Seq[AnyRef] = kind(plan) match {
    case Adaptive => Seq(call(plan, adaptive))
    case QueryStage => Seq(call(plan, "plan"))
    case Reused => Seq(call(plan, "child"))
    case Cached => Seq(call(call(plan, "relation"), "cachedPlan"))
    case _ => seq(call(plan, "children")) ++ seq(call(plan, "subqueries"))
  }

  private def seq(of: AnyRef): Seq[AnyRef] = of.asInstanceOf[scala.collection.Seq[AnyRef]].toSeq

  private sealed trait Kind
  private case object Adaptive extends Kind
  private case object QueryStage extends Kind
  private case object Reused extends Kind
  private case object Cached extends Kind
  private case object Broadcast extends Kind
  private case object Other extends Kind

  private def kind(plan: AnyRef): Kind = kinds.get(plan.getClass)

  private val kinds = new ClassValue[Kind] {
    override def computeValue(c: Class[_]): Kind = {
      val names = classes(c).flatMap(k => k +: k.getInterfaces.toSeq).map(_.getSimpleName).toSet
      if (names("AdaptiveSparkPlanExec")) Adaptive
      else if (names("QueryStageExec")) QueryStage
      else if (names("ReusedExchangeExec") || names("ReusedSubqueryExec")) Reused
      else if (names("InMemoryTableScanLike")) Cached
      else if (names("BroadcastExchangeLike")) Broadcast
      else Other
    }
  }

  /** The field behind a lazy val: its method would make the shuffle. */
  private val Shuffle = "shuffleDependency"

  private def read(on: AnyRef, name: String): Option[AnyRef] = field(on, name).flatMap(f => Option(f.get(on)))

  private def field(on: AnyRef, name: String): Option[Field] = fields.computeIfAbsent((on.getClass, name), _ =>
    classes(on.getClass).flatMap(_.getDeclaredFields.toSeq).find(_.getName == name).filter(_.trySetAccessible()))

  private def classes(c: Class[_]): Seq[Class[_]] =
    Iterator.iterate[Class[_]](c)(_.getSuperclass).takeWhile(_ != null).toSeq

  private def call(on: AnyRef, method: String): AnyRef =
    methods.computeIfAbsent((on.getClass, method), _ => on.getClass.getMethod(method)).invoke(on)
}
