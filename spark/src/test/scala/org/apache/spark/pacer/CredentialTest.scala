package org.apache.spark.pacer

import java.nio.charset.StandardCharsets
import java.nio.file.{Files, Path}
import java.nio.file.attribute.PosixFilePermissions
import java.time.Instant
import java.util.Base64

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class CredentialTest {
  @TempDir var dir: Path = _

  private def read(text: String): Credential = {
    val file = dir.resolve("ann")
    Files.write(file, text.getBytes(StandardCharsets.UTF_8))
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"))
    Credential.read(file)
  }

  /** The file is as bus.Credential.Encode writes it. */
  @Test def aRefusalIsExplainedByTheFile(): Unit = {
    val c = read("# Pacer: whoever has this file is user-ann.\n# Issued at 2026-05-01T12:00:00Z\n# Taken until 2026-05-31T12:00:00Z\nuser-ann:hidden\n")
    def wants(now: String, parts: String*): Unit = {
      val line = c.refusal("h:4222", Instant.parse(now))
      parts.foreach(p => assertTrue(line.contains(p), s"no $p in $line"))
      assertFalse(line.contains("hidden") || line.contains("\n"), line)
    }
    wants("2026-06-01T00:00:00Z", "have expired at 2026-05-31", "clock says 2026-06-01", "pacer auth issue")
    wants("1970-01-01T00:00:00Z", "issued at 2026-05-01", "clock says 1970-01-01", "set the clock", "`date`")
    wants("2026-05-03T00:00:00Z", "taken until 2026-05-31", "revoked", "`date`")
  }

  /** As bus.Credential.Key and its proof: a planner verifies them (TestAProofIsAsTheJarMakesIt). */
  @Test def aProofIsAsThePlannerVerifiesIt(): Unit = {
    val c = new Credential("user-ann", "0123456789abcdef" * 4)
    assertEquals("UAHPLMONRAFW2LEQHYVAL2H5FFHL6CQ2YDB5YAHUYYT7NGLOG6ODPOCV", c.key)
    assertEquals("20k0XetZWkwfpcewfEBXfIF7UVcGI404jPbQoprDKUYm7J68Rr8KHCLsjKBx6xP0DDjw5hfbN2vcC4P6lEMuDg" +
      "71sc2IC20skD4qBej9KU6_ChrAw9wA9MYn9pluN5w3hfCbML3DXO5sO6by6fM40NDSicqOF2jWcytIh1GvFec",
      Base64.getUrlEncoder.withoutPadding.encodeToString(c.prove("kTJ7Uo0hHBLY5Rg".getBytes(StandardCharsets.UTF_8))))
  }

  @Test def aFileWithoutDatesIsTaken(): Unit = {
    val c = read("# Issued at some time\n\nuser-ann:hidden\n")
    assertEquals("hidden", c.secret)
    assertEquals(None, c.issued)
    assertTrue(c.refusal("h:4222", Instant.EPOCH).contains("refused the credentials of user-ann"))
  }

  /** Users register applications, and who has the ticket of a submission; nobody else's credential is of use here. */
  @Test def aTicketRegisters(): Unit = {
    assertEquals("ticket-1-2", read("ticket-1-2:hidden\n").login)
    for (other <- Seq("node-n1", "planner", "app-1")) assertThrows(classOf[UnreachableException], () => read(s"$other:hidden\n"))
  }
}
