package io.sparkpacer.workloads

import scala.reflect.ClassTag

import org.apache.spark.{Partition, SparkContext, TaskContext}
import org.apache.spark.mllib.classification.SVMWithSGD
import org.apache.spark.mllib.clustering.KMeans
import org.apache.spark.mllib.linalg.{Vector, Vectors}
import org.apache.spark.mllib.regression.LabeledPoint
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

/**
 * KMeans and SVM of MLlib, with SparkBench's data. They read their data anew in every
 * pass, as from a file that does not fit in memory, so that what a stage costs does not
 * depend on which blocks were evicted; convergence ends nothing, so that the number of
 * stages is known.
 */
object Learning {
  /** The spread of the clusters' centres against that of their points (Table 2: scaling). */
  private val Scaling = 0.6
  /** How far off the plane an example may be and still be labelled by chance. */
  private val Noise = 0.1
  private val Step = 1.0
  private val Regularization = 0.01

  def kMeans(sc: SparkContext, a: Arguments): String = {
    val data = new Transient(points(sc, a))
    val model = new KMeans().setK(a.int("clusters")).setMaxIterations(a.int("iterations")).setEpsilon(0)
      .setSeed(a.long("seed")).run(data)
    Checksum.text(Seq(model.computeCost(data), model.clusterCenters.map(_(0)).sum))
  }

  /** Points around centres, each a centre and noise of variance 1. */
  def points(sc: SparkContext, a: Arguments): RDD[Vector] = {
    val (dimensions, clusters, seed) = (a.int("dimensions"), a.int("clusters"), a.long("seed"))
    val centres = Array.tabulate(clusters) { c =>
      val random = Generated.random(~seed, c)
      Array.fill(dimensions)(Scaling * random.nextGaussian())
    }
    Generated.rdd(sc, a.long("points"), a.int("partitions"), seed) { (random, _) =>
      Vectors.dense(centres(random.nextInt(clusters)).map(_ + random.nextGaussian()))
    }
  }

  /**
   * Data that are made anew for every pass. MLlib persists what is not persisted, so
   * they say that they are; nothing is stored.
   */
  private final class Transient[T: ClassTag](data: RDD[T]) extends RDD[T](data) {
    override protected def getPartitions: Array[Partition] = data.partitions
    override def compute(split: Partition, context: TaskContext): Iterator[T] = data.iterator(split, context)
    override def getStorageLevel: StorageLevel = StorageLevel.DISK_ONLY
  }

  def svm(sc: SparkContext, a: Arguments): String = {
    val data = examples(sc, a)
    val learner = new SVMWithSGD()
    learner.optimizer.setNumIterations(a.int("iterations")).setStepSize(Step).setRegParam(Regularization).setConvergenceTol(0)
    val model = learner.run(data)
    val wrong = data.filter(e => model.predict(e.features) != e.label).count()
    Checksum.text(model.weights.toArray.toSeq :+ wrong.toDouble)
  }

  /** Examples in a cube, labelled by the side of a plane that they are on, noise aside. */
  def examples(sc: SparkContext, a: Arguments): RDD[LabeledPoint] = {
    val (features, seed) = (a.int("features"), a.long("seed"))
    val plane = Generated.random(~seed, 0)
    val normal = Array.fill(features)(plane.nextGaussian())
    Generated.rdd(sc, a.long("examples"), a.int("partitions"), seed) { (random, _) =>
      val x = Array.fill(features)(random.nextDouble() * 2 - 1)
      var side = Noise * random.nextGaussian()
      for (i <- x.indices) side += x(i) * normal(i)
      LabeledPoint(if (side < 0) 0 else 1, Vectors.dense(x))
    }
  }
}
