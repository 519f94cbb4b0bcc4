package org.apache.spark.pacer

import java.time.{Instant, ZoneId}
import java.util.{Properties, UUID}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.SparkContext

/**
 * A group of jobs with a deadline of its own, as the local properties of a job name it.
 *
 * @param setting  which setting of the deadline the job is of: one of a thread is another one each time, one of SQL's
 *                 configuration is the same until it says something else
 * @param name     its name, "" for none
 * @param deadline its deadline, in seconds after its beginning, or what is wrong with it
 * @param byMoment whether that was given as a moment
 */
private[spark] final case class JobGroup(setting: String, name: String, deadline: Either[String, Double], byMoment: Boolean) {
  /** Whether its thread has said that it ends, or that another one begins. */
  def closed: Boolean = JobGroup.closed.contains(setting)

  /** Whether somebody will say that. */
  def closes: Boolean = setting.startsWith(JobGroup.OfThread)
}

/**
 * Spark SQL gives each query's jobs its session's configuration for local properties, so that a setting of
 * SQL is one here (docs/spark.md, S82). That a thread has taken its setting back Spark tells nobody; [[JobGroup.watch]] has
 * the properties of threads do that.
 */
private[spark] object JobGroup {
  val Deadline = "spark.pacer.group.deadline"
  val By = "spark.pacer.group.by"
  val Name = "spark.pacer.group.name"
  private val Keys = Set(Deadline, By, Name)
  private val Prefix = "spark.pacer.group"

  /** The number of a thread's setting, which travels with its jobs. */
  private val Run = "spark.pacer.group.run"
  private val OfThread = "run "
  private val MostClosed = 10000
  private val closed = ConcurrentHashMap.newKeySet[String]()

  /** That of a job with those properties, submitted now, None for none. */
  def of(p: Properties, now: => Instant = Instant.now): Option[JobGroup] = {
    def get(key: String): Option[String] = Option(p).flatMap(all => Option(all.getProperty(key))).map(_.trim).filter(_.nonEmpty)
    val (deadline, by) = (get(Deadline), get(By))
    val strange = Option(p).toSeq.flatMap(_.stringPropertyNames.asScala).filter(k => k.startsWith(Prefix) && k != Run && !Keys(k)).sorted
    Option.when(deadline.nonEmpty || by.nonEmpty || strange.nonEmpty) {
      val name = Seq(Name, "spark.jobGroup.id").flatMap(get).find(n => !n.exists(_.isControl) && Try(UUID.fromString(n)).isFailure).getOrElse("")
      val left = if (strange.nonEmpty) Left(s"${strange.mkString(", ")}: there is no such setting, want one of ${Keys.toSeq.sorted.mkString(", ")}") else (deadline, by) match {
        case (Some(_), Some(_)) => Left(s"$Deadline and $By exclude each other")
        case (Some(text), _) => PacerConf.parseSeconds(text).filter(_ > 0).toRight(s"$Deadline is '$text', want a time such as 90s or 15m")
        case (_, moment) =>
          val text = moment.get
          PacerConf.secondsUntil(text, now.atZone(ZoneId.systemDefault)).toRight(s"$By is '$text', want a time of day such as 06:00, or a date and time")
            .filterOrElse(_ > 0, s"$By is '$text', which is past")
      }
      JobGroup(get(Run).fold(s"${deadline.getOrElse("")} ${by.getOrElse("")} $name${strange.mkString}")(OfThread + _), name, left, by.nonEmpty)
    }
  }

  /**
   * Has the local properties of all threads of sc tell when a user sets a group's deadline, or takes it back; false
   * where this Spark has them elsewhere. To be called before others have sc.
   */
  def watch(sc: SparkContext): Boolean = Try {
    val field = classOf[SparkContext].getDeclaredFields.find(f => classOf[InheritableThreadLocal[_]].isAssignableFrom(f.getType)).get
    field.setAccessible(true)
    val before = field.get(sc).asInstanceOf[InheritableThreadLocal[Properties]].get
    val watched = new InheritableThreadLocal[Properties] {
      override def initialValue(): Properties = new Watched
      override def childValue(parent: Properties): Properties = copyOf(parent)
    }
    watched.set(copyOf(before))
    field.set(sc, watched)
    sc.getLocalProperty(Run) == null && sc.localProperties.get.isInstanceOf[Watched]
  }.getOrElse(false)

  private def copyOf(p: Properties): Properties = {
    val copy = new Watched
    p.forEach((key, value) => copy.put(key, value))
    copy
  }

  /** The local properties of a thread: each setting of a user's has a number, and ends with the next one. */
  private final class Watched extends Properties {
    private var own = false // Not that of the thread that has started this one.

    override def clone(): AnyRef = copyOf(this)

    override def setProperty(key: String, value: String): AnyRef = synchronized {
      val was = super.setProperty(key, value)
      if (Keys(key) && !bySql) begin()
      was
    }

    override def remove(key: AnyRef): AnyRef = synchronized {
      val was = super.remove(key)
      if (was != null && Keys.contains(String.valueOf(key)) && !bySql) begin()
      was
    }

    private def begin(): Unit = {
      Option(super.remove(Run)).filter(_ => own).foreach { run =>
        if (closed.size >= MostClosed) closed.clear()
        closed.add(OfThread + run)
      }
      own = getProperty(Deadline) != null || getProperty(By) != null
      if (own) super.setProperty(Run, UUID.randomUUID().toString)
    }

    private def bySql: Boolean = new Throwable().getStackTrace.exists(_.getClassName.startsWith("org.apache.spark.sql.execution.SQLExecution"))
  }
}
