package org.apache.spark.pacer

import scala.collection.mutable

import org.junit.jupiter.api.Assertions.{assertEquals, assertTrue}
import org.junit.jupiter.api.Test

class ExecutorUserTest {
  private def said(own: Option[Int], executors: Int*): Seq[String] = {
    val lines = mutable.Buffer[String]()
    val endpoint = new ExecutorUser(null, own, lines += _)
    executors.foreach(endpoint.receive(_))
    lines.toSeq
  }

  @Test def anotherUserIsSaidOnce(): Unit = {
    val lines = said(Some(0), 0, 65533, 65533, 7)
    assertEquals(1, lines.size)
    assertTrue(lines.head.startsWith("executors run as user id 65533, the driver as 0: "), lines.head)
  }

  @Test def theSameUserIsNot(): Unit = {
    assertEquals(Nil, said(Some(1000), 1000, 1000))
    assertEquals(Nil, said(None, 65533), "nobody knows the driver's")
  }

  @Test def thisProcessHasOne(): Unit = assertTrue(ExecutorUser.own.exists(_ >= 0))
}
