package org.apache.spark.scheduler.pacer

import scala.collection.mutable

import org.junit.jupiter.api.{AfterEach, BeforeEach, Test}
import org.junit.jupiter.api.Assertions._

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.pacer.JobGroup
import org.apache.spark.pacer.Wire.{DriverEvent, PartBegan, PartOver, StageKey, StageReady}
import org.apache.spark.sql.SparkSession

/** Groups with deadlines: the rules by themselves, and jobs of threads and of SQL with Spark's local back end. */
class SessionPartsTest {
  private val said = mutable.ArrayBuffer[String]()
  private val told = mutable.ArrayBuffer[DriverEvent]()
  private var sc: SparkContext = _

  @BeforeEach def start(): Unit = {
    sc = new SparkContext(new SparkConf(false).setMaster("pacer-test").setAppName("notebook").set("spark.ui.enabled", "false")
      .set("spark.sql.warehouse.dir", SqlQueriesTest.warehouse.toUri.toString).set("spark.sql.shuffle.partitions", "2"))
    scheduler.tell = e => told.synchronized(told += e)
  }

  @AfterEach def stop(): Unit = if (sc != null) sc.stop()

  private def scheduler = sc.taskScheduler.asInstanceOf[StageBoundTaskScheduler]

  private def group(deadline: Option[String], name: Option[String] = None): Unit = {
    sc.setLocalProperty(JobGroup.Name, name.orNull)
    sc.setLocalProperty(JobGroup.Deadline, deadline.orNull)
  }

  private def job(tasks: Int = 2): Unit = sc.parallelize(1 to 10, tasks).count()

  /** What was told of parts since, with s for stages: they are over when that has been looked at twice. */
  private def heard(looks: Int = 2): String = {
    for (_ <- 1 to looks) scheduler.lookAtParts()
    val events = told.synchronized(try told.toList finally told.clear())
    events.collect {
      case PartBegan(_, name, deadline, by) => s"began $name ${deadline.round}${if (by) " by" else ""}"
      case PartOver(_, failed) => s"over${if (failed) ", failed" else ""}"
      case _: StageReady => "s"
    }.mkString("; ")
  }

  @Test def aGroupLastsFromItsFirstJobUntilItsThreadTakesItBack(): Unit = {
    job()
    group(Some("15m"), Some("daily"))
    assertEquals("s", heard(), "a setting alone is no group")
    job()
    job()
    assertEquals("began daily 900; s; s", heard())
    group(None)
    assertEquals("over", heard())
    job()
    assertEquals("s", heard())
    for (_ <- 1 to 3) { // With nothing between.
      group(Some("90s"))
      job()
      group(None)
    }
    assertEquals("began notebook 90; s; over; began notebook 90; s; over; began notebook 90; s; over", heard())
    sc.setJobGroup("nightly", "of an hour")
    group(Some("1h"))
    job()
    sc.setLocalProperty(JobGroup.Name, "weekly")
    job()
    sc.stop()
    assertEquals("began nightly 3600; s; over; began weekly 3600; s", heard(0))
  }

  @Test def aJobThatFailsLastHasItsGroupFail(): Unit = {
    group(Some("1h"), Some("p"))
    assertThrows(classOf[Exception], () => sc.parallelize(1 to 2, 2).foreach(_ => sys.error("no")))
    group(None)
    assertEquals("began p 3600; s; over, failed", heard())
  }

  /** What a thread that a group's has started runs is the group's, and does not end it. */
  @Test def aThreadInheritsTheGroup(): Unit = {
    group(Some("1h"), Some("p"))
    job()
    val child = new Thread(() => {
      job()
      group(None)
      job(3)
    })
    child.start()
    child.join()
    job()
    assertEquals("began p 3600; s; s; s", heard(), "the child's last job is none of it, and is told to nobody")
  }

  /** Two threads with groups of their own: the first one has its deadline, and each other one is told so once. */
  @Test def oneGroupAtATimeHasADeadline(): Unit = {
    group(Some("1h"), Some("first"))
    job()
    val other = new Thread(() => {
      group(Some("2h"), Some("second"))
      job()
      job()
      group(None)
    })
    other.start()
    other.join()
    job()
    assertEquals("began first 3600; s; s", heard())
  }

  @Test def aSettingOfSqlIsAGroup(): Unit = {
    val spark = SparkSession.builder().sparkContext(sc).getOrCreate()
    spark.conf.set(JobGroup.Deadline, "15m")
    spark.conf.set(JobGroup.Name, "marts")
    val query = spark.range(0, 100, 1, 2)
    query.count()
    query.count()
    job(1) // Of no query.
    spark.conf.unset(JobGroup.Deadline)
    query.count()
    val one = heard()
    assertTrue(one.matches("began marts 900(; s)+"), one)
    assertFalse(one.contains("over"), "nobody says that SQL's setting is over")
  }

  private def parts(unfit: Option[String] = None) = new SessionParts(unfit, "notebook", said += _)
  private def of(deadline: Either[String, Double], setting: String = "of SQL", name: String = "p") = Some(JobGroup(setting, name, deadline, byMoment = false))

  @Test def whatHasNoDeadlineIsSaidOnce(): Unit = {
    val bad = Seq(
      (parts(), of(Left("spark.pacer.group.deadline is 'soon', want a time such as 90s or 15m")), false),
      (parts(Some("the application has a deadline itself")), of(Right(60)), false),
      (parts(), of(Right(60)), true))
    for ((p, group, stream) <- bad; _ <- 1 to 2) assertEquals((None, Nil), p.of(group, stream, 0))
    assertEquals(Seq("spark.pacer.group.deadline is 'soon', want a time such as 90s or 15m", "the application has a deadline itself", "a streaming query has no end")
      .map("the deadline of group 'p' is set aside: " + _), said.toSeq)
  }

  @Test def whatAThreadSaysIsRead(): Unit = {
    def deadline(settings: (String, String)*): Either[String, Double] = {
      settings.foreach { case (k, v) => sc.setLocalProperty(k, v) }
      try JobGroup.of(sc.localProperties.get, java.time.Instant.parse("2026-11-30T06:00:00Z")).get.deadline
      finally settings.foreach { case (k, _) => sc.setLocalProperty(k, null) }
    }
    assertEquals(Right(5400.0), deadline(JobGroup.Deadline -> "1h30m"))
    assertEquals(Right(60.0), deadline(JobGroup.By -> "2026-11-30T06:01:00Z"))
    for ((settings, want) <- Seq(
        Seq(JobGroup.Deadline -> "soon") -> "is 'soon', want a time such as",
        Seq(JobGroup.Deadline -> "0s") -> "is '0s', want a time such as",
        Seq(JobGroup.By -> "2026-11-30T05:00:00Z") -> "which is past",
        Seq(JobGroup.By -> "noon") -> "want a time of day",
        Seq("spark.pacer.group.deadlines" -> "15m") -> "spark.pacer.group.deadlines: there is no such setting, want one of",
        Seq("spark.pacer.groups.by" -> "07:00", JobGroup.Deadline -> "1h") -> "spark.pacer.groups.by: there is no such setting",
        Seq(JobGroup.By -> "07:00", JobGroup.Deadline -> "1h") -> "exclude each other")) {
      assertTrue(deadline(settings: _*).left.exists(_.contains(want)), s"$settings: ${deadline(settings: _*)}")
    }
  }

  /** A setting of SQL ends after a while without a job, any group at its deadline when none of its jobs runs. */
  @Test def aGroupEndsByItself(): Unit = {
    val key = StageKey(1, 0)
    for ((setting, deadline, at) <- Seq(("of SQL", 900.0, 35.0), ("run 1", 20.0, 21.0))) {
      val p = parts()
      val (Some(part), Nil) = p.of(of(Right(deadline), setting), streaming = false, 1): @unchecked
      part.submitted(key)
      assertEquals(Some(PartBegan(1, "p", deadline, byMoment = false)), part.begins())
      assertEquals(None, part.begins())
      assertEquals(Nil, (1 to 100).flatMap(s => p.look(s)), "its job runs")
      part.ended(key, well = true, 4)
      assertEquals(Nil, p.look(10) ++ p.look(10))
      assertEquals(Seq(PartOver(4, failed = false)), p.look(at) ++ p.look(at))
      assertEquals(setting == "of SQL", p.of(of(Right(deadline), setting), streaming = false, 50)._1.isDefined, "a thread's deadline passes once")
    }
  }

  @Test def aPlannerThatHasLostItsStateKnowsOfNoGroup(): Unit = {
    val p = parts()
    assertTrue(p.of(of(Right(60)), streaming = false, 1)._1.isDefined)
    p.forget()
    assertEquals(None, p.current)
    assertEquals(Seq("the deadline of group 'p' is set aside: the planner has lost its state"), said.toSeq)
    assertEquals(Nil, p.stop())
  }
}
