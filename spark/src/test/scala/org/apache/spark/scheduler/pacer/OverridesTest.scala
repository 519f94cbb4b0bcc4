package org.apache.spark.scheduler.pacer

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.memory.pacer.MemoryPools

class OverridesTest {
  import OverridesTest._

  @Test def stockSparkHasAll(): Unit = {
    assertEquals(Nil, Overrides.gone)
    assertEquals(Nil, Overrides.goneOfAttached)
    assertEquals(Nil, MemoryPools.gone)
  }

  @Test def whatAVendorChangedIsNamed(): Unit =
    assertEquals(Seq("Vendors.takes", "Vendors.gives", "Vendors.closed", "Vendors.left"),
      Overrides.gone(classOf[Ours], Seq("takes", "gives", "closed", "left", "stays", "inherited")))
}

object OverridesTest {
  class Root {
    def inherited(): Int = 1
  }

  class Vendors extends Root {
    def takes(cores: BigDecimal): Int = cores.toInt
    def gives(task: Long): Option[Int] = Some(task.toInt)
    private def closed(): Int = 1
    def stays(executor: String): Unit = closed(): Unit
  }

  /** Made for a Spark whose methods of these names had other signatures. */
  class Ours extends Vendors {
    def takes(cores: Int): Int = cores
    def gives(task: Int): Option[Int] = Some(task)
    def closed(): Int = 2
    def left(): Int = 3
    override def stays(executor: String): Unit = ()
    override def inherited(): Int = 4
  }
}
