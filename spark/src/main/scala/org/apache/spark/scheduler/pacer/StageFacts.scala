package org.apache.spark.scheduler.pacer

import java.security.MessageDigest

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.{Dependency, MapOutputTrackerMaster, NarrowDependency, Partition, ShuffleDependency}
import org.apache.spark.internal.Logging
import org.apache.spark.pacer.Wire
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{ExecutorCacheTaskLocation, ShuffleMapStage, Stage, TaskSet}
import org.apache.spark.storage.StorageLevel

/**
 * What is known of a stage when its tasks are submitted.
 *
 * @param parents   ids of the stages that really wrote what it reads (with adaptive
 *                  execution Spark's own parent stages were never run)
 * @param lineage   a hash of its lineage alone; "" where that is not known
 * @param records   what the parents wrote for it; Wire.Unknown with other input
 * @param bytes     the same, or the sizes of its input splits
 * @param weights   one per task in millionths of the mean; all alike if not weighted
 * @param fixedPart the part of the weights that is the same for each task, by the profile
 * @param cached    how many of its tasks have cached blocks on which executor
 * @param shuffleId the shuffle that it writes
 * @param repeats   the stage that wrote that shuffle before, under another id: a later
 *                  job found some of it lost
 */
private[scheduler] final case class StageFacts(
    name: String,
    signature: String,
    lineage: String,
    parents: Seq[Int],
    records: Long,
    bytes: Long,
    weights: Array[Long],
    weighted: Boolean,
    cached: Map[String, Int],
    shuffleId: Option[Int],
    pipelined: Boolean,
    repeats: Option[Int] = None,
    fixedPart: Double = 0)

/**
 * Finds the facts of stages and remembers what their tasks wrote. To be used on
 * the DAG scheduler's thread without a lock (of) and under the task scheduler's (wrote);
 * the state that both share is guarded here. Nothing here throws: what cannot be
 * found out is unknown.
 */
private[scheduler] final class StageHistory(tracker: MapOutputTrackerMaster) extends Logging {
  import StageHistory._

  private val writers = new java.util.LinkedHashMap[Int, Writer]() // The one that wrote last is last.
  private var kept = 0L // What writers hold, in partitions.

  /**
   * The part of a stage's CPU time that earlier runs found to be the same for each of its
   * tasks, whatever they read, by the stage's signature.
   */
  @volatile var fixedPart: Map[String, Double] = Map.empty

  /** The facts of a task set; stage is Spark's, None when it is gone already. */
  def of(taskSet: TaskSet, stage: Option[Stage]): StageFacts = {
    val facts = try {
      stage.map(s => find(taskSet, s))
    } catch {
      case NonFatal(e) =>
        logDebug("pacer: what the stage reads is not known", e)
        stage.map(s => unknown(taskSet, s.name))
    }
    facts.getOrElse(unknown(taskSet, s"stage ${taskSet.stageId}"))
  }

  /** A task wrote records for a shuffle; a task that runs again replaces what it wrote before. */
  def wrote(shuffleId: Int, partition: Int, records: Long): Unit = synchronized {
    val w = writers.get(shuffleId)
    if (w != null && partition >= 0 && partition < w.records.length) w.records(partition) = records
  }

  private def unknown(taskSet: TaskSet, name: String): StageFacts =
    StageFacts(name, digest(callSite(name)), "", Nil, Wire.Unknown, Wire.Unknown, alike(taskSet.tasks.length),
      weighted = false, cachedOn(taskSet), None, pipelined = false)

  private def find(taskSet: TaskSet, stage: Stage): StageFacts = {
    val chain = StageChain.of(stage.rdd)
    val shuffles = chain.shuffles.distinctBy(_.shuffleId)
    val sources = synchronized(shuffles.map(d => d -> Option(writers.get(d.shuffleId))))
    val shuffleMap = stage.isInstanceOf[ShuffleMapStage]
    val signature = StageHistory.signature(shuffleMap, stage.name, chain.rdds, sources.map(_._2.map(_.signature).getOrElse("?")))
    val lineage = StageHistory.lineage(shuffleMap, chain.rdds, sources.map(_._2.map(_.lineage).getOrElse("?")))
    val cached = cachedOn(taskSet)
    val sizes = new PartitionSizes(tracker)
    // Whatever is cached is not read from where it came.
    val fromCache = cached.nonEmpty && chain.rdds.exists(_.getStorageLevel != StorageLevel.NONE)
    val perTask = if (fromCache) None else sizes.of(stage.rdd, taskSet.tasks.map(_.partitionId))
    val records = if (fromCache || shuffles.isEmpty || chain.otherInput) Wire.Unknown else recordsRead(sources, sizes)
    val shuffleId = stage match {
      case s: ShuffleMapStage => Some(s.shuffleDep.shuffleId)
      case _ => None
    }
    val repeats = shuffleId.flatMap(id => remember(id, stage.id, signature, lineage, stage.rdd.partitions.length))
    val share = math.max(0.0, math.min(MostFixedPart, fixedPart.getOrElse(signature, 0.0)))
    val weights = perTask.flatMap(StageHistory.weights).map(withFixedPart(_, share))
    StageFacts(stage.name, signature, lineage, sources.flatMap(_._2.map(_.stage)).distinct.sorted, records,
      perTask.map(_.sum).getOrElse(Wire.Unknown), weights.getOrElse(alike(taskSet.tasks.length)), weights.isDefined,
      cached, shuffleId, shuffles.exists(_.getClass.getSimpleName.startsWith("Pipelined")), repeats, share)
  }

  /** A stage that runs again keeps what its earlier attempts wrote; the id of these, if it is another one. */
  private[pacer] def remember(shuffleId: Int, stage: Int, signature: String, lineage: String, partitions: Int): Option[Int] = synchronized {
    val was = Option(writers.remove(shuffleId))
    val before = was.filter(_.records.length == partitions)
    kept += partitions - was.fold(0)(_.records.length)
    writers.put(shuffleId, new Writer(stage, signature, lineage, before.map(_.records).getOrElse(new Array[Long](partitions))))
    val oldest = writers.values.iterator
    while ((kept > KeptPartitions || writers.size > KeptShuffles) && writers.size > 1) {
      kept -= oldest.next().records.length
      oldest.remove()
    }
    before.map(_.stage).filter(_ != stage)
  }

  /** How many partitions of shuffles it remembers. */
  private[pacer] def remembered: Long = synchronized(kept)

  /** Of what the parents wrote, the part that the stage's tasks read, by bytes. */
  private def recordsRead(sources: Seq[(ShuffleDependency[_, _, _], Option[Writer])], sizes: PartitionSizes): Long =
    if (sources.exists(_._2.isEmpty)) {
      Wire.Unknown
    } else {
      synchronized(sources.map { case (d, w) => w.get.records.sum * sizes.timesRead(d) }.sum).round
    }
}

private[scheduler] object StageHistory {
  private val KeptShuffles = 10000

  /** Of these in all, 8 bytes each, however wide the shuffles are; the newest one is kept whatever it has. */
  private[pacer] val KeptPartitions = 4000000L
  val MeanWeight = 1000000L

  /** Stages with more tasks are not worth the properties, with one task there is nothing to weigh. */
  private val Weighable = 2 to 4000

  /** Below this ratio of the largest task to the mean the weights would be noise. */
  private val Skew = 1.1

  /**
   * What a task costs that does not depend on its size, as so many bytes: a task
   * on nothing still runs, and among small tasks sizes say little.
   */
  private val FixedBytes = 64 * 1024.0
  private val FixedShare = 0.05

  private final class Writer(val stage: Int, val signature: String, val lineage: String, val records: Array[Long])

  /** So much is left of what sizes say that a run can still tell how CPU time goes with them. */
  private val MostFixedPart = 0.99

  def alike(tasks: Int): Array[Long] = Array.fill(tasks)(MeanWeight)

  /** Weights of which that part is the same for each task, with the same sum. */
  def withFixedPart(weights: Array[Long], part: Double): Array[Long] = if (part <= 0) weights else {
    val w = weights.map(v => math.round(part * MeanWeight + (1 - part) * v))
    w(weights.indexOf(weights.max)) += MeanWeight * w.length - w.sum
    w
  }

  /** Weights for tasks of these sizes, adding up to the number of tasks; None if they are about the same. */
  def weights(bytes: Array[Long]): Option[Array[Long]] = if (!Weighable.contains(bytes.length)) None else {
    val fixed = math.max(FixedBytes, FixedShare * bytes.map(_.toDouble).sum / bytes.length)
    val costs = bytes.map(_ + fixed)
    val mean = costs.sum / costs.length
    if (costs.max <= Skew * mean) {
      None
    } else {
      val w = costs.map(c => math.round(MeanWeight * c / mean))
      w(costs.indexOf(costs.max)) += MeanWeight * w.length - w.sum
      Some(w)
    }
  }

  /** Executors that hold cached blocks of the stage, by number of tasks that would read them. */
  private def cachedOn(taskSet: TaskSet): Map[String, Int] =
    taskSet.tasks.iterator.flatMap(_.preferredLocations.iterator).collect {
      case e: ExecutorCacheTaskLocation => e.executorId
    }.toSeq.groupMapReduce(identity)(_ => 1)(_ + _)

  /**
   * A hash that is the same for the same code in every run: the RDDs' kinds and
   * scopes, where the action was called (method and file, no line), what the stage
   * is for, and the signatures of what it reads. No ids.
   */
  def signature(shuffleMap: Boolean, name: String, rdds: Seq[RDD[_]], parents: Seq[String]): String =
    digest(kind(shuffleMap) +: callSite(name) +: (rdds.map(kind) ++ parents))

  /**
   * A signature without the call site. PySpark tells that of one thread at a time: of two jobs
   * that start at once the second one has another name, and which that is differs from run to run.
   */
  def lineage(shuffleMap: Boolean, rdds: Seq[RDD[_]], parents: Seq[String]): String =
    digest(kind(shuffleMap) +: (rdds.map(kind) ++ parents))

  private def kind(shuffleMap: Boolean): String = if (shuffleMap) "map" else "result"

  private def kind(r: RDD[_]): String = plain(r.getClass.getSimpleName) + "/" + plain(r.scope.map(_.name).getOrElse(""))

  /** "collect at /tmp/x/app.py:33" without directory, line and compiler's numbers. */
  private[pacer] def callSite(name: String): String = name match {
    case CallSite(method, file) => plain(method) + " at " + file.split('/').last
    case other => plain(other)
  }

  private val CallSite = "(.*) at (.*?)(?::\\d+)?".r

  /** Numbers that Spark and compilers add: "WholeStageCodegen (12)", "$anonfun$run$3". */
  private def plain(s: String): String = s.replaceAll("\\s*\\(\\d+\\)|\\$\\d+|#\\d+", "")

  private def digest(parts: Seq[String]): String = digest(parts.mkString("\n"))

  private def digest(s: String): String =
    MessageDigest.getInstance("SHA-256").digest(s.getBytes("UTF-8")).take(8).map(b => f"${b & 0xff}%02x").mkString
}

/**
 * The RDDs that one stage computes and the shuffles it reads, in a fixed order.
 *
 * @param otherInput it also reads what no shuffle wrote
 */
private[scheduler] final case class StageChain(
    rdds: Seq[RDD[_]],
    shuffles: Seq[ShuffleDependency[_, _, _]],
    otherInput: Boolean)

private[scheduler] object StageChain {
  private val Longest = 10000

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
