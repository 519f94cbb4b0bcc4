package io.sparkpacer.workloads

import org.apache.spark.SparkContext
import org.apache.spark.graphx.{Edge, Graph}
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

/**
 * PageRank of GraphX on a graph whose vertices have log-normally many edges, as
 * SparkBench's graphs. GraphX keeps the graph in memory, on disk where that is full.
 */
object Ranking {
  /** The spread of the logarithm of a vertex's edges, and the most that one has. */
  private val Sigma = 1.3
  private val MostEdges = 10000L

  def pageRank(sc: SparkContext, a: Arguments): String = {
    val graph = Graph.fromEdges(edges(sc, a), 0, StorageLevel.MEMORY_AND_DISK, StorageLevel.MEMORY_AND_DISK)
    val ranks = graph.staticPageRank(a.int("iterations")).vertices
    // Weights that differ from vertex to vertex tell a permuted answer from the right one.
    val weighed = ranks.map { case (id, rank) => rank * (1 + id % 97) }
    Checksum.text(Seq(weighed.sum()))
  }

  /** Each vertex's edges to vertices of equal chances. */
  def edges(sc: SparkContext, a: Arguments): RDD[Edge[Int]] = {
    val (vertices, degree) = (a.long("vertices"), a("degree"))
    Generated.rdd(sc, vertices, a.int("partitions"), a.long("seed")) { (random, from) =>
      val count = (degree * math.exp(Sigma * random.nextGaussian())).round.max(1).min(MostEdges).toInt
      Array.fill(count)(Edge(from, random.nextLong(vertices), 1))
    }.flatMap(_.iterator)
  }
}
