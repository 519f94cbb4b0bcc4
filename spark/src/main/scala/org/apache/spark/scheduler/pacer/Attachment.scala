package org.apache.spark.scheduler.pacer

import java.io.IOException
import java.net.URL
import java.util.{Collections, Enumeration, Map => JavaMap}
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SPARK_VERSION, SparkContext, SparkException}
import org.apache.spark.api.plugin.{DriverPlugin, PluginContext}
import org.apache.spark.pacer._
import org.apache.spark.pacer.Stderr.say
import org.apache.spark.scheduler.ExternalClusterManager

/**
 * A driver whose executors YARN or Kubernetes starts and whose stages Pacer binds. Spark initialises
 * plugins on the thread that looks for a cluster manager a moment later, and refuses two that claim one URL:
 * the plugin has that thread's class loader show [[AttachedClusterManager]] alone, which puts the loader back.
 *
 * Whatever is missing for that, a planner that answers first of all, is one line on stderr, and Spark schedules
 * as it does without Pacer. Faults of the configuration end the start.
 *
 * @param manager  the cluster manager, as in api/driver.go
 * @param least    how many executors the user allows at least
 * @param most     and at most, 0 for any number
 */
private[pacer] final class Attachment private (
    sc: SparkContext,
    val settings: PacerConf,
    val clock: DeadlineClock,
    val manager: String,
    val least: Int,
    val most: Int) {

  /** Called when the connection to the planner is lost, and when it was taken up again. */
  @volatile var changed: () => Unit = () => ()

  /** Called when an executor has said on which machine it runs. */
  @volatile var placed: String => Unit = _ => ()
  val machines = new ConcurrentHashMap[String, String]() // By executor.
  val secret: String = AttachedProof.secret()
  private var connection: Option[NatsTransport] = None
  private var before = Map.empty[String, Option[String]] // What was set of that which is set anew.
  private var asked = false

  /** The connection, whose end is the caller's from now on: it outlives the context. */
  def take(): NatsTransport = {
    val taken = connection.get
    connection = None
    taken
  }

  /** Connects, sets what an attached application needs, and shows the manager; throws what says that nobody answers. */
  private def show(): Unit = {
    connection = Some(PlannedApplication.connect(settings, Patience.fromNow(settings.watched), () => changed()))
    val was = sc.conf.getAll.toMap
    PacerConf.attach(sc.conf, settings).foreach(say)
    val now = sc.conf.getAll.toMap
    before = (was.keySet ++ now.keySet).filter(k => was.get(k) != now.get(k)).map(k => k -> was.get(k)).toMap
    Attachment.shown = Some(this)
    val thread = Thread.currentThread()
    thread.setContextClassLoader(new Attachment.OneManager(thread.getContextClassLoader))
  }

  /** Whether it is that context's manager; the loader is as before from then on. */
  def claims(url: String): Boolean = {
    asked = true
    Attachment.putBack()
    url == sc.master
  }

  /** By what an executor on a machine shows its node whose it is, when the cluster manager has named the application. */
  def proof(executor: String, machine: String): Option[String] =
    Option(sc.applicationId).map(AttachedProof.ofExecutor(secret, _, executor, machine))

  /** To be called when the context has started. */
  def started(): Unit = if (!asked) leave(s"Spark $SPARK_VERSION does not ask for Pacer's cluster manager")

  /** Has Spark schedule as it does without Pacer, and says why. */
  def leave(why: String): Unit = {
    say(s"$why: ${Attachment.Stock}")
    before.foreach {
      case (key, Some(value)) => sc.conf.set(key, value)
      case (key, None) => sc.conf.remove(key)
    }
    close()
  }

  /** To be called when the context has ended, whether it has started or not. */
  def close(): Unit = {
    Attachment.putBack()
    connection.foreach(_.close())
  }
}

private[pacer] object Attachment {
  /** The one whose manager is looked for, or was looked for last. */
  @volatile var shown = Option.empty[Attachment]

  private def putBack(): Unit = {
    val thread = Thread.currentThread()
    thread.getContextClassLoader match {
      case one: OneManager => thread.setContextClassLoader(one.getParent)
      case _ => ()
    }
  }

  /** Attaches a driver whose configuration names a planner, if its executors are YARN's or Kubernetes'. */
  def of(sc: SparkContext): Option[Attachment] = sc.master match {
    case url if url.startsWith(PacerConf.Scheme) || sc.conf.get(PacerConf.Planner, "").trim.isEmpty => None
    case "yarn" => attach(sc, "yarn")
    case url if url.startsWith("k8s://") => attach(sc, "k8s")
    case url =>
      say(s"Pacer attaches to YARN and Kubernetes, not to $url: $Stock")
      None
  }

  private val Stock = "Spark schedules as it does without Pacer"

  private def attach(sc: SparkContext, manager: String): Option[Attachment] = {
    val context = DriverContexts.here.next(PacerConf.submitted(sc.conf))
    val settings = EndlessSession.setAside(PacerConf.parse(sc.master, sc.conf, context))
    settings.pastDue.foreach(say)
    ObjectOutput.complete(sc, settings).foreach(say)
    val (least, most) = PacerConf.executors(sc.conf)
    val attachment = new Attachment(sc, settings, context.clock, manager, least, most)
    if (settings.mode == PacerConf.Off) None
    else try {
      PacerConf.checkSpark(SPARK_VERSION)
      val gone = Overrides.goneOfAttached
      if (gone.nonEmpty) {
        attachment.leave(s"Spark $SPARK_VERSION has changed ${gone.mkString(", ")}, which Pacer overrides")
        None
      } else {
        attachment.show()
        Some(attachment)
      }
    } catch {
      case e @ (_: SparkException | _: IOException | _: LinkageError) =>
        attachment.leave(PlannedApplication.untaken(settings, e).getOrElse(e.getMessage.stripPrefix("pacer: ")))
        None
    }
  }

  /** The file in which a ServiceLoader finds cluster managers, and the one that has Pacer's alone. */
  private val Services = "META-INF/services/" + classOf[ExternalClusterManager].getName
  private val Ours = "org/apache/spark/scheduler/pacer/attached-manager"

  /** Shows one cluster manager, and all else that its parent does. */
  private final class OneManager(parent: ClassLoader) extends ClassLoader(parent) {
    override def getResources(name: String): Enumeration[URL] =
      if (name != Services) super.getResources(name)
      else Collections.enumeration(Collections.singleton(getResource(Ours)))
  }
}

/** The plugin's driver side, which is Spark's own business unless the application is attached. */
private[spark] final class AttachedDriver extends DriverPlugin {
  private var attachment = Option.empty[Attachment]

  override def init(sc: SparkContext, context: PluginContext): JavaMap[String, String] = {
    attachment = Attachment.of(sc)
    Collections.emptyMap()
  }

  override def registerMetrics(appId: String, context: PluginContext): Unit = attachment.foreach(_.started())

  /** An executor's plugin says on which machine it runs, and is told by what it shows whose it is: null for not yet. */
  override def receive(message: Any): AnyRef = (message, attachment) match {
    case ((executor: String, machine: String), Some(a)) =>
      a.machines.put(executor, machine)
      a.placed(executor)
      a.proof(executor, machine).orNull
    case _ => None.orNull
  }

  /** Of a context that did not start, too. */
  override def shutdown(): Unit = attachment.foreach(_.close())
}
