package org.apache.spark.pacer

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileSystem

import org.apache.spark.{SparkConf, SparkContext}
import org.apache.spark.util.Utils

/**
 * How jobs write into object stores (`spark.pacer.output`), which is chosen by settings of Hadoop's and Spark's. The
 * user's own go before those of the magic committer.
 */
private[spark] object ObjectOutput {
  val Auto = "auto"
  val Magic = "magic"
  val Direct = "direct"
  val AsIs = "as-is"
  val Ways: Seq[String] = Seq(Auto, Magic, Direct, AsIs)

  private val Cloud = "org.apache.spark.internal.io.cloud"
  private val S3ACommitters = "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory"
  private val Committers = "spark.hadoop.mapreduce.outputcommitter.factory.scheme."
  private val Algorithm = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version"
  private val Stores = Seq("s3a", "s3", "gs", "abfs", "abfss", "wasb", "wasbs", "oss", "cosn", "obs")

  private val magic = Seq(
    "spark.hadoop.fs.s3a.committer.name" -> "magic",
    "spark.hadoop.fs.s3a.committer.magic.enabled" -> "true",
    s"${Committers}s3a" -> S3ACommitters,
    "spark.sql.sources.commitProtocolClass" -> s"$Cloud.PathOutputCommitProtocol",
    "spark.sql.parquet.output.committer.class" -> s"$Cloud.BindingParquetOutputCommitter")

  /** Sets what a way needs, to be called before the context has a session. Returns the lines to say. */
  def complete(sc: SparkContext, settings: PacerConf): Seq[String] = {
    val way = if (settings.mode == PacerConf.Off && settings.output == Auto) AsIs else settings.output
    val (set, lines) = chosen(sc.conf, sc.hadoopConfiguration, way)
    set.foreach { case (key, value) =>
      sc.conf.set(key, value)
      if (key.startsWith("spark.hadoop.")) sc.hadoopConfiguration.set(key.stripPrefix("spark.hadoop."), value)
    }
    lines
  }

  /** The settings of a way that are to be set, and lines. */
  private[pacer] def chosen(conf: SparkConf, hadoop: Configuration, way: String, stores: Seq[String] = Stores,
      there: String => Boolean = isThere): (Seq[(String, String)], Seq[String]) = {
    def own(key: String): Boolean = conf.contains(key) ||
      Option(hadoop.getPropertySources(key.stripPrefix("spark.hadoop."))).exists(_.exists(!_.endsWith("-default.xml")))
    lazy val cloud = magic.drop(2).map(_._2).forall(there)
    way match {
      case Auto if magic.exists(m => own(m._1)) || !there(S3ACommitters) => (Nil, Nil)
      case Auto if !cloud => (Nil, Seq("spark-hadoop-cloud is not on the class path: output to s3a is copied when a job ends (docs/object-stores.md)"))
      case Auto if conf.get("spark.sql.sources.partitionOverwriteMode", "").equalsIgnoreCase("dynamic") =>
        (Nil, Seq("partitions are overwritten dynamically, which the magic committer does not do: output to s3a is copied when a job ends"))
      case Magic if !cloud => throw PacerConf.refuse(s"${PacerConf.Output} is $Magic, and spark-hadoop-cloud is not on the class path")
      case Auto | Magic => (magic.filterNot(m => own(m._1)), Nil)
      case Direct =>
        val found = for (scheme <- stores; store <- fileSystem(scheme, hadoop)) yield directly(scheme, store, hadoop)
        if (found.isEmpty) (Nil, Seq(s"${PacerConf.Output} is $Direct, and no object store's file system is on the class path"))
        else (found.flatten ++ directlyAnywhere,
          Option.when(conf.get(Algorithm, "1") != "1")(s"${Algorithm.stripPrefix("spark.hadoop.")} is set to 1: ${PacerConf.Output} is $Direct").toSeq)
      case _ => (Nil, Nil)
    }
  }

  // Hadoop keeps file systems by scheme and user alone: those that it has kept before would go around the direct one.
  private def directly(scheme: String, store: String, hadoop: Configuration) = Seq(
    s"spark.hadoop.fs.$scheme.impl" -> classOf[DirectFileSystem].getName,
    s"spark.hadoop.fs.$scheme.impl.beneath" -> store,
    s"spark.hadoop.fs.$scheme.impl.beneath.disable.cache" -> hadoop.get(s"fs.$scheme.impl.disable.cache", "false"),
    s"spark.hadoop.fs.$scheme.impl.disable.cache" -> "true",
    Committers + scheme -> "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory")

  // A job commits when Hadoop's committer deletes its temporary directory: it is not to leave that out.
  private val directlyAnywhere = Seq(Algorithm -> "1") ++
    Seq("fileoutputcommitter.cleanup.skipped", "fileoutputcommitter.cleanup-failures.ignored").map("spark.hadoop.mapreduce." + _ -> "false") :+
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs" -> "true"

  // S3A names an object that it writes by its key alone.
  private val Denied = """AccessDeniedException: (?:(\w[\w.+-]*)://)?(\S+?):\s""".r.unanchored

  /** What is said of a failure for which a store denies an object, None of another one. */
  def denied(failure: String): Option[String] = failure match {
    case Denied(scheme, path) if scheme != null || failure.contains("S3Exception") =>
      Some(s"${Option(scheme).fold(path)(_ + "://" + path)}: the store denies it to this application's credentials " +
        s"(spark.hadoop.fs.${Option(scheme).getOrElse("s3a")}.*), or the bucket's policy does")
    case _ => None
  }

  /** The configuration by which a direct file system finds the store's own. */
  def beneath(scheme: String, conf: Configuration): Configuration = {
    val own = new Configuration(conf)
    Seq("impl", "impl.disable.cache").foreach(key => own.set(s"fs.$scheme.$key", conf.get(s"fs.$scheme.${key.replace("impl", "impl.beneath")}")))
    own
  }

  private def fileSystem(scheme: String, hadoop: Configuration): Option[String] =
    orNone(FileSystem.getFileSystemClass(scheme, hadoop).getName).filter(_ != classOf[DirectFileSystem].getName)

  private def isThere(name: String): Boolean = orNone(Utils.classForName[Any](name).getDeclaredMethods).nonEmpty

  private def orNone[T](found: => T): Option[T] = try Some(found) catch { case NonFatal(_) | _: LinkageError => None }
}
