package io.sparkpacer.workloads

import org.apache.spark.SparkContext

/**
 * An application.
 *
 * @param name     by which it is called
 * @param slice    the scale that takes about 15 s where scale 1 takes 60
 * @param settings its settings; one of them is its size
 * @param run      runs it and returns the checksum of its answer
 */
final case class Workload(name: String, slice: Double, settings: Seq[Setting], run: (SparkContext, Arguments) => String)

object Workload {
  private val Seed = Setting("seed", 5, 0, 1e9, "the same seed gives the same data")

  private def partitions(default: Int) = Setting("partitions", default, 1, 100000, "tasks of a stage")

  private def size(name: String, atScale1: Double, most: Double) =
    Setting(name, atScale1, 1, most, s"how many $name there are", scaled = true)

  private def iterations(default: Int) = Setting("iterations", default, 1, 1000, "iterations of the algorithm, always as many")

  /** The most keys: their table of frequencies goes to every executor. */
  private val MostKeys = 1e7

  private def keyValue(name: String, records: Double, slice: Double)(run: (SparkContext, Arguments) => String) =
    Workload(name, slice, Seq(
      size("records", records, 1e11),
      Setting("keys", 5000, 1, MostKeys, "distinct keys"),
      Setting("zipf", 0, 0, 10, "exponent of the keys' frequencies; 0: all as frequent", whole = false),
      partitions(120), Seed), run)

  /** All of them; sizes and slices are for two cores and executors of 1 GiB. */
  val all: Seq[Workload] = Seq(
    keyValue("aggregate-by-key", 140e6, 0.06)(KeyValue.aggregateByKey),
    keyValue("aggregate-by-key-int", 400e6, 0.06)(KeyValue.aggregateByKeyInt),
    keyValue("group-by", 74e6, 0.06)(KeyValue.groupBy),
    keyValue("sort-by-key", 24e6, 0.08)(KeyValue.sortByKey),
    keyValue("sort-by-key-int", 36e6, 0.08)(KeyValue.sortByKeyInt),
    Workload("kmeans", 0.06, Seq(size("points", 13e6, 1e10),
      Setting("dimensions", 20, 1, 10000, "coordinates of a point"), Setting("clusters", 10, 2, 10000, "clusters to find"),
      iterations(1), partitions(48), Seed), Learning.kMeans),
    Workload("pagerank", 0.06, Seq(size("vertices", 400e3, 2e9),
      Setting("degree", 10, 1, 10000, "median of the edges that leave a vertex"),
      iterations(1), partitions(48), Seed), Ranking.pageRank),
    Workload("svm", 0.06, Seq(size("examples", 135e6, 1e11), Setting("features", 10, 1, 10000, "features of an example"),
      iterations(1), partitions(48), Seed), Learning.svm),
    Workload("diamond", 0.1, Seq(size("records", 110e6, 1e11), Setting("keys", 4000, 1, MostKeys, "distinct keys of a branch"),
      partitions(60), Seed), Shapes.diamond),
    Workload("short-stages", 0.1, Seq(size("rounds", 300e3, 1e11), Setting("keys", 4000, 1, MostKeys, "rows of a stage"),
      Setting("stages", 30, 1, 1000, "stages, one after the other"), partitions(16), Seed), Shapes.shortStages))

  def named(name: String): Option[Workload] = all.find(_.name == name)

  /** The names, for a line of text. */
  def names: String = all.map(_.name).mkString(", ")
}
