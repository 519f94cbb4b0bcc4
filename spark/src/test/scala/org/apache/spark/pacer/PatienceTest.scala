package org.apache.spark.pacer

import java.io.IOException

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

class PatienceTest {
  private val hour = 3600L * 1000 * 1000 * 1000
  private val refused = new DeniedException("refused the credentials", null)
  private val away = new RefusedException(Wire.Fault(Wire.KindTransient, "its node is away"))
  private val never = new RefusedException(Wire.Fault(Wire.KindInvalid, "no"))

  /** How often it is tried, and what comes of that, if it fails in these ways first. */
  private def tried(patience: Patience, faults: Exception*): (Int, Either[Exception, String]) = {
    var n = 0
    val outcome = try Right(patience.have {
      n += 1
      if (n <= faults.size) throw faults(n - 1)
      "there"
    }) catch { case e: Exception => Left(e) }
    (n, outcome)
  }

  private def patient(asked: Boolean, nanos: Long = hour) = new Patience(asked, System.nanoTime() + nanos, pause = 0)

  @Test def whatMayPassIsTriedAgain(): Unit = {
    assertEquals((3, Right("there")), tried(patient(asked = false), away, away))
    assertEquals((2, Left(never)), tried(patient(asked = true), away, never))
  }

  @Test def aPlannerThatWasThereAMomentAgoIsLookedForAgain(): Unit = {
    val nobody = new UnreachableException("no planner answers", null)
    assertEquals((4, Right("there")), tried(patient(asked = true), nobody, refused, new IOException("no reply")))
    assertEquals((1, Left(nobody)), tried(patient(asked = false), nobody))
    val other = new IllegalStateException("a bug")
    assertEquals((1, Left(other)), tried(patient(asked = true), other))
  }

  @Test def itEnds(): Unit = assertEquals((1, Left(refused)), tried(patient(asked = true, nanos = 0), refused))
}
