package org.apache.spark.scheduler.pacer

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

class PlanTreeTest {
  import PlanTreeTest._

  private val scan = Plan("Scan parquet a")
  private val other = Plan("Scan parquet b")

  @Test def wrappersAndExchangesAreNoOperators(): Unit = {
    val plain = tree(Plan("HashAggregate", Plan("HashAggregate", scan)))
    val planned = tree(Plan("AdaptiveSparkPlan", Plan("WholeStageCodegen (2)", Plan("HashAggregate", Plan("AQEShuffleRead", Plan("ShuffleQueryStage",
      Plan("Exchange", Plan("WholeStageCodegen (1)", Plan("HashAggregate", Plan("ColumnarToRow", Plan("InputAdapter", scan)))))))))))
    assertEquals(plain.shape, planned.shape)
    assertEquals(Seq((1, -1)), planned.exchanges.map(e => (e.operator, e.within)))
  }

  @Test def joinsAreOneOperator(): Unit = {
    val sorted = tree(Plan("SortMergeJoin(skew=true)", Plan("Sort", Plan("Exchange", scan)), Plan("Sort", Plan("Exchange", other))))
    assertEquals(tree(Plan("BroadcastHashJoin", scan, Plan("BroadcastExchange", other))).shape, sorted.shape)
    assertEquals(Seq(1, 2), sorted.exchanges.map(_.operator))
    assertNotEquals(sorted.shape, tree(Plan("BroadcastHashJoin", other, scan)).shape)
    assertNotEquals(tree(Plan("Sort", Plan("Exchange", scan))).shape, tree(scan).shape, "a sort that was asked for")
  }

  @Test def anAggregateThatStandsAloneIsAPair(): Unit = {
    val pair = tree(Plan("HashAggregate", Plan("Exchange", Plan("HashAggregate", Plan("Exchange", scan)))))
    val one = tree(Plan("HashAggregate", Plan("Exchange", scan)))
    assertEquals(pair.shape, one.shape)
    assertEquals(Seq(1, 2), pair.exchanges.map(_.operator))
    assertEquals(Seq(2), one.exchanges.map(_.operator))
    assertEquals(Some(2), pair.placeOf(one, 2))
  }

  @Test def whatIsNestedIsNotWhatStandsSideBySide(): Unit =
    assertNotEquals(tree(Plan("Union", Plan("Project", scan), scan)).shape, tree(Plan("Union", Plan("Project", scan, scan))).shape)

  @Test def cachedPlansComeBehindAllOthers(): Unit = {
    def cached(below: Plan) = Plan("Union", Plan("InMemoryTableScan", below), Plan("Exchange", other))
    val inner = Plan("Exchange", Plan("Project", scan))
    val once = tree(cached(inner))
    assertEquals(Seq(3, 2), once.exchanges.map(_.operator))
    assertNotEquals(once.shape, tree(cached(other)).shape)
    assertEquals(tree(cached(Plan("InMemoryTableScan", inner))).shape, tree(cached(Plan("InMemoryTableScan", other))).shape)
  }

  @Test def dynamicPruningIsNoPartOfTheShape(): Unit =
    assertEquals(tree(Plan("Scan parquet a")).shape, tree(Plan("Scan parquet a", Plan("SubqueryBroadcast", Plan("BroadcastExchange", other)))).shape)

  @Test def placesAreFoundByWhatIsBelow(): Unit = {
    val before = tree(Plan("Union", Plan("Project", scan), Plan("Join", scan, Plan("Filter", scan))))
    val now = tree(Plan("Union", Plan("EmptyRelation"), Plan("Join", scan, Plan("Filter", scan))))
    val filter = Plan("Filter", scan)
    assertEquals(Some(5), before.placeOf(now, 4), "one that is there once")
    assertEquals(None, before.placeOf(now, 1), "one that is new")
    assertEquals(Some(3), before.placeOf(before, 3), "the same plan")
    assertEquals(Some(1), tree(Plan("Union", filter, filter)).placeOf(tree(Plan("Union", filter, filter, filter)), 1), "the first of equals")
  }

  @Test def plansAreBounded(): Unit = {
    def deep(n: Int) = (1 to n).foldLeft(scan)((below, _) => Plan("Project", Plan("Exchange", below)))
    assertEquals(5000, tree(deep(5000)).exchanges.size)
    assertEquals(10000, tree(Plan("Union", Seq.fill(10000)(Plan("Exchange", scan)): _*)).exchanges.size)
    assertEquals(None, read(deep(PlanTree.MostNodes)))
  }
}

private object PlanTreeTest {
  final class Plan(val name: String, val children: Plan*)
  object Plan {
    def apply(name: String, children: Plan*): Plan = new Plan(name, children: _*)
  }

  def read(plan: Plan): Option[PlanTree] = PlanTree.of(plan)(_.asInstanceOf[Plan].name, _.asInstanceOf[Plan].children)
  def tree(plan: Plan): PlanTree = read(plan).get
}
