package org.apache.spark.pacer

import java.io.{FileNotFoundException, IOException, OutputStream}
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.AccessDeniedException
import java.util.EnumSet
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.Options.ChecksumOpt
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable
import org.apache.hadoop.util.functional.RemoteIterators

import org.apache.spark.pacer.DirectOutput._

/**
 * An object store's file system under which Hadoop's FileOutputCommitter, by algorithm 1, follows the direct protocol
 * ([[DirectOutput]]). Hadoop makes one for each configuration that it is asked with, so that its job is known; they
 * share the store's own file system, which Hadoop keeps, and what this JVM's attempts have written.
 */
private[spark] final class DirectFileSystem extends FilterFileSystem {
  import DirectFileSystem._

  private var conf: Configuration = _
  private var job = ""

  override def initialize(name: URI, given: Configuration): Unit = {
    conf = given
    job = given.get(JobKey, "")
    fs = FileSystem.get(name, ObjectOutput.beneath(name.getScheme, given))
    super.initialize(name, given)
  }

  override def getConf: Configuration = conf
  override def getScheme: String = fs.getScheme
  // Hadoop closes the store's where it keeps that.
  override def close(): Unit = if (fs.getConf.getBoolean(s"fs.${getUri.getScheme}.impl.disable.cache", false)) super.close()

  private def at(f: Path): Place = if (job.isEmpty) Outside else place(makeQualified(f).toString)
  private def output(ds: String): Output = Output(ds, job)

  // Tasks write.

  override def create(f: Path, permission: FsPermission, overwrite: Boolean, buffer: Int, replication: Short, block: Long,
      progress: Progressable): FSDataOutputStream =
    direct(f).getOrElse(super.create(f, permission, overwrite, buffer, replication, block, progress))

  override def create(f: Path, permission: FsPermission, flags: EnumSet[CreateFlag], buffer: Int, replication: Short, block: Long,
      progress: Progressable, checksum: ChecksumOpt): FSDataOutputStream =
    direct(f).getOrElse(super.create(f, permission, flags, buffer, replication, block, progress, checksum))

  override def createNonRecursive(f: Path, permission: FsPermission, flags: EnumSet[CreateFlag], buffer: Int, replication: Short,
      block: Long, progress: Progressable): FSDataOutputStream =
    direct(f).getOrElse(super.createNonRecursive(f, permission, flags, buffer, replication, block, progress))

  override def createFile(f: Path): FSDataOutputStreamBuilder[_, _] = at(f) match {
    case OfAttempt(ds, attempt, Some(below)) =>
      val to = new Path(ds, written(attempt, below))
      attemptOf(ds, attempt).files.put(below, new Written(to))
      fs.createFile(to)
    case _ => super.createFile(f)
  }

  private def direct(f: Path): Option[FSDataOutputStream] = at(f) match {
    case OfAttempt(ds, attempt, Some(below)) =>
      val file = new Written(new Path(ds, written(attempt, below)))
      attemptOf(ds, attempt).files.put(below, file)
      Some(new FSDataOutputStream(put(file.path), null) {
        override def close(): Unit = {
          super.close()
          file.length = getPos
        }
      })
    case Outside if f.getName == Success && committed.remove(output(makeQualified(f).getParent.toString)) =>
      Some(new FSDataOutputStream(OutputStream.nullOutputStream(), null)) // It is written, with the attempts.
    case Outside | Classic => None
    case _ => throw unknown(s"writing $f")
  }

  /** Writes an object without looking whether there is one. */
  private def put(to: Path): FSDataOutputStream = {
    val builder = fs.createFile(to)
    builder.create()
    builder.overwrite(true)
    builder.recursive()
    builder.opt("fs.s3a.create.performance", true)
    builder.build().asInstanceOf[FSDataOutputStream]
  }

  private def attemptOf(ds: String, attempt: String): Attempt = attempts.computeIfAbsent(Output(ds, attempt), _ => new Attempt)

  private def known(ds: String, attempt: String): Map[String, Written] =
    Option(attempts.get(Output(ds, attempt))).fold(Map.empty[String, Written])(_.files.asScala.toMap)

  override def getFileStatus(f: Path): FileStatus = at(f) match {
    case OfAttempt(ds, attempt, below) =>
      val files = known(ds, attempt)
      below.flatMap(files.get) match {
        case Some(file) if file.length >= 0 => new FileStatus(file.length, false, 1, getDefaultBlockSize(f), file.began, makeQualified(f))
        case Some(file) => fs.getFileStatus(file.path)
        case None if files.keys.exists(name => below.forall(b => name.startsWith(b + "/"))) =>
          new FileStatus(0, true, 1, 0, 0, makeQualified(f))
        case None => throw new FileNotFoundException(f.toString)
      }
    case OfTask(_) | OfJob(_, _) => throw new FileNotFoundException(f.toString)
    case _ => told(super.getFileStatus(f))
  }

  override def open(f: Path, buffer: Int): FSDataInputStream = at(f) match {
    case OfAttempt(ds, attempt, Some(below)) => super.open(new Path(ds, written(attempt, below)), buffer)
    case _ => super.open(f, buffer)
  }

  override def mkdirs(f: Path): Boolean = mkdirs(f, FsPermission.getDirDefault)
  override def mkdirs(f: Path, permission: FsPermission): Boolean = at(f) match {
    case Outside =>
      if (job.isEmpty && f.toString.contains("/_temporary/")) classic(f, "its writer gives its job no id")
      super.mkdirs(f, permission)
    case Classic =>
      classic(f, "what is written there is moved when the job ends")
      super.mkdirs(f, permission)
    case _ => true
  }

  // Tasks commit or abort.

  override def rename(from: Path, to: Path): Boolean = (at(from), at(to)) match {
    case (OfAttempt(ds, attempt, None), OfTask(_)) =>
      attemptOf(ds, attempt).marking = true // A mark that fails may be there all the same.
      put(new Path(ds, mark(job, attempt))).close()
      attempts.remove(Output(ds, attempt))
      true
    case (Outside | Classic, Outside | Classic) => super.rename(from, to)
    case _ => throw unknown(s"renaming $from to $to")
  }

  override def delete(f: Path, recursive: Boolean): Boolean = at(f) match {
    case OfAttempt(ds, attempt, None) =>
      Option(attempts.remove(Output(ds, attempt))).filterNot(_.marking).foreach(a => deleteAll(ds, a.files.values.asScala.map(_.path).toSeq))
      true
    case OfAttempt(ds, attempt, Some(below)) =>
      val file = Option(attempts.get(Output(ds, attempt))).flatMap(a => Option(a.files.remove(below)))
      file.foreach(file => deleteAll(ds, Seq(file.path)))
      file.nonEmpty
    case OfTask(_) | OfJob(_, false) => true
    case OfJob(ds, true) =>
      if (listed.remove(output(ds))) commitJob(ds) else if (!committing.remove(output(ds))) abortJob(ds)
      true
    case _ => super.delete(f, recursive)
  }

  // The job commits, which Hadoop does by listing and deleting its temporary directory, or aborts, without listing it.

  private def commitJob(ds: String): Unit = {
    val (names, earlier) = found(ds)
    val end = commit(job, names, earlier)
    committing.add(output(ds)) // A manifest that fails may be there all the same: nothing is deleted then.
    Using.resource(put(new Path(ds, Success)))(_.write(end.manifest.getBytes(UTF_8)))
    committing.remove(output(ds))
    committed.add(output(ds))
    try deleteAll(ds, end.leftovers.map(new Path(ds, _))) catch {
      case NonFatal(e) => Stderr.say(s"$ds is written, and leftovers stay, which count for nothing: $e")
    }
  }

  private def abortJob(ds: String): Unit = {
    val (names, earlier) = found(ds)
    deleteAll(ds, abort(job, names, earlier).map(new Path(ds, _)))
  }

  /** The names below a directory, by one listing, and the attempts that its manifest names. */
  private def found(ds: String): (Seq[String], Set[String]) = told(try {
    val root = new Path(ds).toUri
    val names = RemoteIterators.toList(fs.listFiles(new Path(ds), true)).asScala.map(s => root.relativize(s.getPath.toUri).getPath).toSeq
    (names, if (names.contains(Success)) read(new Path(ds, Success)).flatMap(DirectOutput.attempts).getOrElse(Set.empty) else Set.empty)
  } catch {
    case _: FileNotFoundException => (Nil, Set.empty)
  })

  private def read(manifest: Path): Option[String] = try {
    Some(Using.resource(fs.open(manifest))(in => new String(in.readAllBytes(), UTF_8)))
  } catch {
    case _: FileNotFoundException => None
  }

  private def deleteAll(ds: String, paths: Seq[Path]): Unit = if (paths.nonEmpty) {
    Using.resource(fs.createBulkDelete(new Path(ds))) { bulk =>
      paths.grouped(bulk.pageSize).flatMap(page => bulk.bulkDelete(page.asJava).asScala).toSeq.headOption
        .foreach(left => throw new IOException(s"${left.getKey} is not deleted: ${left.getValue}"))
    }
  }

  // Readers.

  override def listStatus(f: Path): Array[FileStatus] = at(f) match {
    case OfJob(ds, false) =>
      listed.add(output(ds))
      Array.empty
    case OfAttempt(_, _, _) | OfTask(_) | OfJob(_, _) => Array.empty
    case _ => super.listStatus(f).filter(counted())
  }

  override def listStatusIterator(f: Path): RemoteIterator[FileStatus] = filtered(super.listStatusIterator(f))
  override def listLocatedStatus(f: Path): RemoteIterator[LocatedFileStatus] = filtered(super.listLocatedStatus(f))
  override def listFiles(f: Path, recursive: Boolean): RemoteIterator[LocatedFileStatus] = filtered(fs.listFiles(f, recursive))

  private def filtered[T <: FileStatus](all: RemoteIterator[T]): RemoteIterator[T] = {
    val counts = counted()
    RemoteIterators.filteringRemoteIterator[T](all, s => counts(s))
  }

  /** Whether a file counts, for one listing: manifests are read for attempts that none is known to name. */
  private def counted(): FileStatus => Boolean = {
    val foreign = mutable.Map.empty[String, Boolean] // By directory: whether there is a _SUCCESS that is another committer's.
    if (named.size > MostNamed) named.clear()
    def look(directory: String): Boolean = manifestsOf(directory).flatMap(m => read(new Path(m))).map(DirectOutput.attempts).map {
      case Some(some) => some.foreach(named.add); false
      case None => true
    }.contains(true)
    s => DirectOutput.attemptOf(s.getPath.getName).forall { attempt =>
      named.contains(attempt) || foreign.getOrElseUpdate(s.getPath.getParent.toString, look(s.getPath.getParent.toString)) || named.contains(attempt)
    }
  }
}

private object DirectFileSystem {
  /** A directory, with a job's id or an attempt. */
  private final case class Output(ds: String, of: String)

  private final class Written(val path: Path) {
    val began: Long = System.currentTimeMillis()
    @volatile var length: Long = -1 // Until it is closed.
  }

  private final class Attempt {
    val files = new ConcurrentHashMap[String, Written]()
    @volatile var marking = false
  }

  /** Of this JVM: attempts that write; jobs that are about to commit, do and have; attempts that a manifest names. */
  private val attempts = new ConcurrentHashMap[Output, Attempt]()
  private val listed, committing, committed = ConcurrentHashMap.newKeySet[Output]()
  private val named = ConcurrentHashMap.newKeySet[String]()
  private val MostNamed = 1 << 20
  private val said = ConcurrentHashMap.newKeySet[String]()

  private def unknown(what: String) = new IOException(s"pacer: $what is unknown to spark.pacer.output=direct: as-is writes the classic way")

  /** A call of which a line is said where the store denies it: in the driver, for those of tasks are told there, too. */
  private def told[T](call: => T): T = try call catch {
    case e: AccessDeniedException =>
      ObjectOutput.denied(e.toString).filter(_ => said.add("denied")).foreach(Stderr.say)
      throw e
  }

  private def classic(f: Path, why: String): Unit =
    if (said.add(why)) Stderr.say(s"${f.toString.replaceFirst("/_temporary.*", "")} is written the classic way: $why")
}
