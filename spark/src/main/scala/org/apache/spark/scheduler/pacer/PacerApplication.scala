package org.apache.spark.scheduler.pacer

import java.io.File

import scala.util.control.NonFatal

import org.apache.spark.{SPARK_VERSION, SparkContext}
import org.apache.spark.pacer._
import org.apache.spark.pacer.Stderr.say
import org.apache.spark.pacer.Wire._
import org.apache.spark.util.Utils

/**
 * An application whose executors Pacer starts: its registration says how, and its start fails with
 * one line when no planner answers or it refuses.
 */
private[scheduler] final class PacerApplication(scheduler: StageBoundTaskScheduler) extends PlannedApplication(scheduler) {
  private val conf = sc.conf
  // What the user asks for, read before giveOffHeap: a further registration asks for the same.
  private val offHeapFixed = PacerConf.offHeapFixed(conf)
  private val offHeapPage = if (offHeapFixed) 0L else PacerConf.offHeapPage(conf)
  private var explained = false // Guarded by the scheduler's lock.

  override def start(): Unit = {
    ExecutorUser.hear(sc.env.rpcEnv)
    super.start()
  }

  override protected def accepted(reply: Registered): Unit = {
    PacerConf.giveOffHeap(conf, reply.offHeapBytes)
    SparkSecurity.warning(sc.env.securityManager).foreach(line => logWarning("pacer: " + line))
  }

  override protected def unaccepted(why: Throwable): Unit =
    throw PlannedApplication.untaken(settings, why).fold(why)(PacerConf.refuse)

  /** Says once why a task may not use a file. */
  override def taskFailed(reason: String): Unit = if (!explained) {
    PacerApplication.denied(reason).foreach { line =>
      explained = true
      say(line)
    }
  }

  override protected def launch: Launch = {
    val heap = sc.executorMemory.toLong << 20
    Launch(
      driverUrl = driverUrl,
      sparkHome = PacerApplication.sparkHome(sc), javaHome = sys.props.getOrElse("java.home", ""), sparkVersion = SPARK_VERSION,
      cores = conf.getInt("spark.executor.cores", 0),
      heapBytes = heap, overheadBytes = PacerConf.overhead(conf, heap),
      offHeapBytes = PacerConf.offHeap(conf), offHeapFixed = offHeapFixed,
      offHeapFloor = settings.memoryFloor, offHeapWeight = settings.memoryWeight,
      offHeapPage = offHeapPage,
      javaOptions = SparkSecurity.options(conf) ++ options("spark.executor.defaultJavaOptions") ++ options("spark.executor.extraJavaOptions"),
      classPath = paths("spark.executor.defaultExtraClassPath") ++ paths("spark.executor.extraClassPath"),
      env = environment, image = conf.get(PacerConf.Image, ""),
      heapAuto = settings.heapAuto, taskCpus = conf.getDouble("spark.task.cpus", 1)) // Spark 4.3 has it as a decimal number.
  }

  /** What is of the driver's environment below what the user set, Spark's secrets above it. */
  private def environment: Map[String, String] =
    ExecutorSettings.libraries(conf, ExecutorSettings.inherited(sys.env) ++ interpreter ++ sc.executorEnvs) ++
      SparkSecurity.environment(sc.env.securityManager)

  /** The interpreter of Python workers that the configuration names: it wins over the driver's environment. */
  private def interpreter: Option[(String, String)] = conf.getOption("spark.pyspark.python").map("PYSPARK_PYTHON" -> _)

  private def options(key: String): Seq[String] =
    conf.getOption(key).map(Utils.splitCommandString).getOrElse(Nil)

  private def paths(key: String): Seq[String] =
    conf.getOption(key).toSeq.flatMap(_.split(File.pathSeparator)).filter(_.nonEmpty)
}

private[scheduler] object PacerApplication {
  /**
   * What Spark does not know of a task that may not use a file, as the JVM, Hadoop or Python says it: its executors may
   * have another user than the driver, and root's always have.
   */
  private[pacer] def denied(failure: String): Option[String] = ObjectOutput.denied(failure).orElse(Option.when(
    Seq("Permission denied", "AccessDeniedException", "Mkdirs failed to create").exists(failure.contains) ||
      failure.contains("Cannot run program") && failure.contains("No such file"))( // It may be where executors cannot look.
    "a task may not use a file: executors do not run as root, nor as a user that their node does not know. " +
      "What they use has to be open to them; node.executor-user names another user"))

  /** Spark's home: as configured, else where its jars are. */
  def sparkHome(sc: SparkContext): String = sc.getSparkHome().getOrElse {
    try {
      val jar = new File(classOf[SparkContext].getProtectionDomain.getCodeSource.getLocation.toURI)
      Option(jar.getParentFile).filter(_.getName == "jars").map(_.getParent).getOrElse("")
    } catch {
      case NonFatal(_) => ""
    }
  }
}
