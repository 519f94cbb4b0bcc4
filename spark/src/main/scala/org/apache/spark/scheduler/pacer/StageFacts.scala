package org.apache.spark.scheduler.pacer

import scala.util.control.NonFatal

import org.apache.spark.{MapOutputTrackerMaster, ShuffleDependency}
import org.apache.spark.internal.Logging
import org.apache.spark.pacer.Wire
import org.apache.spark.pacer.Wire.QueryStage
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
 * @param query     its place in a SQL query
 * @param python    whether Python workers compute a part of it
 * @param ownFiles  whether it reads files of the machine that its tasks run on
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
    fixedPart: Double = 0,
    query: Option[QueryStage] = None,
    python: Boolean = false,
    ownFiles: Boolean = false)

/**
 * Finds the facts of stages and remembers what their tasks wrote. To be used on
 * the DAG scheduler's thread without a lock (of) and under the task scheduler's (wrote);
 * the state that both share is guarded here. Nothing here throws: what cannot be
 * found out is unknown.
 */
private[scheduler] final class StageHistory(tracker: MapOutputTrackerMaster) extends Logging {
  import StageHistory._

  val queries = new SqlQueries

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
      case e @ (NonFatal(_) | _: LinkageError) => // A vendor's Spark may lack what is asked for.
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
    StageFacts(name, StageSignature.of(name), "", Nil, Wire.Unknown, Wire.Unknown, TaskWeights.alike(taskSet.tasks.length),
      weighted = false, cachedOn(taskSet), None, pipelined = false)

  private def find(taskSet: TaskSet, stage: Stage): StageFacts = {
    val chain = StageChain.of(stage.rdd)
    val shuffles = chain.shuffles.distinctBy(_.shuffleId)
    val sources = synchronized(shuffles.map(d => d -> Option(writers.get(d.shuffleId))))
    val shuffleMap = stage.isInstanceOf[ShuffleMapStage]
    val rdds = chain.rdds.map(StageSignature.kind(_))
    val signature = StageSignature.of(shuffleMap, stage.name, rdds, sources.map(_._2.map(_.signature).getOrElse("?")))
    val lineage = StageSignature.lineage(shuffleMap, rdds, sources.map(_._2.map(_.lineage).getOrElse("?")))
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
    val share = math.max(0.0, math.min(TaskWeights.MostFixedPart, fixedPart.getOrElse(signature, 0.0)))
    val weights = perTask.flatMap(TaskWeights.of).map(TaskWeights.withFixedPart(_, share))
    StageFacts(stage.name, signature, lineage, sources.flatMap(_._2.map(_.stage)).distinct.sorted, records,
      perTask.map(_.sum).getOrElse(Wire.Unknown), weights.getOrElse(TaskWeights.alike(taskSet.tasks.length)), weights.isDefined,
      cached, shuffleId, shuffles.exists(_.getClass.getSimpleName.startsWith("Pipelined")), repeats, share, queries.place(taskSet.properties, stage, chain),
      chain.python, chain.rdds.filter(_.dependencies.isEmpty).exists(_.partitions.headOption.exists(PartitionSizes.ownFiles)))
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

  private final class Writer(val stage: Int, val signature: String, val lineage: String, val records: Array[Long])

  /** Executors that hold cached blocks of the stage, by number of tasks that would read them. */
  private def cachedOn(taskSet: TaskSet): Map[String, Int] =
    taskSet.tasks.iterator.flatMap(_.preferredLocations.iterator).collect {
      case e: ExecutorCacheTaskLocation => e.executorId
    }.toSeq.groupMapReduce(identity)(_ => 1)(_ + _)
}
