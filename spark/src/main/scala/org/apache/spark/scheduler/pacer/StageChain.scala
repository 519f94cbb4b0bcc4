package org.apache.spark.scheduler.pacer

import scala.collection.mutable

import org.apache.spark.ShuffleDependency
import org.apache.spark.rdd.RDD

/**
 * The RDDs that one stage computes and the shuffles it reads, in a fixed order.
 *
 * @param otherInput it also reads what no shuffle wrote
 */
private[scheduler] final case class StageChain(
    rdds: Seq[RDD[_]],
    shuffles: Seq[ShuffleDependency[_, _, _]],
    otherInput: Boolean) {

  /** Whether Python workers compute a part of it: Spark names RDDs or, in SQL, operators by them. */
  def python: Boolean = rdds.exists { r =>
    val names = Seq(r.getClass.getSimpleName) ++ r.scope.map(_.name)
    names.exists(name => StageChain.Python.exists(name.contains))
  }
}

private[scheduler] object StageChain {
  private val Longest = 10000

  /** As in PythonRDD, BatchEvalPython, MapInPandas and FlatMapGroupsInArrow. */
  private val Python = Seq("Python", "InPandas", "InArrow")

  def of(last: RDD[_]): StageChain = {
    val seen = mutable.LinkedHashMap[Int, RDD[_]](last.id -> last)
    val shuffles = mutable.ArrayBuffer[ShuffleDependency[_, _, _]]()
    val open = mutable.Queue[RDD[_]](last)
    var otherInput = false
    while (open.nonEmpty && seen.size <= Longest) {
      val rdd = open.dequeue()
      if (rdd.dependencies.isEmpty) otherInput = true
      rdd.dependencies.foreach {
        case d: ShuffleDependency[_, _, _] => shuffles += d
        case d => if (seen.put(d.rdd.id, d.rdd).isEmpty) open.enqueue(d.rdd)
      }
    }
    StageChain(seen.values.toSeq, shuffles.toSeq, otherInput)
  }
}
