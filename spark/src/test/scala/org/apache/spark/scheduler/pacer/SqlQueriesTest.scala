package org.apache.spark.scheduler.pacer

import java.nio.file.{Files, Path, Paths}

import scala.collection.mutable

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.junit.jupiter.api.{AfterAll, AfterEach, BeforeAll, Test, TestInstance}
import org.junit.jupiter.api.Assertions._

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.pacer.Wire.{DriverEvent, StageReady}
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.SparkPlanInfo
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart

/**
 * Queries of Spark SQL by the scheduler with Spark's local back end. plans.json has their plans as an
 * event log does, with their shapes; the Go package profiles reads it too. -Dpacer.rewrite=true writes it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SqlQueriesTest {
  import SqlQueriesTest._

  private var spark: SparkSession = _
  private val told = mutable.ArrayBuffer[DriverEvent]()
  private val started = mutable.ArrayBuffer[SparkListenerSQLExecutionStart]()

  @BeforeAll def start(): Unit = {
    val sc = new SparkContext(new SparkConf(false).setMaster("pacer-test").setAppName("t").set("spark.ui.enabled", "false")
      .set("spark.sql.warehouse.dir", warehouse.toUri.toString).set("spark.sql.shuffle.partitions", "4"))
    scheduler(sc).tell = h => told.synchronized(told += h)
    sc.addSparkListener(new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case s: SparkListenerSQLExecutionStart => started.synchronized(started += s)
        case _ => ()
      }
    })
    spark = SparkSession.builder().sparkContext(sc).getOrCreate()
    spark.range(2000).selectExpr("id", "id % 7 as customer", "id % 100 / 10.0 as price").write.saveAsTable("orders_20261127")
    spark.range(7).selectExpr("id as customer", "concat('c', id) as name").write.saveAsTable("customers")
  }

  @AfterEach def clear(): Unit = {
    spark.catalog.clearCache()
    Seq("sums_20261127", "per_customer").foreach(spark.catalog.dropTempView)
  }

  @AfterAll def stop(): Unit = if (spark != null) {
    spark.sql("DROP TABLE IF EXISTS orders_20261127")
    spark.sql("DROP TABLE IF EXISTS customers")
    spark.sql("DROP TABLE IF EXISTS report")
    spark.stop()
  }

  private def scheduler(sc: SparkContext) = sc.taskScheduler.asInstanceOf[StageBoundTaskScheduler]

  /** The stages of one query, with the executions that it had, under these settings. */
  private def run(sql: String, settings: (String, String)*): (Seq[StageReady], Seq[SparkListenerSQLExecutionStart]) = {
    val (before, earlier) = (told.synchronized(told.size), started.synchronized(started.size))
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try spark.sql(sql).collect() finally settings.foreach { case (k, _) => spark.conf.unset(k) }
    spark.sparkContext.listenerBus.waitUntilEmpty()
    (told.synchronized(told.drop(before).toList).collect { case s: StageReady => s }, started.synchronized(started.drop(earlier).toList))
  }

  private def places(stages: Seq[StageReady]): Seq[Int] = stages.flatMap(_.query).map(_.exchange)

  @Test def shapesAreThoseOfAnEventLog(): Unit = {
    val queries = mapper.createArrayNode()
    for ((name, sql) <- Queries) {
      val (stages, executions) = run(sql)
      assertTrue(stages.forall(_.query.isDefined), s"$name: $stages")
      for (e <- executions; q <- stages.flatMap(_.query).find(_.execution == e.executionId)) {
        assertEquals(q.shape, shapeOf(e.sparkPlanInfo), name)
        queries.addObject().put("name", name).put("shape", q.shape).set[ObjectNode]("plan", json(e.sparkPlanInfo))
      }
    }
    if (java.lang.Boolean.getBoolean("pacer.rewrite")) {
      val golden = mapper.createObjectNode().set[ObjectNode]("names", Names.foldLeft(mapper.createObjectNode())((o, n) => o.put(n, Blinded(n))))
      Files.write(Plans, mapper.writerWithDefaultPrettyPrinter().writeValueAsBytes(golden.set[ObjectNode]("queries", queries)))
    }
    val golden = mapper.readTree(Plans.toFile)
    Names.foreach(n => assertEquals(golden.path("names").path(n).asText(), Blinded(n)))
    assertEquals(golden.path("queries").size, queries.size)
    for (i <- 0 until queries.size) assertEquals(golden.path("queries").get(i), queries.get(i))
  }

  @Test def placesAreTheSameHoweverAQueryIsPlanned(): Unit = {
    val first = joined(NoBroadcast: _*)
    assertEquals(Set(1, 4, 6, -1), first.keySet)
    for ((what, settings) <- Seq("not merged" -> (NoBroadcast :+ ("spark.sql.adaptive.coalescePartitions.enabled" -> "false")),
        "not adaptive" -> (NoBroadcast :+ ("spark.sql.adaptive.enabled" -> "false")), "split" -> (NoBroadcast ++ Split))) {
      val again = joined(settings: _*)
      assertEquals(first.view.mapValues(_.lineage).toMap, again.view.mapValues(_.lineage).toMap, what)
      assertEquals(first.view.mapValues(_.query.get.shape).toMap, again.view.mapValues(_.query.get.shape).toMap, what)
      assertTrue(Seq(1, -1).forall(at => again(at).bytes >= first(at).bytes), s"$what: $again")
      if (what == "split") assertTrue(again(1).tasks > 4, again.toString) else assertEquals(first(1).bytes, again(1).bytes)
    }
  }

  /** What was planned for shuffles is broadcast, and what the other side has written is read where it is. */
  @Test def aJoinThatBecomesABroadcastKeepsItsPlaces(): Unit = {
    val planned = joined(NoBroadcast: _*)
    val (stages, _) = run(Join, "spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "10MB")
    val local = stages.groupBy(_.query.get.exchange)
    assertEquals(planned.keySet, local.keySet)
    // The side that is there first, for both are small.
    val Seq(side) = Seq(4, 6).filter(local(_).size == 2)
    assertEquals(Seq(4, 6).map(planned(_).lineage), Seq(4, 6).map(local(_).head.lineage))
    assertNotEquals(Seq(planned(1).lineage), local(1).map(_.lineage), "it is not joined otherwise")
    assertEquals(planned(1).bytes, local(side)(1).bytes + local(1).head.bytes, "all of the one and all of the other")
    val broadcast = joined()
    assertEquals(Set(1, 6, -1), broadcast.keySet)
    assertEquals(planned(1).query.get.shape, broadcast(1).query.get.shape)
  }

  @Test def equalQueriesAreCountedAndTheirEndIsTold(): Unit = {
    val sql = "SELECT customer, min(price) FROM orders_20261127 WHERE id > 3 GROUP BY customer"
    val both = (run(sql)._1 ++ run(sql.replace("3", "4"))._1).flatMap(_.query)
    assertEquals(1, both.map(_.shape).distinct.size)
    assertEquals(Seq(0, 0, 1, 1), both.map(_.nth))
    val queries = scheduler(spark.sparkContext).history.queries
    val ended = queries.ended()
    assertTrue(both.map(_.execution).toSet.subsetOf(ended.toSet), ended.toString)
    assertEquals(Nil, queries.ended())
  }

  @Test def aSampleAndAnExchangeOfItAreOfOneOperator(): Unit =
    assertEquals(Seq(2, 1, 1, -1), places(run("SELECT customer, max(price) m FROM orders_20261127 GROUP BY customer ORDER BY m")._1))

  @Test def aSubquerysResultIsNotTheQuerys(): Unit = {
    val found = places(run("SELECT count(*) FROM orders_20261127 WHERE price > (SELECT avg(price) FROM orders_20261127)")._1)
    assertEquals(found.distinct, found)
    assertEquals(-1, found.last)
  }

  @Test def aCacheIsFilledAtItsOwnPlace(): Unit = {
    spark.sql("CACHE LAZY TABLE per_customer AS SELECT customer, sum(price) AS price FROM orders_20261127 GROUP BY customer")
    val sql = "SELECT price + 1 AS p FROM per_customer ORDER BY p"
    assertEquals(Seq(4, 2, 1, 1, -1), places(run(sql)._1))
    assertEquals(Seq(1, 1, -1), places(run(sql)._1), "it is filled")
  }

  @Test def stagesOfRddsAreOfNoQuery(): Unit = {
    val before = told.synchronized(told.size)
    spark.sparkContext.parallelize(1 to 10, 2).map(x => (x % 2, x)).reduceByKey(_ + _).count()
    assertEquals(Seq(None, None), told.synchronized(told.drop(before).toList).collect { case s: StageReady => s.query })
  }

  /** The stages of a join, by place. */
  private def joined(settings: (String, String)*): Map[Int, StageReady] = {
    val (stages, _) = run(Join, settings: _*)
    assertEquals(stages.size, places(stages).distinct.size, stages.toString)
    stages.map(s => s.query.get.exchange -> s).toMap
  }
}

object SqlQueriesTest {
  val warehouse: Path = Paths.get("target", s"warehouse-${ProcessHandle.current().pid()}").toAbsolutePath

  private val Join = "SELECT c.name, sum(price) FROM orders_20261127 o JOIN customers c ON o.customer = c.customer GROUP BY c.name"

  val Queries: Seq[(String, String)] = Seq(
    "aggregate" -> "SELECT customer, sum(price) FROM orders_20261127 GROUP BY customer",
    "join" -> "SELECT /*+ MERGE(c) */ c.name, sum(price) FROM orders_20261127 o JOIN customers c ON o.customer = c.customer GROUP BY c.name",
    "broadcast" -> "SELECT /*+ BROADCAST(c) */ c.name, sum(price) FROM orders_20261127 o JOIN customers c ON o.customer = c.customer GROUP BY c.name",
    "semi join" -> "SELECT count(*) FROM orders_20261127 WHERE customer IN (SELECT customer FROM customers WHERE name > 'c3')",
    "cross join" -> "SELECT count(*) FROM customers a CROSS JOIN customers b WHERE a.name < b.name",
    "order" -> "SELECT * FROM orders_20261127 ORDER BY price, id",
    "order of groups" -> "SELECT customer, max(price) m FROM orders_20261127 GROUP BY customer ORDER BY m",
    "window" -> "SELECT id, rank() OVER (PARTITION BY customer ORDER BY price) r FROM orders_20261127",
    "union" -> "SELECT customer, count(*) FROM orders_20261127 GROUP BY customer UNION ALL SELECT customer, count(*) FROM customers GROUP BY customer",
    "limit" -> "SELECT * FROM orders_20261127 LIMIT 3",
    "top" -> "SELECT customer, sum(price) s FROM orders_20261127 GROUP BY customer ORDER BY s LIMIT 3",
    "limit inside" -> "SELECT count(*) FROM (SELECT * FROM orders_20261127 LIMIT 30) GROUP BY customer",
    "subquery" -> "SELECT count(*) FROM orders_20261127 WHERE price > (SELECT avg(price) FROM orders_20261127)",
    "distinct" -> "SELECT count(DISTINCT customer), count(DISTINCT price) FROM orders_20261127",
    "cache" -> "CACHE LAZY TABLE sums_20261127 AS SELECT customer, sum(price) AS price FROM orders_20261127 GROUP BY customer",
    "cached, first" -> "SELECT c.name, s.price FROM sums_20261127 s JOIN customers c ON s.customer = c.customer ORDER BY name",
    "cached, again" -> "SELECT count(*) FROM sums_20261127",
    "write" -> "CREATE TABLE report AS SELECT customer, sum(price) AS price FROM orders_20261127 GROUP BY customer",
    "insert" -> "INSERT INTO report SELECT customer, sum(price) AS price FROM orders_20261127 GROUP BY customer")

  private def shapeOf(info: SparkPlanInfo): String =
    PlanTree.of(info)(_.asInstanceOf[SparkPlanInfo].nodeName, _.asInstanceOf[SparkPlanInfo].children).get.shape

  private val mapper = new ObjectMapper()
  private val Plans = Paths.get("src", "test", "resources", "plans.json")
  private val NoBroadcast = Seq("spark.sql.autoBroadcastJoinThreshold" -> "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1")
  private val Split = Seq("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" -> "1000", "spark.sql.adaptive.skewJoin.skewedPartitionFactor" -> "1",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "1000", "spark.sql.adaptive.coalescePartitions.minPartitionSize" -> "1000", "spark.sql.adaptive.forceOptimizeSkewedJoin" -> "true")

  private val Names = Seq("WholeStageCodegen (3)", "Scan parquet spark_catalog.default.orders_20261127", "Scan csv ", "BatchScan parquet file:/data/2026/x",
    "BatchScan parquet file:/a/1, file:/a/2", "Scan JDBCRelation(public.orders) [numPartitions=4]",
    "Scan JDBCRelation((SELECT max(id) FROM t WHERE d > '2026-11-26') SPARK_GEN_SUBQ_0) [numPartitions=1]", "Scan tmp_3fa94c", "Scan run_0b9f7b52-4f3a-4c59-9d0e-0a4f5b6c7d8e",
    "SortMergeJoin(skew=true)", "Scan v1 day '2026-11-27' x")

  private def json(info: SparkPlanInfo): ObjectNode = {
    val node = mapper.createObjectNode().put("nodeName", info.nodeName)
    val children = node.putArray("children")
    info.children.foreach(child => children.add(json(child)))
    node
  }
}
