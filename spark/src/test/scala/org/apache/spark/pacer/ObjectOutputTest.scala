package org.apache.spark.pacer

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.{SparkConf, SparkException}

class ObjectOutputTest {
  private val factory = "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a"
  private def chosen(way: String, there: String => Boolean, settings: (String, String)*) =
    ObjectOutput.chosen(new SparkConf(false).setAll(settings), new Configuration(), way, there = there)
  private def hadoopOnly(name: String) = name.startsWith("org.apache.hadoop")

  @Test def autoChangesNothingWithoutBothOfItsJars(): Unit = {
    assertEquals((Nil, Nil), chosen("auto", _ => false))
    val (settings, lines) = chosen("auto", hadoopOnly)
    assertEquals(Nil, settings)
    assertEquals(1, lines.size)
    assertTrue(lines.head.contains("spark-hadoop-cloud is not on the class path"), lines.head)
    // This JVM's class path has neither, as most have.
    assertEquals((Nil, Nil), ObjectOutput.chosen(new SparkConf(false), new Configuration(), "auto"))
  }

  @Test def autoTakesTheMagicCommitterWhereNobodyHasChosen(): Unit = {
    val (settings, lines) = chosen("auto", _ => true)
    assertEquals(5, settings.size)
    assertEquals("magic", settings.toMap.apply("spark.hadoop.fs.s3a.committer.name"))
    assertEquals(Nil, lines)
    settings.foreach { case (key, _) => assertEquals((Nil, Nil), chosen("auto", _ => true, key -> "own"), key) }
    val site = new Configuration()
    site.set("fs.s3a.committer.name", "directory")
    assertEquals((Nil, Nil), ObjectOutput.chosen(new SparkConf(false), site, "auto", there = _ => true))
    val (none, why) = chosen("auto", _ => true, "spark.sql.sources.partitionOverwriteMode" -> "DYNAMIC")
    assertEquals(Nil, none)
    assertTrue(why.head.contains("dynamically"))
  }

  @Test def magicLeavesUsersOwnAndIsRefusedWithoutItsJar(): Unit = {
    assertEquals(4, chosen("magic", _ => true, factory -> "own")._1.size)
    val said = assertThrows(classOf[SparkException], () => chosen("magic", hadoopOnly)).getMessage
    assertEquals("pacer: spark.pacer.output is magic, and spark-hadoop-cloud is not on the class path", said)
  }

  @Test def directStandsOverTheStoresOwn(): Unit = {
    assertEquals((Nil, Seq("spark.pacer.output is direct, and no object store's file system is on the class path")), chosen("direct", _ => true))
    MemoryStore.all.remove("stands")
    val conf = MemoryStore.configuration()
    val fs = new Path("mem://stands/d").getFileSystem(conf)
    assertEquals(classOf[DirectFileSystem], fs.getClass)
    // A file system that Hadoop has kept, of a program that has asked without the settings, goes around nothing.
    val own = ObjectOutput.beneath("mem", conf)
    val kept = FileSystem.get(fs.getUri, own)
    assertEquals(classOf[MemoryFileSystem], kept.getClass)
    assertSame(kept, fs.getChildFileSystems.head)
    assertEquals(classOf[DirectFileSystem], FileSystem.get(fs.getUri, conf).getClass)
    fs.close()
    assertSame(kept, FileSystem.get(fs.getUri, own), "it is Hadoop's to close")
    // A context that begins with the settings of one before has them once.
    assertEquals(Nil, ObjectOutput.chosen(new SparkConf(false), conf, "direct", Seq("mem"))._1)
    val (_, lines) = ObjectOutput.chosen(new SparkConf(false).set("spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version", "2"),
      own, "direct", Seq("mem"))
    assertEquals(Seq("mapreduce.fileoutputcommitter.algorithm.version is set to 1: spark.pacer.output is direct"), lines)
  }

  @Test def asIsSetsNothing(): Unit = assertEquals((Nil, Nil), chosen("as-is", _ => true))
}
