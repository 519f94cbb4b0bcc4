package org.apache.spark.pacer

import java.io.{ByteArrayInputStream, InputStream, IOException}
import java.net.Socket
import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Paths}
import java.security.{GeneralSecurityException, KeyStore}
import java.security.cert.{CertificateException, CertificateExpiredException, CertificateFactory, CertificateNotYetValidException, X509Certificate}
import java.time.Instant
import javax.net.ssl.{SSLContext, SSLEngine, SSLSocket, TrustManagerFactory, X509ExtendedTrustManager}

import scala.jdk.CollectionConverters._
import scala.util.Using

/**
 * Trusts a server whose certificate is signed by an authority of a PEM file, is valid now
 * and bears the name or address that was dialled. jnats keeps the reason of a refusal to
 * itself, so fault has the newest one, as one line that says what mends it.
 *
 * Authorities are read when it is made. Thread-safe.
 *
 * @param file    the authorities' file, or what it has: a driver in a pod has settings and no files
 * @param address the server's host:port, for the line
 * @throws UnreachableException the file cannot be read or holds no certificate
 */
private[pacer] final class ServerTrust(file: String, address: String) extends X509ExtendedTrustManager {

  private val authorities = ServerTrust.read(file)
  private val chains = ServerTrust.trustManager(authorities)
  @volatile private var refused = Option.empty[String]

  /** Why the server was not trusted, if it was not. */
  def fault: Option[String] = refused

  /** For connections to the server. */
  def context: SSLContext = {
    val c = SSLContext.getInstance("TLS")
    c.init(null, Array(this), null)
    c
  }

  override def checkServerTrusted(chain: Array[X509Certificate], kind: String, socket: Socket): Unit = {
    valid(chain(0))
    explained(s"is signed by another authority than that of ${ServerTrust.named(file)}: get its ca.pem from the planner's operator and name it in spark.pacer.tls.ca") {
      chains.checkServerTrusted(chain, kind)
    }
    // Sockets come from jnats without it; the trust manager reads it at this moment.
    val named = socket.asInstanceOf[SSLSocket]
    val parameters = named.getSSLParameters
    parameters.setEndpointIdentificationAlgorithm("HTTPS")
    named.setSSLParameters(parameters)
    explained(s"is for ${ServerTrust.names(chain(0))} alone: dial one of these, or run pacer auth init HOST where the planner runs") {
      chains.checkServerTrusted(chain, kind, socket)
    }
    refused = None
  }

  private def valid(c: X509Certificate): Unit = try c.checkValidity() catch {
    case e: CertificateExpiredException => refuse(s"has expired at ${c.getNotAfter.toInstant} and this machine's clock says ${Instant.now()}: " +
      "run pacer auth init where the planner runs, or set the clock", e)
    case e: CertificateNotYetValidException => refuse(s"is valid from ${c.getNotBefore.toInstant} on and this machine's clock says ${Instant.now()}: " +
      "set the clock", e)
  }

  private def explained(why: String)(check: => Unit): Unit = try check catch {
    case e: CertificateException => refuse(why, e)
  }

  private def refuse(why: String, e: CertificateException): Nothing = {
    refused = Some(s"the certificate of $address $why")
    throw e
  }

  override def checkServerTrusted(chain: Array[X509Certificate], kind: String, engine: SSLEngine): Unit = throw new CertificateException("not a socket")
  override def checkServerTrusted(chain: Array[X509Certificate], kind: String): Unit = throw new CertificateException("not a socket")
  override def checkClientTrusted(chain: Array[X509Certificate], kind: String, socket: Socket): Unit = throw new CertificateException("not a server")
  override def checkClientTrusted(chain: Array[X509Certificate], kind: String, engine: SSLEngine): Unit = throw new CertificateException("not a server")
  override def checkClientTrusted(chain: Array[X509Certificate], kind: String): Unit = throw new CertificateException("not a server")
  override def getAcceptedIssuers: Array[X509Certificate] = chains.getAcceptedIssuers
}

private[pacer] object ServerTrust {

  private val Begin = "-----BEGIN"

  private def named(file: String): String = if (file.startsWith(Begin)) "spark.pacer.tls.ca" else file

  private def open(file: String): InputStream =
    if (file.startsWith(Begin)) new ByteArrayInputStream(file.getBytes(US_ASCII)) else Files.newInputStream(Paths.get(file))

  private def read(file: String): KeyStore = try {
    val store = KeyStore.getInstance(KeyStore.getDefaultType)
    store.load(null, null)
    val found = Using.resource(open(file))(CertificateFactory.getInstance("X.509").generateCertificates(_)).asScala
    if (found.isEmpty) throw new UnreachableException(s"spark.pacer.tls.ca: ${named(file)} holds no certificate", null)
    found.zipWithIndex.foreach { case (c, i) => store.setCertificateEntry(i.toString, c) }
    store
  } catch {
    case u: UnreachableException => throw u
    case e @ (_: IOException | _: GeneralSecurityException) =>
      throw new UnreachableException(s"spark.pacer.tls.ca: cannot read the certificates in ${named(file)}", e)
  }

  private def trustManager(authorities: KeyStore): X509ExtendedTrustManager = {
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    factory.init(authorities)
    factory.getTrustManagers.collectFirst { case m: X509ExtendedTrustManager => m }.get
  }

  /** The names and addresses that a certificate bears. */
  private def names(c: X509Certificate): String =
    Option(c.getSubjectAlternativeNames).toSeq.flatMap(_.asScala).map(_.get(1).toString).mkString(", ")
}
