package org.apache.spark.scheduler.pacer

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.{Dependency, MapOutputTrackerMaster, NarrowDependency, Partition, ShuffleDependency}
import org.apache.spark.rdd.RDD

/**
 * How many bytes each partition of a stage reads: from map output sizes, which
 * are 3 to 5 % off (docs/spark.md, S19), and from input splits.
 */
private[scheduler] final class PartitionSizes(tracker: MapOutputTrackerMaster) {
  import PartitionSizes._

  private val outputs = mutable.Map[Int, Option[Array[Long]]]()
  private val readBytes = mutable.Map[Int, Double]().withDefaultValue(0.0)
  private val known = mutable.Map[(Int, Int), Double]()

  /** Bytes for each of the partitions; None when some of them are not known. */
  def of(rdd: RDD[_], partitions: Array[Int]): Option[Array[Long]] =
    // The DAG scheduler waits meanwhile.
    if (partitions.length > MostPartitions) None else {
      val sizes = partitions.map(size(rdd, _, 0))
      if (sizes.exists(_.isNaN)) None else Some(sizes.map(math.round))
    }

  /**
   * How often a shuffle's bytes are read by the partitions asked for: less than 1
   * when a job needs only some of them, 2 when both sides of a join read it. 1
   * when that is not known.
   */
  def timesRead(d: ShuffleDependency[_, _, _]): Double = {
    val all = output(d).fold(Double.NaN)(_.map(_.toDouble).sum)
    val times = readBytes(d.shuffleId) / all
    if (times > 0 && !times.isInfinite) times else 1.0
  }

  private def size(rdd: RDD[_], partition: Int, depth: Int): Double =
    known.getOrElseUpdate((rdd.id, partition), if (depth > Deepest) Double.NaN else measure(rdd, partition, depth))

  private def measure(rdd: RDD[_], partition: Int, depth: Int): Double = {
    val p = rdd.partitions(partition)
    if (rdd.dependencies.isEmpty) splitSize(p) else rdd.dependencies.map(read(p, partition, depth)(_)).sum
  }

  private def read(p: Partition, partition: Int, depth: Int)(d: Dependency[_]): Double = d match {
    case s: ShuffleDependency[_, _, _] =>
      val bytes = (for ((from, until) <- reducers(p); all <- output(s)) yield all.slice(from, until).map(_.toDouble).sum).getOrElse(Double.NaN)
      readBytes(s.shuffleId) += bytes
      bytes
    case n: NarrowDependency[_] => n.getParents(partition).map(size(n.rdd, _, depth + 1)).sum
    case _ => Double.NaN
  }

  /** The bytes of each reducer; None where the tracker would have to add up too many blocks. */
  private def output(d: ShuffleDependency[_, _, _]): Option[Array[Long]] =
    outputs.getOrElseUpdate(d.shuffleId, if (summable(d.rdd.partitions.length, d.partitioner.numPartitions)) {
      Some(tracker.getStatistics(d).bytesByPartitionId)
    } else None)
}

private[scheduler] object PartitionSizes {
  private val Deepest = 300
  private val MostPartitions = 20000

  /** So many blocks are added up in about half a second. */
  private val MostBlocks = 20000000L

  private[pacer] def summable(maps: Int, reducers: Int): Boolean = maps.toLong * reducers <= MostBlocks

  /**
   * The range of reducers that a partition reads. Adaptive execution's partitions
   * carry a specification (spark-sql is not on this module's class path, hence by
   * shape); other shuffle readers read the reducer of their own index.
   */
  private[pacer] def reducers(p: Partition): Option[(Int, Int)] = p match {
    case withSpec: Product if p.getClass.getSimpleName == "ShuffledRowRDDPartition" && withSpec.productArity == 2 =>
      withSpec.productElement(1) match {
        case spec: Product if spec.productPrefix == "CoalescedPartitionSpec" =>
          Some((spec.productElement(0).asInstanceOf[Int], spec.productElement(1).asInstanceOf[Int]))
        case _ => None // Parts of a reducer's or a mapper's output: their sizes are not in the sums.
      }
    case _ => Some((p.index, p.index + 1))
  }

  /** The size of an input split; NaN for input without one. */
  private def splitSize(p: Partition): Double = try {
    p.getClass.getSimpleName match {
      case "HadoopPartition" => length(call(call(p, "inputSplit"), "value"))
      case "NewHadoopPartition" => length(call(call(p, "serializableHadoopSplit"), "value"))
      case "FilePartition" => filesLength(p)
      case "DataSourceRDDPartition" =>
        call(p, "inputPartitions").asInstanceOf[Iterable[AnyRef]].map(filesLength).sum
      case _ => Double.NaN
    }
  } catch {
    case NonFatal(_) => Double.NaN
  }

  private def filesLength(p: AnyRef): Double =
    call(p, "files").asInstanceOf[Array[AnyRef]].map(f => call(f, "length").asInstanceOf[Long].toDouble).sum

  private def length(split: AnyRef): Double = split match {
    case s: org.apache.hadoop.mapreduce.InputSplit => s.getLength.toDouble
    case s: org.apache.hadoop.mapred.InputSplit => s.getLength.toDouble
    case _ => Double.NaN
  }

  private def call(on: AnyRef, method: String): AnyRef = {
    val m = on.getClass.getMethod(method)
    m.setAccessible(true)
    m.invoke(on)
  }
}
