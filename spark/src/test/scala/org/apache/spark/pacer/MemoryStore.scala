package org.apache.spark.pacer

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, FileNotFoundException, IOException}
import java.net.URI
import java.util.{Collection => JavaCollection, EnumSet, List => JavaList, Map => JavaMap}
import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable
import org.apache.hadoop.util.functional.RemoteIterators

/** An object store in memory: objects by their path, and the calls that it has had. */
private[pacer] final class MemoryStore {
  val objects: mutable.SortedMap[String, String] = mutable.SortedMap.empty
  val calls: mutable.Buffer[String] = mutable.Buffer.empty

  /** Asked before each call takes effect: it may fail the call, or do other things meanwhile. */
  var before: String => Unit = _ => ()

  /** PUTs whose caller has failed and that end later, or never. */
  val late: mutable.Buffer[(String, String)] = mutable.Buffer.empty

  def call(what: String): Unit = {
    calls += what
    before(what)
  }

  def put(key: String, body: String): Unit = {
    try call(s"PUT $key") catch {
      case e: Throwable =>
        late += key -> body
        throw e
    }
    objects(key) = body
  }

  def land(): Unit = {
    objects ++= late
    late.clear()
  }

  def below(key: String): Seq[String] = objects.keys.filter(_.startsWith(key + "/")).toSeq
}

private[pacer] object MemoryStore {
  val all = new ConcurrentHashMap[String, MemoryStore]()
  def of(bucket: String): MemoryStore = all.computeIfAbsent(bucket, _ => new MemoryStore)

  /** A configuration under which `mem:` is written directly. */
  def configuration(): Configuration = {
    val conf = new Configuration(false)
    conf.set("fs.mem.impl", classOf[MemoryFileSystem].getName)
    val (settings, lines) = ObjectOutput.chosen(new org.apache.spark.SparkConf(false), conf, ObjectOutput.Direct, Seq("mem"))
    assert(lines.isEmpty, lines)
    settings.foreach { case (key, value) => conf.set(key.stripPrefix("spark.hadoop."), value) }
    conf
  }
}

/** The file system of `mem://BUCKET/`, with the calls that an object store's has. */
private[pacer] final class MemoryFileSystem extends FileSystem {
  private var uri: URI = _
  private def store = MemoryStore.of(uri.getAuthority)
  private def key(f: Path): String = makeQualified(f).toUri.getPath
  private def path(key: String) = new Path(uri.toString + key)
  private def file(key: String, body: String) = new LocatedFileStatus(new FileStatus(body.length, false, 1, 1, 0, path(key)), null)

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    uri = URI.create(s"${name.getScheme}://${name.getAuthority}")
  }
  override def getScheme: String = "mem"
  override def getUri: URI = uri
  override def getWorkingDirectory: Path = path("/")
  override def setWorkingDirectory(f: Path): Unit = ()
  override def append(f: Path, buffer: Int, progress: Progressable): FSDataOutputStream = throw new UnsupportedOperationException

  override def create(f: Path, permission: FsPermission, overwrite: Boolean, buffer: Int, replication: Short, block: Long,
      progress: Progressable): FSDataOutputStream = {
    val body = new ByteArrayOutputStream {
      override def close(): Unit = store.put(key(f), toString("UTF-8"))
    }
    new FSDataOutputStream(body, null)
  }

  override def createNonRecursive(f: Path, permission: FsPermission, flags: EnumSet[CreateFlag], buffer: Int, replication: Short,
      block: Long, progress: Progressable): FSDataOutputStream = create(f, permission, true, buffer, replication, block, progress)

  override def open(f: Path, buffer: Int): FSDataInputStream = {
    store.call(s"GET ${key(f)}")
    val body = store.objects.getOrElse(key(f), throw new FileNotFoundException(f.toString)).getBytes("UTF-8")
    new FSDataInputStream(new ByteArrayInputStream(body) with Seekable with PositionedReadable {
      override def seek(at: Long): Unit = pos = at.toInt
      override def getPos: Long = pos
      override def seekToNewSource(at: Long): Boolean = false
      override def read(at: Long, to: Array[Byte], offset: Int, length: Int): Int = throw new UnsupportedOperationException
      override def readFully(at: Long, to: Array[Byte], offset: Int, length: Int): Unit = throw new UnsupportedOperationException
      override def readFully(at: Long, to: Array[Byte]): Unit = throw new UnsupportedOperationException
    })
  }

  override def getFileStatus(f: Path): FileStatus = {
    store.call(s"HEAD ${key(f)}")
    store.objects.get(key(f)).map(file(key(f), _)).getOrElse {
      store.call(s"LIST ${key(f)}")
      if (store.below(key(f)).isEmpty) throw new FileNotFoundException(f.toString)
      new FileStatus(0, true, 1, 1, 0, path(key(f)))
    }
  }

  override def listStatus(f: Path): Array[FileStatus] = {
    store.call(s"LIST ${key(f)}")
    val below = store.below(key(f)).map(_.drop(key(f).length + 1))
    if (below.isEmpty) throw new FileNotFoundException(f.toString)
    below.map(_.takeWhile(_ != '/')).distinct.filter(_.nonEmpty).map { name =>
      val one = s"${key(f)}/$name"
      store.objects.get(one).fold(new FileStatus(0, true, 1, 1, 0, path(one)))(file(one, _))
    }.toArray
  }

  override def listFiles(f: Path, recursive: Boolean): RemoteIterator[LocatedFileStatus] = {
    store.call(s"LIST ${key(f)}")
    val below = store.below(key(f))
    if (below.isEmpty) throw new FileNotFoundException(f.toString)
    RemoteIterators.remoteIteratorFromIterable(below.map(k => file(k, store.objects(k))).asJava)
  }

  override def mkdirs(f: Path, permission: FsPermission): Boolean = {
    store.put(key(f) + "/", "")
    true
  }

  override def rename(from: Path, to: Path): Boolean = {
    for (k <- store.objects.keys.filter(k => k == key(from) || k.startsWith(key(from) + "/")).toSeq) {
      store.call(s"COPY $k")
      store.objects(key(to) + k.drop(key(from).length)) = store.objects(k)
      store.call(s"DELETE $k")
      store.objects -= k
    }
    true
  }

  override def delete(f: Path, recursive: Boolean): Boolean = {
    store.call(s"DELETE ${key(f)}")
    store.objects --= key(f) +: store.below(key(f))
    true
  }

  override def createBulkDelete(base: Path): BulkDelete = new BulkDelete {
    override def pageSize: Int = 3
    override def basePath: Path = base
    override def close(): Unit = ()
    override def bulkDelete(paths: JavaCollection[Path]): JavaList[JavaMap.Entry[Path, String]] = {
      if (paths.size > pageSize) throw new IOException(s"a page of ${paths.size}")
      store.call(s"DELETE ${paths.asScala.map(key).mkString(" ")}")
      store.objects --= paths.asScala.map(key)
      java.util.Collections.emptyList()
    }
  }
}
