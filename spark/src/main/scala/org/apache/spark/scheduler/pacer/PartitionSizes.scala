package org.apache.spark.scheduler.pacer

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.{Dependency, MapOutputTrackerMaster, NarrowDependency, Partition, ShuffleDependency}
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.MapStatus

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
      val bytes = reads(p).flatMap(bytesOf(s, _)).getOrElse(Double.NaN)
      readBytes(s.shuffleId) += bytes
      bytes
    case n: NarrowDependency[_] => n.getParents(partition).map(size(n.rdd, _, depth + 1)).sum
    case _ => Double.NaN
  }

  private def bytesOf(d: ShuffleDependency[_, _, _], reads: Reads): Option[Double] = reads match {
    case Reducers(from, until) => output(d).map(_.slice(from, until).map(_.toDouble).sum)
    case Part(bytes) => Some(bytes.toDouble)
    case Maps(from, until, reducers) => if (!summable(d)) None else {
      val range = reducers.getOrElse((0, d.partitioner.numPartitions))
      tracker.shuffleStatuses.get(d.shuffleId).flatMap(_.withMapStatuses(all => blocks(all.slice(from, until), range)))
    }
  }

  /** What some maps wrote for a range of reducers; None where a map has not written or is lost. */
  private def blocks(maps: Array[MapStatus], reducers: (Int, Int)): Option[Double] =
    if (maps.contains(null)) None
    else Some(maps.iterator.map(m => (reducers._1 until reducers._2).iterator.map(m.getSizeForBlock(_)).sum).sum.toDouble)

  /** The bytes of each reducer; None where the tracker would have to add up too many blocks. */
  private def output(d: ShuffleDependency[_, _, _]): Option[Array[Long]] =
    outputs.getOrElseUpdate(d.shuffleId, if (summable(d)) Some(tracker.getStatistics(d).bytesByPartitionId) else None)

  private def summable(d: ShuffleDependency[_, _, _]): Boolean =
    PartitionSizes.summable(d.rdd.partitions.length, d.partitioner.numPartitions)
}

private[scheduler] object PartitionSizes {
  private val Deepest = 300
  private val MostPartitions = 20000

  /** So many blocks are added up in about half a second. */
  private val MostBlocks = 20000000L

  private[pacer] def summable(maps: Int, reducers: Int): Boolean = maps.toLong * reducers <= MostBlocks

  /** What a partition reads of a shuffle. */
  sealed trait Reads
  /** All that was written for a range of reducers. */
  final case class Reducers(from: Int, until: Int) extends Reads
  /** What some maps wrote for one reducer, so many bytes. */
  final case class Part(bytes: Long) extends Reads
  /** What a range of maps wrote, for a range of reducers or for all of them. */
  final case class Maps(from: Int, until: Int, reducers: Option[(Int, Int)]) extends Reads

  /**
   * What a partition reads. Adaptive execution's partitions carry a specification
   * (spark-sql is not on this module's class path, hence by shape); Spark's other shuffle
   * readers read the reducer of their own index. None for what is not known.
   */
  private[pacer] def reads(p: Partition): Option[Reads] = (p.getClass.getSimpleName, p) match {
    case ("ShuffledRowRDDPartition", row: Product) if row.productArity == 2 => specified(row.productElement(1))
    case ("ShuffledRDDPartition" | "CoGroupPartition", _) => Some(Reducers(p.index, p.index + 1))
    case _ => None
  }

  private def specified(spec: Any): Option[Reads] = spec match {
    case s: Product => (s.productPrefix, s.productIterator.toList) match {
      case ("CoalescedPartitionSpec", List(from: Int, until: Int, _)) => Some(Reducers(from, until))
      case ("PartialReducerPartitionSpec", List(_: Int, _: Int, _: Int, bytes: Long)) => Some(Part(bytes))
      case ("PartialMapperPartitionSpec", List(map: Int, from: Int, until: Int)) =>
        Some(Maps(map, map + 1, Some((from, until))))
      case ("CoalescedMapperPartitionSpec", List(from: Int, until: Int, _: Int)) => Some(Maps(from, until, None))
      case _ => None
    }
    case _ => None
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

  /** Whether the file of an input split is one of the machine that reads it; false where that is not known. */
  private[pacer] def ownFiles(p: Partition): Boolean = try {
    val split = p.getClass.getSimpleName match {
      case "HadoopPartition" => Some(call(call(p, "inputSplit"), "value"))
      case "NewHadoopPartition" => Some(call(call(p, "serializableHadoopSplit"), "value"))
      case "FilePartition" => firstFile(p)
      case "DataSourceRDDPartition" => call(p, "inputPartitions").asInstanceOf[Iterable[AnyRef]].headOption.flatMap(firstFile)
      case _ => None
    }
    split.exists(_.toString.startsWith("file:"))
  } catch {
    case NonFatal(_) => false
  }

  private def firstFile(p: AnyRef): Option[AnyRef] =
    call(p, "files").asInstanceOf[Array[AnyRef]].headOption.map(call(_, "filePath"))

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
