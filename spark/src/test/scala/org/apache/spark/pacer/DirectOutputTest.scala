package org.apache.spark.pacer

import java.io.{FileNotFoundException, IOException, OutputStream, PrintStream}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.{JobID, JobStatus, TaskAttemptID, TaskID, TaskType}
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter
import org.apache.hadoop.mapreduce.task.{JobContextImpl, TaskAttemptContextImpl}
import org.apache.hadoop.util.functional.RemoteIterators
import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.DirectOutputTest._

class DirectOutputTest {
  private val x = "attempt_202611291200007_0001_m_000000_0"

  // Stocator's example names, with Spark's.
  @Test def theAttemptStandsBeforeTheFirstDot(): Unit = {
    Seq("part-0-U-c000.snappy.parquet" -> s"part-0-U-c000_$x.snappy.parquet", "part-00000" -> s"part-00000_$x",
      "day=1.5/part-1.txt.gz" -> s"day=1.5/part-1_$x.txt.gz", ".part-0.crc" -> s".part-0_$x.crc").foreach { case (below, want) =>
      assertEquals(want, DirectOutput.written(x, below))
      assertEquals(Some(x), DirectOutput.attemptOf(want.drop(want.lastIndexOf('/') + 1)), want)
    }
    Seq("part-00000", "part-0-U-c000.snappy.parquet", "_SUCCESS", DirectOutput.mark("u-1", x), "attempt_1", x)
      .foreach(name => assertEquals(None, DirectOutput.attemptOf(name), name))
  }

  @Test def pathsHaveTheirPlace(): Unit = {
    import DirectOutput._
    Seq("s3a://b/d/_temporary" -> OfJob("s3a://b/d", whole = true), "s3a://b/d/_temporary/0" -> OfJob("s3a://b/d", whole = false),
      "s3a://b/d/_temporary/0/_temporary" -> OfJob("s3a://b/d", whole = false),
      s"s3a://b/d/_temporary/0/_temporary/$x" -> OfAttempt("s3a://b/d", x, None),
      s"s3a://b/d/_temporary/0/_temporary/$x/k=1/part-0" -> OfAttempt("s3a://b/d", x, Some("k=1/part-0")),
      "s3a://b/d/_temporary/0/task_2026_0001_m_000000" -> OfTask("s3a://b/d"),
      s"s3a://b/d/.spark-staging-u/_temporary/0/_temporary/$x/part-0" -> Classic,
      "s3a://b/d/part-0" -> Outside, "s3a://b/d/_SUCCESS" -> Outside, "s3a://b/d/_temporary/mine" -> Outside)
      .foreach { case (path, want) => assertEquals(want, place(path), path) }
  }

  // Table 6.1 has 8 for Stocator, 48 for Hadoop-Swift and 117 for S3a.
  @Test def aJobOfOneTaskHasSevenCalls(): Unit = {
    val (job, store) = newJob("seven")
    assertFalse(job.out.getFileSystem(job.conf).exists(job.out)) // As TextOutputFormat looks before the job.
    job.setup()
    val one = job.attempt(0, 0)
    one.write("part-00000", "a")
    assertTrue(one.commit())
    job.commit()
    val name = s"/d/part-00000_${one.id}"
    assertEquals(Seq("HEAD /d", "LIST /d", s"PUT $name", s"PUT /d/_done-${job.uuid}-${one.id}", "LIST /d", "PUT /d/_SUCCESS",
      s"DELETE /d/_done-${job.uuid}-${one.id}"), store.calls.toSeq)
    assertEquals(Seq("/d/_SUCCESS", name), store.objects.keys.toSeq)
    assertEquals(Some(Set(one.id)), DirectOutput.attempts(store.objects("/d/_SUCCESS")))
  }

  @Test def theExampleOfTable62CopiesNothing(): Unit = {
    val (job, store) = newJob("table62")
    job.setup()
    val tried = Seq(job.attempt(0, 0), job.attempt(1, 0)) ++ Seq(0, 1, 2).map(job.attempt(2, _))
    tried.foreach(a => a.write(s"part-${a.task}", a.id))
    Seq(tried(2), tried(4)).foreach(_.abort())
    Seq(tried(0), tried(1), tried(3)).foreach(a => assertTrue(a.commit()))
    job.commit()
    assertEquals(5, store.calls.count(_.startsWith("PUT /d/part-")))
    assertEquals(2, store.calls.count(_.startsWith("DELETE /d/part-")))
    assertEquals(0, store.calls.count(_.startsWith("COPY")))
    assertEquals(Set(tried(0), tried(1), tried(3)).map(_.id), read(job).values.toSet)
  }

  @Test def anAttemptSeesWhatItHasWritten(): Unit = {
    val (job, store) = newJob("sees")
    job.setup()
    val one = job.attempt(0, 0)
    assertFalse(one.fs.exists(one.dir))
    one.write("k=1/part-0.txt", "abc")
    val calls = store.calls.size
    assertEquals(3, one.fs.getFileStatus(new Path(one.dir, "k=1/part-0.txt")).getLen)
    assertTrue(one.fs.getFileStatus(new Path(one.dir, "k=1")).isDirectory)
    assertEquals(calls, store.calls.size, "without a call")
    assertEquals("abc", new String(one.fs.open(new Path(one.dir, "k=1/part-0.txt")).readAllBytes()))
    Seq(one.fs.createFile(new Path(one.dir, "more")).build(), one.fs.createNonRecursive(new Path(one.dir, "most"), true, 1, 1, 1, null))
      .foreach(_.close())
    assertThrows(classOf[IOException], () => one.fs.rename(new Path(one.dir, "more"), new Path(one.dir, "less")))
    assertTrue(one.fs.delete(new Path(one.dir, "more"), false))
    assertTrue(one.commit())
    job.commit()
    assertEquals(Set(s"k=1/part-0_${one.id}.txt", s"most_${one.id}"), read(job).keySet)
  }

  @Test def appendingKeepsWhatWasThere(): Unit = {
    val (first, store) = newJob("append")
    val kept = first.whole(0 -> Seq("k=1/a.txt"), 1 -> Seq("k=1/b.txt"))
    val second = new Writing(first.bucket, "u-2", 99)
    val more = second.whole(0 -> Seq("k=2/a.txt"))
    assertEquals(kept ++ more, read(first).values.toSet)
    store.objects --= store.below("/d/k=1") // As overwriting one partition does.
    new Writing(first.bucket, "u-3", 100).whole(0 -> Seq("k=1/c.txt"))
    assertEquals(2, DirectOutput.attempts(store.objects("/d/_SUCCESS")).get.size, "attempts without files are dropped")
  }

  @Test def readersLeaveOutWhatNoManifestNames(): Unit = {
    val (job, store) = newJob("readers")
    val kept = job.whole(0 -> Seq("k=1/a.txt", "k=2/a.txt"))
    val foreign = "/d/k=1/a_attempt_1_0001_m_000000_1.txt"
    store.objects(foreign) = "a killed attempt's PUT that has ended now"
    store.objects("/d/k=1/by-hand.txt") = "of no attempt"
    val fs = job.out.getFileSystem(MemoryStore.configuration())
    val partition = new Path(job.out, "k=1")
    val names = Set(s"a_${kept.head}.txt", "by-hand.txt")
    assertEquals(names, fs.listStatus(partition).map(_.getPath.getName).toSet)
    assertEquals(names, RemoteIterators.toList(fs.listLocatedStatus(partition)).asScala.map(_.getPath.getName).toSet)
    assertEquals(names, RemoteIterators.toList(fs.listStatusIterator(partition)).asScala.map(_.getPath.getName).toSet)
    assertEquals(4, RemoteIterators.toList(fs.listFiles(job.out, true)).size, "with _SUCCESS")
    store.objects("/d/_SUCCESS") = "" // Another committer's, which knows nothing of attempts.
    assertEquals(3, fs.listStatus(partition).length)
    store.objects -= "/d/_SUCCESS"
    store.objects("/d/k=1/_SUCCESS") = "" // Output that is one partition by its path.
    assertEquals(4, fs.listStatus(partition).length)
  }

  @Test def theClassicWayStaysWhereOutputMoves(): Unit = {
    val (job, store) = newJob("classic")
    val fs = job.out.getFileSystem(job.conf)
    val from = new Path(job.out, s".spark-staging-u/_temporary/0/_temporary/$x")
    assertTrue(fs.mkdirs(from))
    fs.create(new Path(from, "part-0")).close()
    assertTrue(fs.rename(from, new Path(job.out, ".spark-staging-u/_temporary/0/task_2026_0001_m_000000")))
    assertTrue(store.objects.contains("/d/.spark-staging-u/_temporary/0/task_2026_0001_m_000000/part-0"))
    val nameless = MemoryStore.configuration() // A writer that gives its job no id.
    job.out.getFileSystem(nameless).create(new Path(job.out, s"_temporary/0/_temporary/$x/part-0")).close()
    assertTrue(store.objects.contains(s"/d/_temporary/0/_temporary/$x/part-0"))
  }

  @Test def anAbortedJobLeavesNothing(): Unit = {
    val (job, store) = newJob("aborted")
    job.setup()
    val (one, two) = (job.attempt(0, 0), job.attempt(1, 0))
    one.write("a", one.id)
    assertTrue(one.commit())
    two.write("b", "b")
    job.abort() // Its process has been killed, and nothing aborts the second.
    assertEquals(Seq(), store.objects.keys.toSeq)
    two.write("c", "c")
    assertTrue(two.commit())
    assertEquals(Map(), read(job))
  }

  @Test def aManifestThatMayBeThereIsNotPulledDown(): Unit = {
    val (job, store) = newJob("unsure")
    job.setup()
    val one = job.attempt(0, 0)
    one.write("a", one.id)
    assertTrue(one.commit())
    store.before = what => if (what == "PUT /d/_SUCCESS") throw new IOException("no answer")
    assertThrows(classOf[IOException], () => job.commit())
    job.abort()
    assertEquals(Map(), read(job))
    store.land()
    assertEquals(Set(one.id), read(job).values.toSet)
  }

  @Test def leftoversThatStayFailNoJob(): Unit = {
    val (job, store) = newJob("leftovers")
    job.setup()
    val one = job.attempt(0, 0)
    one.write("a", one.id)
    assertTrue(one.commit())
    store.before = what => if (what.startsWith("DELETE")) throw new IOException("denied")
    job.commit()
    store.before = _ => ()
    job.abort() // As Spark does where its statistics of a committed job fail.
    assertEquals(Set(one.id), read(job).values.toSet)
  }

  // A committed job reads as one attempt of each task, another as nothing, whatever crashes and ends late.
  @Test def jobsAreWholeOrNothing(): Unit = {
    val ends = mutable.Map.empty[String, Int].withDefaultValue(0)
    val stderr = System.err
    System.setErr(new PrintStream(OutputStream.nullOutputStream())) // A line for each leftover that stays.
    try (1 to 2000).foreach(seed => ends(new World(seed).run()) += 1) finally System.setErr(stderr)
    assertTrue(ends.size == 4 && ends.values.forall(_ > 50), s"$ends")
  }
}

private object DirectOutputTest {
  def newJob(bucket: String): (Writing, MemoryStore) = {
    MemoryStore.all.remove(bucket)
    (new Writing(bucket, "u-1", bucket.hashCode & Int.MaxValue), MemoryStore.of(bucket))
  }

  /** The files that a reader sees below a job's output, with what is in them. */
  def read(job: Writing): Map[String, String] = read(job.bucket, job.out.getFileSystem(MemoryStore.configuration()).listFiles(job.out, true))

  def read(bucket: String, files: => org.apache.hadoop.fs.RemoteIterator[org.apache.hadoop.fs.LocatedFileStatus]): Map[String, String] = try {
    RemoteIterators.toList(files).asScala.map(_.getPath.toUri.getPath).filterNot(_.contains("/_"))
      .map(key => key.stripPrefix("/d/") -> MemoryStore.of(bucket).objects(key)).toMap
  } catch {
    case _: FileNotFoundException => Map.empty
  }

  /** A job that writes below mem://BUCKET/d by Hadoop's own committer, as Spark drives it. */
  final class Writing(val bucket: String, val uuid: String, number: Int) {
    val out = new Path(s"mem://$bucket/d")
    val conf: Configuration = MemoryStore.configuration()
    conf.set(DirectOutput.JobKey, uuid)
    private val jobId = new JobID(s"2026112912$number", 1)
    private val context = new JobContextImpl(conf, jobId)
    private val committer = new FileOutputCommitter(out, new TaskAttemptContextImpl(conf, new TaskAttemptID(new TaskID(jobId, TaskType.MAP, 0), 0)))

    def setup(): Unit = committer.setupJob(context)
    def commit(): Unit = committer.commitJob(context)
    def abort(): Unit = committer.abortJob(context, JobStatus.State.FAILED)
    def attempt(task: Int, number: Int) = new Trying(task, number)

    /** Runs it with such files of each task, whose text is their attempt. */
    def whole(tasks: (Int, Seq[String])*): Set[String] = {
      setup()
      val all = tasks.map { case (task, files) =>
        val one = attempt(task, 0)
        files.foreach(one.write(_, one.id))
        assertTrue(one.commit())
        one.id
      }
      commit()
      all.toSet
    }

    /** An attempt in another process, which has its configuration from the driver's. */
    final class Trying(val task: Int, val number: Int) {
      private val own = new Configuration(conf)
      private val attempt = new TaskAttemptID(new TaskID(jobId, TaskType.MAP, task), number)
      private val context = new TaskAttemptContextImpl(own, attempt)
      private val committer = new FileOutputCommitter(out, context)
      val id: String = attempt.toString
      val dir: Path = committer.getWorkPath
      def fs = dir.getFileSystem(own)
      def write(name: String, text: String): Unit = {
        val stream = fs.create(new Path(dir, name), false)
        stream.write(text.getBytes("UTF-8"))
        stream.close()
      }
      /** Whether there was something to commit. */
      def commit(): Boolean = committer.needsTaskCommit(context) && { committer.commitTask(context); true }
      def abort(): Unit = committer.abortTask(context)
    }
  }

  private final class Crash extends scala.util.control.ControlThrowable

  /**
   * A job with attempts side by side, some of which crash or fail at any call, or are taken for lost and go on; its
   * driver may do the same. PUTs whose caller has gone may end at any time.
   */
  final class World(seed: Int) {
    private val draw = new Random(seed)
    private val bucket = s"world-$seed"
    private val store = MemoryStore.of(bucket)
    private val job = new Writing(bucket, s"u-$seed", seed)
    private val files = Seq.fill(1 + draw.nextInt(3))(Seq.tabulate(draw.nextInt(3))(k => s"k=$k/part-$k.txt"))
    private val running = mutable.Buffer.empty[Process]
    private val done = mutable.Set.empty[Int] // Tasks whose attempt's success has reached the driver.
    private val allowed = mutable.Map.empty[Int, Process] // By task: who may commit.
    private var numbers = Map.empty[Int, Int].withDefaultValue(0)

    private final class Process(val task: Int) {
      val number: Int = numbers(task)
      numbers += task -> (number + 1)
      private val trying = job.attempt(task, number)
      private val steps = files(task).map(f => () => trying.write(f, s"${trying.id} $f")).iterator
      var lost = false // The driver has given it up, and it does not know.
      private def fate(): Unit = draw.nextInt(16) match {
        case 0 => throw new Crash
        case 1 => throw new IOException("no answer")
        case 2 => lost = true
        case _ => ()
      }

      /** One step, after which it may have ended. */
      def step(): Unit = {
        val was = store.before
        store.before = _ => fate()
        try {
          if (steps.hasNext) steps.next()()
          else if (done(task) || allowed.get(task).exists(_ != this)) end(trying.abort()) // Commit is denied.
          else {
            allowed(task) = this
            trying.commit()
            if (!lost) done += task
            end(())
          }
        } catch {
          case _: IOException =>
            store.before = _ => if (draw.nextInt(8) == 0) throw new Crash
            end(try trying.abort() catch { case _: Crash => () })
          case _: Crash => end(())
        } finally {
          store.before = was
          if (lost) allowed.filterInPlace((_, p) => p != this)
        }
      }

      private def end(last: => Unit): Unit = {
        running -= this
        try last catch { case _: IOException => () }
        if (!done(task)) allowed.filterInPlace((_, p) => p != this)
      }
    }

    private def some(): Unit = {
      if (draw.nextInt(4) == 0 && store.late.nonEmpty) store.objects += store.late.remove(draw.nextInt(store.late.size))
      if (draw.nextInt(4) == 0 && store.late.nonEmpty) store.late.remove(draw.nextInt(store.late.size))
      if (running.nonEmpty) running(draw.nextInt(running.size)).step()
    }

    /** Runs it, and returns how it ended. */
    def run(): String = {
      job.setup()
      while (done.size < files.size) {
        val open = files.indices.filterNot(done)
        open.filter(t => !running.exists(p => p.task == t && !p.lost) || draw.nextInt(8) == 0 && numbers(t) < 6).foreach(t => running += new Process(t))
        some()
      }
      var asked = false
      store.before = what => {
        val was = store.before
        store.before = _ => ()
        some()
        store.before = was
        asked ||= what == "PUT /d/_SUCCESS"
        draw.nextInt(10) match {
          case 0 => throw new Crash
          case 1 => throw new IOException("no answer")
          case _ => ()
        }
      }
      val committed = try { job.commit(); true } catch {
        case _: Crash => false
        case _: IOException =>
          store.before = _ => if (draw.nextInt(4) == 0) throw new Crash
          try job.abort() catch { case _: Crash => () }
          false
      }
      store.before = _ => ()
      val raw = read(bucket, new Path(s"mem://$bucket/d").getFileSystem(ObjectOutput.beneath("mem", MemoryStore.configuration())).listFiles(job.out, true))
      val quiet = running.isEmpty && store.late.isEmpty
      while (running.nonEmpty) some()
      if (draw.nextBoolean()) store.land()
      val seen = DirectOutputTest.read(job)
      val named = store.objects.get("/d/_SUCCESS").flatMap(DirectOutput.attempts).isDefined
      if (committed || asked && named) whole(seen) else assertEquals(Map(), seen, s"seed $seed")
      if (committed && quiet && store.calls.last.startsWith("DELETE")) assertEquals(seen, raw, s"seed $seed: without the filter")
      if (committed) "committed" else if (named) "committed, and not told" else if (asked) "manifest lost" else "not committed"
    }

    /** That each task reads as all files of one attempt, as that has written them. */
    private def whole(seen: Map[String, String]): Unit = {
      val by = seen.groupBy(_._2.takeWhile(_ != ' '))
      assertEquals(files.count(_.nonEmpty), by.size, s"seed $seed: $seen")
      by.foreach { case (attempt, its) =>
        val task = attempt.split('_')(4).toInt
        assertEquals(files(task).map(f => s"$attempt $f").toSet, its.values.toSet, s"seed $seed: $seen")
        its.keys.foreach(name => assertTrue(name.contains(attempt), name))
      }
    }
  }
}
