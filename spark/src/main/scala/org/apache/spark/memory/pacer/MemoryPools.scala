package org.apache.spark.memory.pacer

import java.lang.reflect.Field
import java.util.Locale
import java.util.concurrent.locks.LockSupport

import scala.util.control.NonFatal

import org.apache.spark.{SparkConf, SparkEnv}
import org.apache.spark.internal.Logging
import org.apache.spark.memory.{ExecutionMemoryPool, MemoryManager, MemoryMode, StorageMemoryPool, UnifiedMemoryManager}
import org.apache.spark.memory.pacer.MemoryPools._
import org.apache.spark.pacer.MemoryWish

/**
 * Resizes the off-heap pools of a running executor: of stock Spark's unified memory
 * manager, whose sizes are otherwise fixed at its start (docs/spark.md, S51 to S53).
 *
 * Growth is immediate. Shrinking takes what is free, evicts blocks in pieces and
 * waits for execution memory, which tasks give back when they next ask for some and
 * spill; it never takes memory that a task holds. It therefore runs on a thread of
 * its own, and says at each moment what is in force and what is owed. The newest
 * wish wins, also over one that has not been met.
 *
 * @param evict frees up to so many bytes of off-heap blocks and returns how many, 0
 *              if it cannot free as many at once; called under the manager's lock
 * @param owner why the pools are not to be moved, if they are not
 */
private[spark] final class MemoryPools(manager: MemoryManager, evict: Long => Long, owner: Option[String] = None,
    clock: () => Long = () => System.nanoTime()) {

  private val access = owner.toLeft(()).flatMap(_ => Access.of(manager))
  @volatile private var shown = Unseen
  private var wanted = -1L
  private var acknowledged, evicted, moved, movingNanos = 0L
  private var began, progressed = 0L

  /** Why the pools cannot be moved, empty if they can. To be called once, before anything else. */
  val fixed: String = access match {
    case Left(why) => why
    case Right(a) =>
      try {
        manager.synchronized(selfTest(a))
        ""
      } catch {
        case NonFatal(e) => s"the self-test failed: $e"
      }
  }
  look()

  /** What was last seen; never waits. */
  def state: State = shown

  /** Takes a wish; step carries it out. */
  def want(bytes: Long, sequence: Long, now: Long): Unit = {
    if (wanted < 0) began = now
    wanted = math.max(0L, bytes)
    acknowledged = sequence
    progressed = now
  }

  /** Whether a wish is still to be met. */
  def moving: Boolean = wanted >= 0

  /**
   * Goes as far towards the newest wish as is possible now, then waits up to
   * waitMillis for tasks to give memory back if that is not all. Returns for how
   * long, in ns, nobody else could have the manager.
   */
  def step(now: Long, waitMillis: Long): Long = {
    var held = 0L
    if (fixed.isEmpty) {
      manager.synchronized {
        if (moving) held = stepHeld(access.toOption.get, now, waitMillis)
        look()
      }
    } else look()
    held
  }

  private def stepHeld(a: Access, now: Long, waitMillis: Long): Long = {
    val since = clock()
    val before = a.size
    move(a, now)
    if (a.size != before) progressed = now
    val held = clock() - since
    if (a.size == wanted) {
      wanted = -1
      moved += 1
      movingNanos += clock() - began
    } else if (a.size == before && waitMillis > 0) {
      // A task that waits for memory looks again, and spills if its share is less.
      manager.notifyAll()
      look()
      manager.wait(waitMillis)
    }
    held
  }

  private def move(a: Access, now: Long): Unit = {
    val delta = wanted - a.size
    if (delta > 0) {
      // As much to storage as its region grows; both borrow from each other anyway.
      val storage = math.min(delta, math.max(0L, a.region(wanted) - a.storage.poolSize))
      a.storage.incrementPoolSize(storage)
      a.execution.incrementPoolSize(delta - storage)
      a.put(wanted)
      manager.notifyAll()
    } else if (delta < 0) {
      take(a, -delta)
      // Blocks above the region that storage keeps go first; the rest of them only
      // when execution has given nothing back for a while.
      val region = if (now - progressed > PatienceNanos) 0L else a.region(wanted)
      val over = math.min(a.size - wanted, a.storage.memoryUsed - region)
      if (over > 0) {
        val freed = evictPiece(math.min(over, Piece))
        evicted += freed
        take(a, a.size - wanted)
      }
      if (a.size > wanted) manager.notifyAll()
    }
  }

  /** Takes up to bytes of what neither storage nor execution uses. */
  private def take(a: Access, bytes: Long): Unit = if (bytes > 0) {
    val storage = math.min(bytes, a.storage.memoryFree)
    a.storage.decrementPoolSize(storage)
    val execution = math.min(bytes - storage, a.execution.memoryFree)
    a.execution.decrementPoolSize(execution)
    if (storage + execution > 0) a.put(a.size)
  }

  /** Evicting is all or nothing: smaller pieces are tried when a large one does not go. */
  private def evictPiece(bytes: Long): Long = {
    var piece = bytes
    var freed = evict(piece)
    while (freed == 0 && piece > LeastPiece) {
      piece /= 2
      freed = evict(piece)
    }
    freed
  }

  private def look(): Unit = access match {
    case Right(a) if fixed.isEmpty =>
      manager.synchronized {
        val size = a.size
        shown = State(moves = true, size, a.storage.memoryUsed, a.execution.memoryUsed,
          if (moving) math.max(0L, size - wanted) else 0L, acknowledged, evicted, moved,
          movingNanos)
      }
    case _ =>
      // What its owner makes of it is not known.
      shown = Unseen.copy(acknowledged = acknowledged)
  }

  /** Reads every field and writes back what is there. */
  private def selfTest(a: Access): Unit = {
    val max = a.max.getLong(manager)
    val region = a.regionField.getLong(manager)
    require(max > 0, "off-heap memory is not enabled")
    require(a.size == max, s"the pools have ${a.size} bytes of $max")
    a.put(max)
    require(a.max.getLong(manager) == max && a.size == max, "a resize had no effect")
    a.regionField.setLong(manager, region)
    require(manager.maxOffHeapStorageMemory == max - a.execution.memoryUsed, "the manager does not see its sizes")
  }
}

private[spark] object MemoryPools {

  /**
   * What the page tells of off-heap memory, in bytes and ns.
   *
   * @param moves false if the pools are somebody else's or nobody's
   */
  final case class State(moves: Boolean, inForce: Long, storage: Long, execution: Long, owed: Long,
      acknowledged: Long, evicted: Long, moved: Long, nanos: Long)

  val Unseen: State = State(moves = false, 0, 0, 0, 0, 0, 0, 0, 0)

  /**
   * The most that is evicted under the manager's lock at once, over disk and the driver, and the least
   * that is tried: heartbeats and tasks that want memory wait meanwhile.
   */
  private val Piece = 4L << 20
  private val LeastPiece = 64L << 10

  /** How long execution is waited for before storage gives up its region too. */
  private val PatienceNanos = 1000L * 1000 * 1000

  private val WaitMillis = 50L

  /** How often the node's page is looked at: a load from memory. */
  private val LookNanos = 20L * 1000 * 1000

  /** Plugins that hand the off-heap memory to code of their own, which knows its size from the start. */
  private val Owners = Seq("gluten", "comet")

  /** Why the pools are not Spark's own under these settings, if they are not. */
  def owner(conf: SparkConf): Option[String] = conf.get("spark.plugins", "").split(',').map(_.trim)
    .find(p => Owners.exists(p.toLowerCase(Locale.ROOT).contains)).map(p => s"they belong to $p")

  /** The executor's pools. */
  def of(env: SparkEnv): MemoryPools = new MemoryPools(env.memoryManager,
    n => env.blockManager.memoryStore.evictBlocksToFreeSpace(None, n, MemoryMode.OFF_HEAP), owner(env.conf))

  /**
   * Carries wishes out until it is stopped. Between two steps it parks for as long as the first one held
   * the manager: a thread that takes a monitor again at once keeps others from it for seconds.
   */
  final class Mover(pools: MemoryPools, wish: MemoryWish, park: Long => Unit = LockSupport.parkNanos(_)) extends Logging {
    @volatile private var running = true
    private val thread = new Thread(() => loop(), "pacer-memory")
    thread.setDaemon(true)

    def start(): Unit = thread.start()

    def stop(): Unit = {
      running = false
      thread.interrupt()
    }

    private def loop(): Unit = {
      var complained = false
      var seen = 0L
      while (running) {
        var held = 0L
        try {
          val now = System.nanoTime()
          wish.newer(seen).foreach { case (bytes, sequence) =>
            seen = sequence
            pools.want(bytes, sequence, now)
          }
          held = pools.step(now, WaitMillis)
        } catch {
          case _: InterruptedException => // The end.
          case e: Throwable => // Memory may be there again later, and nobody else moves any.
            if (!complained) logWarning("pacer: off-heap memory does not move", e)
            complained = true
        }
        if (running) park(if (pools.moving) held else LookNanos)
      }
    }
  }

  private final class Access(
      val max: Field,
      val regionField: Field,
      val storage: StorageMemoryPool,
      val execution: ExecutionMemoryPool,
      manager: MemoryManager) {

    private val fraction: Double = {
      val whole = max.getLong(manager)
      if (whole > 0) regionField.getLong(manager).toDouble / whole else 0
    }

    def size: Long = storage.poolSize + execution.poolSize

    /** What storage keeps of so many bytes though execution asks for more. */
    def region(bytes: Long): Long = (bytes * fraction).toLong

    def put(bytes: Long): Unit = {
      max.setLong(manager, bytes)
      regionField.setLong(manager, region(bytes))
    }
  }

  private val Max = "maxOffHeapMemory"
  private val Region = "offHeapStorageMemory"
  private val Storage = "offHeapStorageMemoryPool"
  private val Execution = "offHeapExecutionMemoryPool"

  /** Those of the memory manager's fields that this Spark has no more. */
  def gone: Seq[String] = {
    val there = classOf[MemoryManager].getDeclaredFields.map(_.getName)
    Seq(Max, Region, Storage, Execution).filterNot(there.contains).map("MemoryManager." + _)
  }

  private object Access {
    def of(manager: MemoryManager): Either[String, Access] =
      if (manager.getClass != classOf[UnifiedMemoryManager]) {
        Left(s"the memory manager is ${manager.getClass.getName}")
      } else {
        try {
          def field(name: String): Field = {
            val f = classOf[MemoryManager].getDeclaredField(name)
            f.setAccessible(true)
            f
          }
          Right(new Access(field(Max), field(Region), field(Storage).get(manager).asInstanceOf[StorageMemoryPool],
            field(Execution).get(manager).asInstanceOf[ExecutionMemoryPool], manager))
        } catch {
          case e @ (_: ReflectiveOperationException | _: RuntimeException) => Left(e.toString)
        }
      }
  }
}
