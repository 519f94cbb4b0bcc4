package org.apache.spark.scheduler.pacer

import scala.collection.mutable

/**
 * The operators of a SQL query's plan, in a normal form that adaptive execution leaves alone: without
 * exchanges, reads of them, stages, codegen and other wrappers, without sorts that a join or a window asks
 * for, with one name for all joins, and with aggregates in pairs. Its nodes are those of SparkPlanInfo, to which a cached table's
 * plan is the table scan's child.
 *
 * An operator's ordinal is its place in the plan, depth first. Those of cached tables' plans and of dynamic
 * pruning come behind all others. The shape is a hash over the tree; of a cached table's plan it has the
 * operators down to other cached tables. profiles.PlanNode of the Go module has the same shape.
 */
private[scheduler] final class PlanTree private (nodes: IndexedSeq[PlanTree.Node]) {
  import PlanTree._

  private val above = new Array[Int](nodes.size) // The operator above each node, -1 for none.
  private val names = nodes.map(n => normal(n.name))
  private val operator = new Array[Boolean](nodes.size)
  private val layer = new Array[Int](nodes.size)
  for (i <- nodes.indices) {
    val parent = nodes(i).parent
    above(i) = if (parent < 0) -1 else if (operator(parent)) parent else above(parent)
    operator(i) = !Wrappers(names(i)) && !(names(i) == "Sort" && above(i) >= 0 && sorts(names(above(i))))
    layer(i) = if (Pruning(names(i))) Aside else if (parent < 0) 0 else below(layer(parent), names(parent))
  }

  // Aggregates come in pairs. Some versions make one of a pair that has no exchange between.
  private val whole = nodes.indices.map(i => operator(i) && Aggregates(names(i)) && !continues(i)).toArray
  for (i <- nodes.indices if operator(i) && continues(i)) whole(above(i)) = false

  private val inOrder = nodes.indices.filter(operator(_)).sortBy(layer(_)).flatMap(i => if (whole(i)) Seq(i, i) else Seq(i))
  private val ordinals = inOrder.zipWithIndex.reverseIterator.toMap
  private val hashes = {
    val inputs = Array.fill(nodes.size)(List.empty[String])
    val all = new Array[String](nodes.size)
    for (i <- nodes.indices.reverse if operator(i)) {
      val below = if (whole(i)) Seq(StageSignature.digest(names(i) +: inputs(i))) else inputs(i)
      all(i) = StageSignature.digest(names(i) +: below)
      val up = above(i)
      if (up >= 0 && (layer(up) == layer(i) || layer(up) == 0 && layer(i) == 1)) inputs(up) = all(i) :: inputs(up)
    }
    all
  }

  /** The hash over all operators but those behind the second cached table. */
  val shape: String = inOrder.distinct.filter(i => layer(i) == 0 && above(i) < 0).map(hashes(_)) match {
    case Seq(one) => one
    case several => StageSignature.digest(several)
  }

  /** What hands its input on to other stages, in the plan's order. */
  val exchanges: Seq[Exchange] =
    nodes.indices.filter(hands(_)).flatMap(i => input(i).map(in => Exchange(nodes(i).plan, ordinals(in), within(i))))

  private def continues(i: Int): Boolean = above(i) >= 0 && names(above(i)) == names(i)

  private def hands(i: Int): Boolean = Exchanges(names(i))

  /** The first operator below a node. */
  private def input(i: Int): Option[Int] =
    (i + 1 until nodes.size).iterator.takeWhile(j => nodes(j).parent >= i).find(operator(_))

  /** The ordinal of what the nearest exchange or subquery above hands on, -1 for the query's result. */
  private def within(i: Int): Int = {
    var at = nodes(i).parent
    while (at >= 0 && !hands(at) && names(at) != "Subquery") at = nodes(at).parent
    if (at < 0) -1 else input(at).fold(-1)(ordinals)
  }

  /** The scans of cached tables, with their ordinals. */
  def caches: Seq[(AnyRef, Int)] =
    inOrder.zipWithIndex.collect { case (i, ordinal) if scansCache(names(i)) => (nodes(i).plan, ordinal) }

  /** The ordinals of operators with that name. */
  def named(name: String): Seq[Int] = normal(name) match {
    case n => inOrder.indices.filter(o => names(inOrder(o)) == n)
  }

  /** Where an operator of other, which is this plan as it is executed, stands in this one; None if nowhere. */
  def placeOf(other: PlanTree, ordinal: Int): Option[Int] =
    if (other.shape == shape && other.layer(other.inOrder(ordinal)) <= 1) Some(ordinal) else {
      val hash = other.hashOf(ordinal)
      val same = alike(hash)
      same.lift(math.min(other.alike(hash).indexOf(ordinal), same.size - 1))
    }

  private def hashOf(ordinal: Int): String = hashes(inOrder(ordinal))
  private lazy val byHash = inOrder.indices.groupBy(hashOf)
  private def alike(hash: String): Seq[Int] = byHash.getOrElse(hash, Nil)
}

private[scheduler] object PlanTree {
  /** Plans of more nodes are left alone, cached tables behind cached tables from far fewer on. */
  val MostNodes = 20000
  private val MostCached = 2000
  private val Aside = Int.MaxValue

  /**
   * A node with its name and the place of its parent, -1 for none.
   *
   * @param plan Spark's own node, null where there is none
   */
  final case class Node(name: String, parent: Int, plan: AnyRef)

  /** What hands on the output of an operator; within is that of what this is itself handed on by. */
  final case class Exchange(plan: AnyRef, operator: Int, within: Int)

  private val Exchanges = Set("Exchange", "BroadcastExchange")
  private val Wrappers = Exchanges ++ Set("WholeStageCodegen", "InputAdapter", "AdaptiveSparkPlan", "ShuffleQueryStage",
    "BroadcastQueryStage", "TableCacheQueryStage", "ResultQueryStage", "AQEShuffleRead", "ReusedExchange", "ReusedSubquery",
    "ColumnarToRow", "RowToColumnar")
  private val Joins =
    Set("SortMergeJoin", "ShuffledHashJoin", "BroadcastHashJoin", "BroadcastNestedLoopJoin", "CartesianProduct")
  private val Aggregates = Set("HashAggregate", "ObjectHashAggregate", "SortAggregate")
  private val Pruning = Set("SubqueryBroadcast", "SubqueryAdaptiveBroadcast")

  private def normal(name: String): String = Blinded(name).trim match {
    case join if Joins(join) => "Join"
    case other => other
  }

  /** Whether an operator may ask for sorted input, which it need not where that is sorted already. */
  private def sorts(name: String): Boolean = name == "Join" || name == "SortAggregate" || name.contains("Window")

  private def scansCache(name: String): Boolean = name == "InMemoryTableScan" || name.startsWith("Scan In-memory table")

  private def below(layer: Int, parent: String): Int = if (layer != Aside && scansCache(parent)) layer + 1 else layer

  /**
   * The tree below root, whose nodes have these names and children; None where it has too many of them.
   * Cached tables behind cached tables are read while there are few nodes: a loop makes ever more of them.
   */
  def of(root: AnyRef)(name: AnyRef => String, children: AnyRef => Seq[AnyRef]): Option[PlanTree] = {
    val nodes = mutable.ArrayBuffer[Node]()
    val open = mutable.Stack[(AnyRef, Int, Int)]((root, -1, 0)) // With how many cached tables are above.
    while (open.nonEmpty && nodes.size <= MostNodes) {
      val (plan, parent, caches) = open.pop()
      val (at, called) = (nodes.size, name(plan))
      nodes += Node(called, parent, plan)
      val behind = if (scansCache(called)) caches + 1 else caches
      if (behind < 2 || nodes.size < MostCached) {
        children(plan).reverseIterator.foreach(child => open.push((child, at, behind)))
      }
    }
    if (open.nonEmpty) None else Some(new PlanTree(nodes.toIndexedSeq))
  }
}
