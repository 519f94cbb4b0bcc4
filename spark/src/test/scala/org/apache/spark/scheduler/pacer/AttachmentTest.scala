package org.apache.spark.scheduler.pacer

import java.io.{BufferedInputStream, InputStream, IOException}
import java.net.{InetAddress, ServerSocket, Socket}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.LinkedBlockingQueue

import scala.concurrent.Future

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.{Test, Timeout}

import org.apache.spark.{SparkConf, SparkContext, SparkException}
import org.apache.spark.internal.plugin.PluginMessage
import org.apache.spark.pacer.{AttachedProof, PacerConf, PacerPlugin}
import org.apache.spark.pacer.Wire.Unpaced
import org.apache.spark.resource.{ResourceProfile, ResourceProfileBuilder, TaskResourceRequests}
import org.apache.spark.scheduler.{ExternalClusterManager, SchedulerBackend, TaskScheduler, TaskSchedulerImpl, WorkerOffer}
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend
import org.apache.spark.util.RpcUtils

/** Real contexts in front of a cluster manager without executors, attached to a planner that says one thing. */
class AttachmentTest {
  import AttachmentTest._

  private def conf(planner: String, more: (String, String)*) = new SparkConf(false).setMaster(Master).setAppName("t").set("spark.ui.enabled", "false")
    .set(PacerConf.Planner, planner).set(PacerConf.Deadline, "90s").set(Dynamic, "true")
    .set("spark.dynamicAllocation.minExecutors", "2").set("spark.dynamicAllocation.maxExecutors", "7").setAll(more)

  private val plugin = "spark.plugins" -> classOf[PacerPlugin].getName

  private def withContext(conf: SparkConf)(body: SparkContext => Unit): Unit = {
    val loader = Thread.currentThread().getContextClassLoader
    val sc = new SparkContext(conf)
    try {
      assertSame(loader, Thread.currentThread().getContextClassLoader)
      body(sc)
    } finally sc.stop()
  }

  private def withPlanner(reply: String)(body: Planner => Unit): Unit = {
    val planner = new Planner(reply)
    try body(planner) finally planner.close()
  }

  private val taken = """"app_id":"app-1","verdict":"tight","reason":"it is tight","executors":2,"slots":4,"directive":
    {"epoch":1,"gated":true,"executors":[],"wanted":3,"wanted_on":["a","b"]}"""

  @Test @Timeout(60) def theSchedulerIsOursAndTheBackEndSparks(): Unit = withPlanner(taken) { planner =>
    withContext(conf(planner.address, plugin)) { sc =>
      assertEquals(classOf[AttachedScheduler], sc.taskScheduler.getClass)
      assertEquals(classOf[Backend], sc.schedulerBackend.getClass)
      assertTrue(sc.conf.getBoolean(PacerConf.Attached, false))
      assertTrue(sc.executorAllocationManager.isEmpty)
      val launch = planner.registrations.take().path("launch")
      val secret = launch.path("attach").path("secret").asText()
      assertEquals(mapper.readTree(s"""{"manager":"k8s","app":"$App","least":2,"most":7,"secret":"$secret"}"""), launch.path("attach"))
      assertTrue(secret.matches("[0-9a-f]{64}") && !sc.conf.getAll.exists(_._2.contains(secret)), "it is the driver's alone")
      assertEquals(1, launch.path("cores").asInt())
      assertTrue(launch.path("env").isEmpty && launch.path("offheap_fixed").asBoolean())
      val backend = sc.schedulerBackend.asInstanceOf[Backend]
      assertEquals(Map(ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID -> 3), backend.asked.take())
      assertEquals(Set("a", "b"), backend.hints.keySet)
      sc.taskScheduler.asInstanceOf[TaskSchedulerImpl].resourceOffers(IndexedSeq(WorkerOffer("1", "a", 0)))
      val up = planner.events("executor_up").path("executor")
      assertEquals(mapper.readTree(s"""{"id":"1","host":"a","cores":1,"memory_bytes":${1408L << 20},"container":"t-exec-1"}"""), up)
      // Plugins of executors say where they run, before or after the first offer.
      val endpoint = RpcUtils.makeDriverRef("org.apache.spark.internal.plugin.PluginEndpoint", sc.conf, sc.env.rpcEnv)
      Seq("1", "2").foreach { x =>
        val key = endpoint.askSync[AnyRef](PluginMessage(classOf[PacerPlugin].getName, x -> s"boot-$x"))
        assertEquals(AttachedProof.ofExecutor(secret, sc.applicationId, x, s"boot-$x"), key)
      }
      assertEquals("boot-1", planner.events("executor_up").path("executor").path("machine").asText())
      sc.taskScheduler.asInstanceOf[TaskSchedulerImpl].resourceOffers(IndexedSeq(WorkerOffer("2", "10.0.0.2", 0)))
      assertEquals("boot-2", planner.events("executor_up").path("executor").path("machine").asText())
    }
    assertFalse(planner.events("end").path("failed").asBoolean())
    planner.beats.clear()
    planner.beats.take() // The driver has not exited.
  }

  @Test @Timeout(60) def aStageWithAResourceProfileIsSparksOwn(): Unit = withPlanner(taken) { planner =>
    withContext(conf(planner.address, plugin)) { sc =>
      val profile = new ResourceProfileBuilder().require(new TaskResourceRequests().cpus(1)).build()
      sc.parallelize(1 to 2, 1).withResources(profile).countAsync()
      assertEquals("resource profiles", planner.events("unpaced").path("reason").asText())
      assertTrue(sc.taskScheduler.asInstanceOf[StageBoundScheduling].recall().contains(Unpaced("resource profiles")))
    }
  }

  @Test @Timeout(60) def withoutAPlannerAllIsSparks(): Unit = withContext(conf("127.0.0.1:1", plugin)) { sc =>
    assertEquals(classOf[TaskSchedulerImpl], sc.taskScheduler.getClass)
    assertFalse(sc.conf.contains(PacerConf.Attached) || sc.conf.contains("spark.locality.wait"))
    assertTrue(sc.executorAllocationManager.nonEmpty)
  }

  @Test @Timeout(60) def aPlannerThatDoesNotTakeItLeavesItToSpark(): Unit =
    withPlanner(""""error":{"kind":8,"message":"nobody knows you"}""") { planner =>
      withContext(conf(planner.address, plugin)) { sc =>
        assertTrue(sc.taskScheduler.asInstanceOf[StageBoundScheduling].off)
        assertTrue(sc.executorAllocationManager.nonEmpty, "and with it how many executors there are")
        assertFalse(sc.conf.contains(PacerConf.Attached))
      }
    }

  @Test @Timeout(60) def whoAsksForARefusalIsRefused(): Unit =
    withPlanner(""""error":{"kind":3,"message":"too soon"}""") { planner =>
      val loader = Thread.currentThread().getContextClassLoader
      val refused = assertThrows(classOf[SparkException], () => new SparkContext(conf(planner.address, plugin, PacerConf.RequireFeasible -> "true")))
      assertEquals("pacer: too soon", refused.getMessage)
      assertSame(loader, Thread.currentThread().getContextClassLoader)
      assertTrue(SparkContext.getActive.isEmpty)
    }

  @Test @Timeout(60) def faultsOfTheConfigurationEndTheStart(): Unit = {
    val refused = assertThrows(classOf[SparkException], () => new SparkContext(conf("127.0.0.1:1", plugin, PacerConf.Deadline -> "soon")))
    assertTrue(refused.getMessage.startsWith("pacer: spark.pacer.deadline is 'soon'"), refused.getMessage)
  }

  /** As in a Spark that makes its scheduler before plugins, or by another loader. */
  @Test @Timeout(60) def aSparkThatDoesNotAskIsLeftAlone(): Unit = withPlanner(taken) { planner =>
    withContext(conf(planner.address)) { sc =>
      val loader = Thread.currentThread().getContextClassLoader
      val before = sc.conf.getAll.toSet
      val driver = new AttachedDriver
      driver.init(sc, null)
      assertNotSame(loader, Thread.currentThread().getContextClassLoader)
      driver.registerMetrics(App, null)
      assertSame(loader, Thread.currentThread().getContextClassLoader)
      assertEquals(before, sc.conf.getAll.toSet)
    }
  }

  @Test @Timeout(60) def otherMastersHaveNoExecutorsToAttachTo(): Unit = withPlanner(taken) { planner =>
    withContext(conf(planner.address, plugin).setMaster("pacer-test")) { sc =>
      assertFalse(sc.conf.contains(PacerConf.Attached))
      assertTrue(planner.registrations.isEmpty)
    }
  }
}

object AttachmentTest {
  val Master = "k8s://pacer-test"
  private val App = "spark-0001"
  private val Dynamic = "spark.dynamicAllocation.enabled"
  private val mapper = new ObjectMapper()

  /** A NATS server in which a planner answers all registrations with that reply, and takes all events. */
  private final class Planner(reply: String) {
    private val listening = new ServerSocket(0, 8, InetAddress.getLoopbackAddress)
    private val heard = new LinkedBlockingQueue[JsonNode]()
    val registrations = new LinkedBlockingQueue[JsonNode]()
    val beats = new LinkedBlockingQueue[JsonNode]()
    val address = s"127.0.0.1:${listening.getLocalPort}"
    daemon(while (true) serve(listening.accept()))

    /** The next event of that type. */
    def events(kind: String): JsonNode = Iterator.continually(heard.take()).find(_.path("type").asText() == kind).get

    def close(): Unit = listening.close()

    private def daemon(run: => Unit): Unit = {
      val thread = new Thread(() => try run catch { case _: IOException => () })
      thread.setDaemon(true)
      thread.start()
    }

    private def line(in: InputStream): String = {
      val bytes = Iterator.continually(in.read()).takeWhile(b => b >= 0 && b != '\n').map(_.toByte).toArray
      new String(bytes, UTF_8).trim
    }

    private def serve(socket: Socket): Unit = daemon {
      val in = new BufferedInputStream(socket.getInputStream)
      def say(text: String): Unit = socket.getOutputStream.write(s"$text\r\n".getBytes(UTF_8))
      say("""INFO {"server_id":"x","version":"2.12.0","proto":1,"max_payload":1048576}""")
      while (!socket.isClosed) line(in).split(" ") match {
        case Array("PING") => say("PONG")
        case Array("PUB", subject, inbox, bytes) =>
          val body = mapper.readTree(in.readNBytes(bytes.toInt))
          line(in)
          val answer = s"""{"v":1,${if (subject.contains(".register.")) registered(body) else took(body)}}"""
          say(s"MSG $inbox 1 ${answer.getBytes(UTF_8).length}\r\n$answer")
        case Array("") => socket.close()
        case _ => ()
      }
    }

    private def registered(body: JsonNode): String = {
      registrations.add(body)
      reply
    }

    private def took(body: JsonNode): String = {
      body.path("events").forEach(e => heard.add(e): Unit)
      if (body.path("events").isEmpty) beats.add(body)
      s""""acked_seq":${body.path("events").path(body.path("events").size - 1).path("seq").asLong()}"""
    }
  }

  /** Spark's back end, which notes what the cluster manager is asked for. */
  private[pacer] final class Backend(scheduler: TaskSchedulerImpl, sc: SparkContext) extends CoarseGrainedSchedulerBackend(scheduler, sc.env.rpcEnv) {
    val asked = new LinkedBlockingQueue[Map[Int, Int]]()
    override def applicationId(): String = App
    override protected def doRequestTotalExecutors(totals: Map[ResourceProfile, Int]): Future[Boolean] = {
      asked.add(totals.map { case (profile, n) => profile.id -> n })
      Future.successful(true)
    }
    def hints: Map[String, Int] = rpHostToLocalTaskCount.getOrElse(ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID, Map.empty)
  }
}

/** A cluster manager as Spark's own for Kubernetes: its scheduler is TaskSchedulerImpl. */
private[spark] class TestAttachedTo extends ExternalClusterManager {
  override def canCreate(url: String): Boolean = url == AttachmentTest.Master
  override def createTaskScheduler(sc: SparkContext, url: String): TaskScheduler = {
    sc.conf.set("spark.kubernetes.executor.podNamePrefix", "t")
    new TaskSchedulerImpl(sc)
  }
  override def createSchedulerBackend(sc: SparkContext, url: String, scheduler: TaskScheduler): SchedulerBackend = {
    sc.conf.set("spark.kubernetes.executor.podNamePrefix", "t")
    new AttachmentTest.Backend(scheduler.asInstanceOf[TaskSchedulerImpl], sc)
  }
  override def initialize(scheduler: TaskScheduler, backend: SchedulerBackend): Unit =
    scheduler.asInstanceOf[TaskSchedulerImpl].initialize(backend)
}
