package org.apache.spark.pacer

import java.io.IOException
import java.nio.charset.StandardCharsets
import java.nio.file.{Files, NoSuchFileException, Path, Paths}
import java.nio.file.attribute.PosixFilePermission.{GROUP_WRITE, OTHERS_READ, OTHERS_WRITE}
import java.security.SecureRandom
import java.time.Instant
import java.time.temporal.ChronoUnit.SECONDS
import java.util.Locale

import scala.jdk.CollectionConverters._
import scala.util.Try

/** A login with the secret that proves it; neither is ever a setting of Spark. */
private[spark] final class Credential(
    val login: String,
    val secret: String,
    val file: Option[Path] = None,
    val issued: Option[Instant] = None,
    val until: Option[Instant] = None) {

  private lazy val keys = new ProofKey(secret)

  /** What a planner keeps of it: the public key. */
  def key: String = keys.text

  /** Shows the server that has made a nonce that it is there (infra/bus/proof.go); the secret is never told. */
  def prove(nonce: Array[Byte]): Array[Byte] = keys.sign(nonce) ++ keys.public ++ keys.renewal(login, nonce)

  override def toString: String = login

  /**
   * Why the planner at address refused it at now and what mends it, as bus.Credential.refusal says; its file
   * says from when until when it is taken.
   */
  def refusal(address: String, now: Instant): String = {
    val of = s"the credentials of $login${file.fold("")(f => s" in $f")}"
    val how = "`pacer auth issue --user NAME --role submit`"
    val clock = s"this machine's clock says ${now.truncatedTo(SECONDS)}"
    if (until.exists(!now.isBefore(_))) {
      s"$of have expired at ${until.get} and $clock: ask the operator of the planner at $address for $how"
    } else if (issued.exists(i => now.isBefore(i.minusSeconds(Credential.ClockIsOffSeconds)))) {
      s"the planner at $address refused $of, which were issued at ${issued.get} while $clock: set the clock (`date` shows it), or ask its operator for $how"
    } else if (until.nonEmpty) {
      s"the planner at $address refused $of, which are taken until ${until.get}: they were revoked or its clock is not this machine's " +
        s"${now.truncatedTo(SECONDS)} (`date` there shows it): ask its operator for $how"
    } else {
      s"the planner at $address refused $of: ask its operator for $how"
    }
  }
}

private[spark] object Credential {

  /** The login of who has none. */
  val Anyone = "anyone"

  /** How the logins begin of those that may register: a user's, and that of a ticket for a submission. */
  private val Registering = Seq("user-", "ticket-")

  private val SecretBytes = 32
  private val ClockIsOffSeconds = 3600L

  /** How the lines of a file begin that say when it is taken (infra/bus/credential.go). */
  private val IssuedMark = "# Issued at "
  private val UntilMark = "# Taken until "

  private[pacer] def hex(bytes: Array[Byte]): String = bytes.map(b => f"${b & 0xff}%02x").mkString

  /** A secret for login that nobody else knows. */
  def fresh(login: String): Credential = {
    val secret = new Array[Byte](SecretBytes)
    new SecureRandom().nextBytes(secret)
    new Credential(login, hex(secret))
  }

  /** The variable that has a credential itself, for drivers in pods: of a Secret's key, which has no mode, or of pacer submit. */
  private[pacer] val Variable = "PACER_SECRET"

  /**
   * The user's own for the planner at address: the file that is named, else what [[Variable]] has, else where
   * bus.CredentialPath says; None if none is there.
   */
  def find(named: Option[Path], address: String, env: String => Option[String] = k => sys.env.get(k).filter(_.nonEmpty)): Option[Credential] =
    named.map(read)
      .orElse(env(Variable).map(text => parse(text.linesIterator.toSeq, Variable, None)))
      .orElse(directory(env).map(_.resolve(fileName(address))).filter(Files.exists(_)).map(read))

  private def directory(env: String => Option[String]): Option[Path] =
    env("PACER_CREDENTIALS_DIR").map(Paths.get(_)).orElse {
      env("XDG_CONFIG_HOME").map(Paths.get(_)).orElse(env("HOME").orElse(sys.props.get("user.home")).map(Paths.get(_, ".config")))
        .map(_.resolve("pacer").resolve("credentials"))
    }

  /** Whether host:port is reached from this machine only. */
  private[pacer] def isLoopback(address: String): Boolean =
    Loopback.matches(address.substring(0, math.max(address.lastIndexOf(':'), 0)).toLowerCase(Locale.ROOT))

  private val Loopback = "(localhost|127(\\.\\d+){3}|\\[?::1\\]?)".r

  /** The name of the file for a planner at host:port: all names of loopback are one. */
  private[pacer] def fileName(address: String): String = {
    val at = address.lastIndexOf(':')
    val host = address.substring(0, at).toLowerCase(Locale.ROOT) match {
      case Loopback(_*) => "127.0.0.1"
      case other => other.stripPrefix("[").stripSuffix("]").replace('/', '_')
    }
    s"$host:${address.substring(at + 1)}"
  }

  /** Reads the line login:secret of a file that nobody else may read or write. */
  private[pacer] def read(file: Path): Credential = {
    def fault(what: String, cause: Throwable = null) = new UnreachableException(s"credentials $file: $what", cause)
    parse(try {
      val open = Files.getPosixFilePermissions(file)
      if (open.contains(OTHERS_READ)) throw fault(s"everybody can read it: chmod o-r $file")
      if (open.contains(GROUP_WRITE) || open.contains(OTHERS_WRITE)) {
        throw fault(s"others than its owner can write it: chmod go-w $file")
      }
      Files.readAllLines(file).asScala.toSeq
    } catch {
      case u: UnreachableException => throw u
      case e: NoSuchFileException => throw fault("there is no such file: `pacer auth issue --out` writes one", e)
      case e: IOException => throw fault(s"it cannot be read", e)
    }, file.toString, Some(file))
  }

  /** Reads what a file has, or a variable: source names it. */
  private def parse(text: Seq[String], source: String, file: Option[Path]): Credential = {
    def fault(what: String) = new UnreachableException(s"credentials $source: $what", null)
    val lines = text.map(_.trim)
    def dated(mark: String): Option[Instant] =
      lines.find(_.startsWith(mark)).flatMap(l => Try(Instant.parse(l.stripPrefix(mark))).toOption)
    lines.filterNot(l => l.isEmpty || l.startsWith("#")) match {
      case Seq(line) if line.indexOf(':') > 0 && !line.endsWith(":") =>
        val (login, secret) = line.splitAt(line.indexOf(':'))
        if (!Registering.exists(login.startsWith)) throw fault(s"they are those of $login, want a user's: `pacer auth issue --user` makes some")
        new Credential(login, secret.drop(1), file, dated(IssuedMark), dated(UntilMark))
      case _ => throw fault("want one line login:secret, as `pacer auth issue` writes it")
    }
  }
}
