package org.apache.spark.pacer

import java.lang.management.{GarbageCollectorMXBean, ManagementFactory, MemoryPoolMXBean, MemoryType}
import javax.management.{Notification, NotificationEmitter, NotificationListener}
import javax.management.openmbean.CompositeData

import com.sun.management.GarbageCollectionNotificationInfo

/**
 * What this JVM's collections have left of its heap, and how long they took. The JVM tells of each on a thread of its
 * own; the publisher reads, and has no Scala iterators (TaskLedger).
 */
private[spark] final class CollectionWatch extends NotificationListener {
  private val collectors = ManagementFactory.getGarbageCollectorMXBeans.toArray(new Array[GarbageCollectorMXBean](0))
  private val pools = ManagementFactory.getMemoryPoolMXBeans.toArray(new Array[MemoryPoolMXBean](0))
  @volatile private var left = 0L

  {
    var i = 0
    while (i < collectors.length) {
      collectors(i) match {
        case e: NotificationEmitter => e.addNotificationListener(this, null, null)
        case _ =>
      }
      i += 1
    }
  }

  /** The heap in use after the newest collection, in bytes; 0 before the first. */
  def used: Long = left

  /** How long all collections have taken, in ns. */
  def nanos: Long = {
    var millis = 0L
    var i = 0
    while (i < collectors.length) {
      millis += math.max(0L, collectors(i).getCollectionTime)
      i += 1
    }
    millis * 1000000L
  }

  override def handleNotification(n: Notification, ignored: AnyRef): Unit =
    if (n.getType == GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION) {
      val after = GarbageCollectionNotificationInfo.from(n.getUserData.asInstanceOf[CompositeData]).getGcInfo.getMemoryUsageAfterGc
      var sum = 0L
      var i = 0
      while (i < pools.length) {
        if (pools(i).getType == MemoryType.HEAP) {
          val usage = after.get(pools(i).getName)
          if (usage != null) sum += usage.getUsed
        }
        i += 1
      }
      left = sum
    }
}
