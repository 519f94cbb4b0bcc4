package org.apache.spark.pacer

import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.time.{LocalDateTime, ZoneId}

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.{SparkConf, SparkException}

class PacerConfTest {
  private def conf(settings: (String, String)*) = new SparkConf(false).setAll(settings)
  private def parse(master: String, settings: (String, String)*) = PacerConf.parse(master, conf(settings: _*), new DriverContexts(_ => None).next(None))
  private def refusal(master: String, settings: (String, String)*): String =
    assertThrows(classOf[SparkException], () => parse(master, settings: _*)).getMessage

  @Test def deadlinesAreReadInTheNotationsThatUsersKnow(): Unit = Seq(
    "90s" -> 90.0, "15m" -> 900.0, "15min" -> 900.0, "1h30m" -> 5400.0, "1.5h" -> 5400.0, "90" -> 90.0,
    "1500ms" -> 1.5, "2D" -> 172800.0, "1m30.5s" -> 90.5).foreach { case (text, want) =>
    assertEquals(want, parse("sparkpacer://h:1", PacerConf.Deadline -> text).deadline, 1e-9, text)
  }

  @Test def aDeadlineMayBeATimeOfDay(): Unit = {
    val berlin = ZoneId.of("Europe/Berlin")
    def until(text: String, start: String) = PacerConf.secondsUntil(text, LocalDateTime.parse(start).atZone(berlin))
    Seq(("06:00", "2026-06-10T05:00:00", 3600.0), ("06:00", "2026-06-10T06:00:00", 86400.0), ("00:00:15", "2026-06-10T23:59:30", 45.0),
      // The night in which clocks go forward has 23 hours, the one back 25.
      ("6:00", "2026-03-28T06:00:00", 82800.0), ("06:00", "2026-10-24T06:00:00", 90000.0),
      ("2026-06-11T06:30", "2026-06-10T05:00:00", 91800.0), ("2026-06-11 06:30:30", "2026-06-10T05:00:00", 91830.0),
      ("2026-06-10T06:00:00Z", "2026-06-10T05:00:00", 10800.0), ("2026-06-09T06:00", "2026-06-10T05:00:00", -82800.0)).foreach { case (text, start, want) =>
      assertEquals(Some(want), until(text, start), s"$text from $start")
    }
    Seq("25:00", "soon", "6").foreach(t => assertEquals(None, until(t, "2026-06-10T05:00:00"), t))
    assertTrue(parse("sparkpacer://h", PacerConf.By -> "06:00").deadline > 0)
    assertTrue(parse("sparkpacer://h", PacerConf.By -> "06:00").byMoment)
    assertFalse(parse("sparkpacer://h", PacerConf.Deadline -> "5m").byMoment)
    assertEquals("/jobs/a.py", parse("sparkpacer://h", PacerConf.Program -> "/jobs/a.py").program)
    assertTrue(refusal("sparkpacer://h", PacerConf.By -> "06:00", PacerConf.Deadline -> "5m").contains("exclude"))
    assertTrue(refusal("sparkpacer://h", PacerConf.By -> "25:00").contains("spark.pacer.by is '25:00'"))
    val late = parse("sparkpacer://h", PacerConf.By -> "2020-01-01T06:00")
    assertTrue(late.deadline > 0 && late.deadline < 0.01 && late.byMoment && late.pastDue.nonEmpty, "a moment that is past is late")
    assertTrue(parse("sparkpacer://h", PacerConf.By -> "2020-01-01T06:00", PacerConf.Watched -> "true").pastDue.isEmpty)
    assertTrue(refusal("sparkpacer://h", PacerConf.By -> "2020-01-01T06:00", PacerConf.RequireFeasible -> "true").contains("past"))
    assertTrue(parse("sparkpacer://h", PacerConf.Watched -> "true").watched)
  }

  @Test def aScriptOfSparkSqlIsItsProgram(): Unit = {
    val shell = "org.apache.spark.deploy.SparkSubmit --master sparkpacer://h --class org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver spark-internal"
    assertEquals(Some("/sql/q.sql"), PacerConf.script(s"$shell --database d -f /sql/q.sql"))
    assertEquals(None, PacerConf.script(s"$shell -e SELECT"))
    assertEquals(None, PacerConf.script("org.apache.spark.deploy.SparkSubmit --class org.example.Main a.jar -f /x"))
    val submit = "org.apache.spark.deploy.SparkSubmit --master spark://h:1 --verbose --py-files dep.py"
    val airflow = Map("AIRFLOW_CTX_DAG_ID" -> "nightly", "AIRFLOW_CTX_TASK_ID" -> "report")
    for ((name, env, command, want) <- Seq(
        ("arrow-spark", airflow, s"$submit /jobs/a.py x", "nightly.report"),
        ("arrow-spark", Map.empty[String, String], s"$submit /jobs/a.py x", "/jobs/a.py"),
        ("default-name", Map("AIRFLOW_CTX_DAG_ID" -> "nightly"), s"$submit --class org.example.Main a.jar", "org.example.Main"),
        ("mine", airflow, s"$submit /jobs/a.py", ""),
        ("arrow-spark", Map.empty[String, String], "org.example.Main x", ""))) assertEquals(want, PacerConf.program(name, env.get, command))
  }

  @Test def aSettingThatIsNoneIsSaid(): Unit = {
    val said = Seq("spark.pacer.deadlin", "spark.pacer.group.deadlines").map(key => s"$key is set aside: there is no such setting")
    val c = conf("spark.pacer.deadlin" -> "10m", "spark.pacer.group.deadlines" -> "5m", PacerConf.Submission -> "s", JobGroup.Name -> "n")
    assertEquals(said, PacerConf.complete(c, 0))
    assertEquals(said, PacerConf.attach(c, parse("sparkpacer://h")))
  }

  @Test def howLongAJobMayTakeIsReadAndChecked(): Unit = {
    assertEquals(90.0, parse("sparkpacer://h", PacerConf.JobMost -> "1m30s").jobMost)
    assertEquals(0.0, parse("sparkpacer://h").jobMost)
    Seq("0s", "soon", "-1s", "9999999999999999s").foreach(text => assertEquals(
      s"pacer: spark.pacer.job.most is '$text', want a time such as 90s or 15m", refusal("sparkpacer://h", PacerConf.JobMost -> text)))
  }

  // What is said of a moment is said in the time that its user's clock shows then.
  @Test def theOffsetIsThatOfTheMoment(): Unit = {
    val berlin = ZoneId.of("Europe/Berlin")
    val start = LocalDateTime.parse("2026-11-27T12:00:00").atZone(berlin).toInstant.toEpochMilli
    assertEquals(3600, PacerConf.utcOffset(None, start, 90, berlin))
    assertEquals(7200, PacerConf.utcOffset(Some("2027-03-28T06:00"), start, 120 * 86400 + 61200, berlin))
    assertEquals(-18000, PacerConf.utcOffset(Some("2027-03-28T06:00:00-05:00"), start, 90, berlin))
  }

  @Test def everyFaultIsNamedInOneLine(): Unit = {
    val said = refusal("sparkpacer://", PacerConf.Deadline -> "soon", PacerConf.RequireFeasible -> "perhaps", PacerConf.Certainty -> "1",
      "spark.submit.deployMode" -> "cluster")
    Seq("pacer: ", "master is", "spark.pacer.deadline is 'soon'", "requireFeasible", "spark.pacer.certainty is '1', want a number from 0.5 to 0.99", "--deploy-mode client")
      .foreach(part => assertTrue(said.contains(part), s"$said has no $part"))
    assertFalse(said.contains("\n"))
    Seq("0s", "-5s", "0", "1x", "5s later").foreach(d =>
      assertTrue(refusal("sparkpacer://h:1", PacerConf.Deadline -> d).contains("deadline"), d))
  }

  @Test def theMasterNamesThePlanner(): Unit = {
    assertEquals("h:1", parse("sparkpacer://h:1").address)
    assertEquals("h:4222", parse("sparkpacer://h").address)
    assertEquals("[::1]:5", parse("sparkpacer://[::1]:5/").address)
    Seq("sparkpacer://h:x", "sparkpacer://h:1/x", "sparkpacer://a b", "sparkpacer://h:1,g:2").foreach(m =>
      assertTrue(refusal(m).contains("want sparkpacer://host:port"), m))
  }

  @Test def withoutASubmissionOneIsMadeForTheJvm(): Unit = {
    assertEquals("u", parse("sparkpacer://h", PacerConf.Submission -> "u").submission)
    assertEquals(parse("sparkpacer://h").submission, parse("sparkpacer://h").submission)
  }

  @Test def aDeadlineOfTheSubmissionIsForAllItsContexts(): Unit = {
    val jvm = java.lang.management.ManagementFactory.getRuntimeMXBean.getStartTime
    val submitted = Some(jvm - 60000)
    val contexts = new DriverContexts(Map(PacerConf.Deadline -> "10m").get)
    def next(deadline: String) =
      PacerConf.parse("sparkpacer://h", conf(PacerConf.Deadline -> deadline), contexts.next(submitted))
    val first = next("10m")
    assertEquals((0, 0.0, 600.0, true), (first.context, first.before, first.deadline, first.shared))
    val second = next("10m")
    assertTrue(second.shared && second.context == 1 && second.before >= 60, second.toString)
    assertEquals(600.0, second.before + second.deadline, 1e-9)
    val own = next("5m")
    assertEquals((2, 300.0, false), (own.context, own.deadline, own.shared), "what a context sets counts from its own start")
    val passed = new DriverContexts(Map(PacerConf.Deadline -> "1s").get)
    passed.next(submitted)
    val late = PacerConf.parse("sparkpacer://h", conf(PacerConf.Deadline -> "1s"), passed.next(submitted)).deadline
    assertTrue(late > 0 && late < 0.1, "one that has passed is still one")
    val morning = new DriverContexts(Map(PacerConf.By -> "06:00").get)
    def by(context: DriverContext) = PacerConf.parse("sparkpacer://h", conf(PacerConf.By -> "06:00"), context)
    val (before, after) = (by(morning.next(submitted)), by(morning.next(submitted)))
    assertEquals(before.deadline, after.before + after.deadline, 0.01, "06:00 after the submission")
  }

  @Test def contextsAreNumberedEachWithItsClockAndTheKthOfANameWithItsProfile(): Unit = {
    val contexts = new DriverContexts(_ => None)
    val submitted = Some(java.lang.management.ManagementFactory.getRuntimeMXBean.getStartTime - 60000)
    val made = Seq.fill(3)(contexts.next(submitted))
    assertEquals(Seq(0, 1, 2), made.map(_.number))
    assertTrue(made.head.clock.elapsed() >= 60 && made(1).clock.elapsed() < 30 && made(1).before >= 60)
    assertEquals("day", contexts.profile("day"))
    assertEquals("day", contexts.profile("day"), "one that was not taken in does not count")
    contexts.registered("day")
    assertEquals("day#2", contexts.profile("day"))
    assertEquals("night", contexts.profile("night"))
    contexts.registered("day")
    assertEquals("day#3", contexts.profile("day"))
  }

  @Test def aSessionWithoutAnEndHasNoDeadline(): Unit = {
    val settings = parse("sparkpacer://h", PacerConf.By -> "06:00").withoutEnd
    assertEquals((0.0, false, PacerConf.Endless), (settings.deadline, settings.byMoment, settings.mode))
    assertEquals(PacerConf.Off, parse("sparkpacer://h", PacerConf.Mode -> "off").withoutEnd.mode)
  }

  @Test def onlySpark40To43(): Unit = {
    Seq("4.0.0", "4.0.2", "4.2.0", "4.3.0", "4.3.1-SNAPSHOT").foreach(PacerConf.checkSpark)
    Seq("3.5.1", "4.4.0", "4.30.0", "5.0.0", "40.1").foreach(v =>
      assertTrue(assertThrows(classOf[SparkException], () => PacerConf.checkSpark(v)).getMessage.contains(v)))
  }

  @Test def whatTheUserSetStays(): Unit = {
    val c = conf("spark.locality.wait" -> "3s", "spark.sql.broadcastTimeout" -> "7", "spark.plugins" -> "a.B")
    assertEquals(Nil, PacerConf.complete(c, 90))
    assertEquals("3s", c.get("spark.locality.wait"))
    assertEquals("7", c.get("spark.sql.broadcastTimeout"))
    assertEquals("a.B,org.apache.spark.pacer.PacerPlugin", c.get("spark.plugins"))
    PacerConf.complete(c, 90)
    assertEquals("a.B,org.apache.spark.pacer.PacerPlugin", c.get("spark.plugins"), "named once")
  }

  @Test def whatWorksAgainstPacingIsSetAsideAndSaid(): Unit = {
    val switches = Seq("spark.speculation", "spark.dynamicAllocation.enabled", "spark.streaming.dynamicAllocation.enabled",
      "spark.shuffle.service.enabled", "spark.shuffle.push.enabled")
    val counts = Seq("spark.executor.instances", "spark.cores.max")
    val c = conf(switches.map(_ -> "true") ++ counts.map(_ -> "3"): _*)
    val said = PacerConf.complete(c, 200000)
    (switches ++ counts).foreach(key => assertEquals(1, said.count(_.startsWith(key + " ")), key))
    assertEquals(switches.size + counts.size, said.size, said.toString)
    assertFalse(switches.exists(c.getBoolean(_, true)) || counts.exists(c.contains))
    assertEquals(Nil, PacerConf.complete(conf(switches.map(_ -> "false"): _*), 90), "what is off already is no news")
    assertEquals("0s", c.get("spark.locality.wait"))
    assertEquals("30s", c.get("spark.shuffle.io.connectionTimeout"))
    assertEquals("10s", c.get("spark.shuffle.io.connectionCreationTimeout"))
    val own = conf("spark.network.timeout" -> "5m")
    PacerConf.complete(own, 0)
    assertFalse(own.contains("spark.shuffle.io.connectionTimeout"), "as the user's spark.network.timeout says")
    assertEquals("2s", c.get("spark.executor.heartbeatInterval"))
    assertEquals("300", c.get("spark.executor.heartbeat.maxFailures"), "2 s each: Spark's 10 minutes")
    val rare = conf("spark.executor.heartbeatInterval" -> "20s")
    PacerConf.complete(rare, 0)
    assertEquals("20s", rare.get("spark.executor.heartbeatInterval"))
    assertFalse(rare.contains("spark.executor.heartbeat.maxFailures"))
    assertEquals("false", c.get("spark.executor.heartbeat.dropZeroAccumulatorUpdates"), "Spark 4.2 asks what is half read")
    val asked = conf("spark.executor.heartbeat.dropZeroAccumulatorUpdates" -> "true")
    PacerConf.complete(asked, 0)
    assertTrue(asked.getBoolean("spark.executor.heartbeat.dropZeroAccumulatorUpdates", false), "as set")
    assertEquals(Seq(true, true, true, false), Seq("4.0.5", "4.1.1", "4.2.1", "4.3.0").map(PacerConf.heartbeatsEnd))
    assertEquals("200000", c.get("spark.sql.broadcastTimeout"), "the deadline, when it is later than a day")
  }

  @Test def offChangesNothingButTheChoiceOfExecutors(): Unit = {
    val c = conf("spark.speculation" -> "true", "spark.dynamicAllocation.enabled" -> "true",
      "spark.shuffle.service.enabled" -> "true", "spark.decommission.enabled" -> "true")
    assertEquals(2, PacerConf.complete(c, 90, PacerConf.Off).size)
    assertEquals(Set("spark.speculation" -> "true", "spark.dynamicAllocation.enabled" -> "false",
      "spark.shuffle.service.enabled" -> "false", "spark.decommission.enabled" -> "true"),
      c.getAll.toSet)
  }

  @Test def aPlannerBesideAnotherMasterIsASetting(): Unit = {
    val there = Seq(PacerConf.Planner -> "h:4333", "spark.submit.deployMode" -> "cluster")
    assertEquals("h:4333", parse("yarn", there: _*).address)
    assertEquals("h:4222", parse("k8s://https://a:6443", PacerConf.Planner -> "sparkpacer://h").address)
    assertEquals("spark.pacer.planner is 'h:x', want host:port", refusal("yarn", PacerConf.Planner -> "h:x").stripPrefix("pacer: "))
    assertEquals("g:1", parse("sparkpacer://g:1", PacerConf.Planner -> "h:2").address, "the master is Pacer's")
  }

  @Test def howManyExecutorsAnAttachedApplicationMayHave(): Unit = {
    val (dynamic, least, most, fixed) = ("spark.dynamicAllocation.enabled" -> "true", "spark.dynamicAllocation.minExecutors" -> "3",
      "spark.dynamicAllocation.maxExecutors" -> "9", "spark.executor.instances" -> "5")
    Seq(Nil -> (1, 0), Seq(fixed) -> (1, 5), Seq(dynamic, fixed) -> (1, 0), Seq(dynamic, least, most) -> (3, 9), Seq(fixed, least, most) -> (3, 9),
      Seq(dynamic, "spark.dynamicAllocation.minExecutors" -> "0") -> (1, 0), Seq(dynamic, "spark.dynamicAllocation.maxExecutors" -> "2147483647") -> (1, 0),
      Seq(least, "spark.executor.instances" -> "2") -> (2, 2))
      .foreach { case (settings, want) => assertEquals(want, PacerConf.executors(conf(settings: _*)), settings.toString) }
  }

  @Test def whatAnAttachedApplicationsClusterHasStays(): Unit = {
    val cluster = Seq("spark.shuffle.service.enabled" -> "true", "spark.shuffle.push.enabled" -> "true")
    val c = conf(cluster ++ Seq(PacerConf.Planner -> "h", PacerConf.Deadline -> "90s", "spark.speculation" -> "true",
      "spark.dynamicAllocation.enabled" -> "true", "spark.dynamicAllocation.initialExecutors" -> "4"): _*)
    val settings = PacerConf.parse("yarn", c, new DriverContexts(_ => None).next(None))
    assertEquals(2, PacerConf.attach(c, settings).size, "speculation and dynamic allocation")
    cluster.foreach { case (key, value) => assertEquals(value, c.get(key)) }
    assertEquals("4", c.get("spark.executor.instances"), "as many as it would begin with")
    assertEquals("0s", c.get("spark.locality.wait"))
    Seq(settings.copy(deadline = 0), settings.copy(mode = PacerConf.Observe)).foreach { other =>
      val left = conf(cluster :+ "spark.dynamicAllocation.enabled" -> "true": _*)
      assertEquals(Nil, PacerConf.attach(left, other))
      assertEquals(cluster.toSet + ("spark.dynamicAllocation.enabled" -> "true") + (PacerConf.Attached -> "true"), left.getAll.toSet)
    }
  }

  @Test def theModeIsOneOfThree(): Unit = {
    assertEquals(PacerConf.Control, parse("sparkpacer://h").mode)
    Seq("control", "observe", "off", "Observe").foreach(m =>
      assertEquals(m.toLowerCase, parse("sparkpacer://h", PacerConf.Mode -> m).mode))
    val said = refusal("sparkpacer://h", PacerConf.Mode -> "watch")
    assertEquals("pacer: spark.pacer.mode is 'watch', want control or observe or off", said)
  }

  @Test def offHeapIsThePlannersUnlessTheUserSetIt(): Unit = {
    val free = conf()
    assertFalse(PacerConf.offHeapFixed(free))
    PacerConf.giveOffHeap(free, 64 << 20)
    assertEquals(64L << 20, PacerConf.offHeap(free))
    assertEquals("1m", free.get("spark.buffer.pageSize"))
    val none = conf("spark.memory.offHeap.enabled" -> "false")
    assertTrue(PacerConf.offHeapFixed(none))
    PacerConf.giveOffHeap(none, 64 << 20)
    assertEquals(0L, PacerConf.offHeap(none))
    val set = conf("spark.memory.offHeap.enabled" -> "true", "spark.memory.offHeap.size" -> "1g")
    PacerConf.giveOffHeap(set, 64 << 20)
    assertEquals(1L << 30, PacerConf.offHeap(set))
    assertFalse(set.contains("spark.buffer.pageSize"))
  }

  @Test def aHeapIsOnesOwnOrAuto(): Unit = {
    assertTrue(parse("sparkpacer://h", PacerConf.MemoryHeap -> "Auto").heapAuto)
    assertFalse(parse("sparkpacer://h").heapAuto)
    assertEquals("pacer: spark.pacer.memory.heap is '2g', want auto; a size of one's own is spark.executor.memory",
      refusal("sparkpacer://h", PacerConf.MemoryHeap -> "2g"))
  }

  @Test def weightAndFloorOfMemoryAreReadAndChecked(): Unit = {
    val read = parse("sparkpacer://h", PacerConf.MemoryWeight -> "2.5", PacerConf.MemoryFloor -> "128m")
    assertEquals((2.5, 128L << 20), (read.memoryWeight, read.memoryFloor))
    val said = refusal("sparkpacer://h", PacerConf.MemoryWeight -> "0", PacerConf.MemoryFloor -> "much")
    assertEquals("pacer: spark.pacer.memory.weight is '0', want a number from 0.01 to 100; " +
      "spark.pacer.memory.floor is 'much', want a size such as 512m or 2g", said)
  }

  @Test def theNodesThatAnApplicationWantsAreReadAndChecked(): Unit = {
    val read = parse("sparkpacer://h", PacerConf.LeastNodes -> "2", PacerConf.MostNodes -> "2")
    assertEquals((2, 2), (read.leastNodes, read.mostNodes))
    assertEquals((0, 0), (parse("sparkpacer://h").leastNodes, parse("sparkpacer://h").mostNodes))
    assertEquals((3, 0), { val c = parse("sparkpacer://h", PacerConf.LeastNodes -> "3"); (c.leastNodes, c.mostNodes) })
    assertEquals("pacer: spark.pacer.nodes.least is '0', want a whole number from 1 to 16384; " +
      "spark.pacer.nodes.most is '1.5', want a whole number from 1 to 16384",
      refusal("sparkpacer://h", PacerConf.LeastNodes -> "0", PacerConf.MostNodes -> "1.5"))
    assertEquals("pacer: spark.pacer.nodes.least is 3, more than spark.pacer.nodes.most, 2",
      refusal("sparkpacer://h", PacerConf.LeastNodes -> "3", PacerConf.MostNodes -> "2"))
  }

  @Test def pythonWorkersMakeTheOverheadLarger(): Unit = {
    val heap = 2L << 30
    def mib(python: Boolean, settings: (String, String)*): Long = PacerConf.overhead(conf(settings: _*), heap, python) >> 20
    assertEquals((384L, 819L), (mib(python = false), mib(python = true)))
    assertEquals(204L + 0, mib(python = true, "spark.executor.memoryOverheadFactor" -> "0.1", "spark.executor.minMemoryOverhead" -> "100m"))
    assertEquals(500L, mib(python = true, "spark.executor.memoryOverhead" -> "500m"))
  }

  @Test def overheadIsCountedAsSparkCountsIt(): Unit = {
    assertEquals(384L << 20, PacerConf.overhead(conf(), 1L << 30))
    assertEquals((10L << 30) / 10, PacerConf.overhead(conf(), 10L << 30))
    assertEquals(2L << 30, PacerConf.overhead(conf("spark.executor.memoryOverhead" -> "2g"), 1L << 30))
    assertEquals(512L << 20, PacerConf.overhead(conf("spark.executor.memoryOverhead" -> "512"), 1L << 30))
    assertEquals((4L << 30) / 2, PacerConf.overhead(conf("spark.executor.memoryOverheadFactor" -> "0.5"), 4L << 30))
    assertEquals(640L << 20, PacerConf.overhead(conf("spark.executor.minMemoryOverhead" -> "640m"), 1L << 30))
    assertEquals((384L + 256) << 20, PacerConf.overhead(conf("spark.executor.pyspark.memory" -> "256m"), 1L << 30),
      "Python workers have theirs in addition")
  }

  @Test def theDeadlineClockStartsWithTheWrapper(): Unit = {
    var nanos = 5000000000L
    val clock = new DeadlineClock(10000, 14000, () => nanos)
    assertEquals(4.0, clock.elapsed(), 1e-9)
    nanos += 1500000000L
    assertEquals(5.5, clock.elapsed(), 1e-9)
    assertEquals(5.0, clock.at(15000, wallNow = 15500), 1e-9)
    assertEquals(0.0, new DeadlineClock(10000, 9000, () => 0).elapsed(), 1e-9, "a wall clock that was set back")
    val jvm = java.lang.management.ManagementFactory.getRuntimeMXBean.getStartTime
    assertTrue(DeadlineClock.since(Some(jvm - 60000)).elapsed() >= 60)
    assertTrue(DeadlineClock.since(Some(jvm + 1000000)).elapsed() < 1000, "a time to come is a mistake")
  }

  @Test def aCredentialIsReadFromAFileOfItsOwnersOnly(): Unit = {
    val file = Files.createTempFile("credentials", "")
    def fault(text: String, mode: String = "rw-------"): String = {
      Files.writeString(file, text)
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode))
      val said = assertThrows(classOf[UnreachableException], () => Credential.read(file)).getMessage
      assertTrue(said.contains(file.toString) && !said.contains("hunter2"), said)
      said
    }
    assertTrue(fault("node-n1:hunter2").contains("pacer auth issue --user"))
    assertTrue(fault("hunter2").contains("one line"))
    assertTrue(fault("user-ann:hunter2\nuser-bob:hunter2\n").contains("one line"))
    assertTrue(fault("user-ann:hunter2", "rw-r--r--").contains("chmod o-r"))
    assertTrue(fault("user-ann:hunter2", "rw-rw----").contains("chmod go-w"))
    Files.writeString(file, "# ours\nuser-ann:a:b\n")
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"))
    val read = Credential.read(file)
    assertEquals(("user-ann", "a:b"), (read.login, read.secret))
    Files.delete(file)
    assertThrows(classOf[UnreachableException], () => Credential.read(file))
  }

  @Test def aCredentialIsFoundByThePlannersAddress(): Unit = {
    val dir = Files.createTempDirectory("credentials")
    val file = dir.resolve("127.0.0.1:4222")
    Files.writeString(file, "user-ann:s")
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"))
    def find(address: String) = Credential.find(None, address, k => Some(dir.toString).filter(_ => k == "PACER_CREDENTIALS_DIR")).map(_.login)
    for (loopback <- Seq("127.0.0.1:4222", "localhost:4222", "[::1]:4222", "LOCALHOST:4222")) assertEquals(Some("user-ann"), find(loopback))
    assertEquals(None, find("127.0.0.1:4223"))
    assertEquals("fe80::1:4222", Credential.fileName("[fe80::1]:4222"))
    def inPod(text: String, named: Option[java.nio.file.Path] = None) =
      Credential.find(named, "h:1", k => Some(text).filter(_ => k == Credential.Variable)).map(_.login)
    assertEquals(Some("user-bob"), inPod("# Taken until 2030-01-01T00:00:00Z\nuser-bob:s\n"))
    assertEquals(Some("user-ann"), inPod("user-bob:s", Some(file)), "a file that is named comes first")
    val said = assertThrows(classOf[UnreachableException], () => inPod("hunter2")).getMessage
    assertTrue(said.contains("PACER_SECRET") && !said.contains("hunter2"), said)
    Files.delete(file)
    Files.delete(dir)
  }

  @Test def nobodyThereIsSaidInOneLine(): Unit = {
    val free = new java.net.ServerSocket(0)
    val port = free.getLocalPort
    free.close()
    val said = assertThrows(classOf[UnreachableException],
      () => NatsTransport.connect(s"127.0.0.1:$port", None, () => ())).getMessage
    assertEquals(s"no planner answers at 127.0.0.1:$port", said)
  }
}
