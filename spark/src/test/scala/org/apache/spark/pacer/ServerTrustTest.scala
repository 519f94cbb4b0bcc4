package org.apache.spark.pacer

import java.io.IOException
import java.net.{InetAddress, ServerSocket}
import java.nio.file.{Files, Path, Paths}
import java.security.KeyStore
import java.time.Duration
import java.util.Base64
import java.util.concurrent.TimeUnit
import javax.net.ssl.{KeyManagerFactory, SSLContext, SSLSocket}

import scala.util.Using

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class ServerTrustTest {
  @TempDir var dir: Path = _

  private val password = "changeit"

  /** A certificate that signs itself, in a key store with its key and in PEM. */
  private final class Certificate(name: String, more: String*) {
    private val store = dir.resolve(s"$name.p12")
    val pem: Path = dir.resolve(s"$name.pem")
    private val line = Seq(Paths.get(sys.props("java.home"), "bin", "keytool").toString, "-genkeypair", "-alias", "own", "-keyalg", "EC",
      "-dname", s"CN=$name", "-ext", "SAN=dns:localhost", "-keystore", store.toString, "-storepass", password) ++ more
    private val keytool = new ProcessBuilder(line: _*).redirectErrorStream(true).start()
    assertTrue(keytool.waitFor(60, TimeUnit.SECONDS) && keytool.exitValue == 0, new String(keytool.getInputStream.readAllBytes()))
    private val keys = KeyStore.getInstance("PKCS12")
    Using.resource(Files.newInputStream(store))(keys.load(_, password.toCharArray))
    Files.writeString(pem, "-----BEGIN CERTIFICATE-----\n" + Base64.getMimeEncoder.encodeToString(keys.getCertificate("own").getEncoded) +
      "\n-----END CERTIFICATE-----\n")

    def context: SSLContext = {
      val factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
      factory.init(keys, password.toCharArray)
      val c = SSLContext.getInstance("TLS")
      c.init(factory.getKeyManagers, null, null)
      c
    }
  }

  /** Shakes hands with a server of that certificate, dialled by a name; returns why not. */
  private def refusal(server: Certificate, authority: Any, host: String): Option[String] =
    Using.resource(server.context.getServerSocketFactory.createServerSocket(0, 1, InetAddress.getLoopbackAddress)) { listening =>
      val accepts = new Thread(() => try Using.resource(listening.accept())(_.getInputStream.read()) catch { case _: IOException => () })
      accepts.start()
      val trust = new ServerTrust(authority.toString, s"$host:4222")
      val plain = new java.net.Socket(InetAddress.getLoopbackAddress, listening.getLocalPort)
      try {
        val secured = trust.context.getSocketFactory.createSocket(plain, host, listening.getLocalPort, true).asInstanceOf[SSLSocket]
        secured.startHandshake()
        None
      } catch {
        case _: IOException => Some(trust.fault.getOrElse("no reason"))
      } finally {
        plain.close()
        accepts.join()
      }
    }

  /** A planner is mostly known by a name, and its certificate has no address. */
  @Test def theNameThatIsDialledIsTheCertificates(): Unit = {
    val server = new Certificate("server")
    Using.resource(new ServerSocket(0, 1, InetAddress.getLoopbackAddress)) { listening =>
      val port = listening.getLocalPort
      val accepts = new Thread(() => try Using.resource(listening.accept()) { plain =>
        plain.getOutputStream.write("INFO {\"server_id\":\"x\",\"version\":\"2.12.0\",\"proto\":1,\"max_payload\":1024,\"tls_required\":true}\r\n".getBytes)
        val secured = server.context.getSocketFactory.createSocket(plain, null, port, true).asInstanceOf[SSLSocket]
        secured.setUseClientMode(false)
        secured.startHandshake()
      } catch { case _: IOException => () })
      accepts.start()
      val said = assertThrows(classOf[UnreachableException], () =>
        NatsTransport.connect(s"localhost:$port", None, () => (), Some(server.pem.toString), Duration.ofSeconds(20))).getMessage
      accepts.join()
      assertEquals(s"no planner answers at localhost:$port", said) // It has closed the connection, and was trusted.
    }
  }

  @Test def onlyTheRightAuthorityForTheRightNameIsTrusted(): Unit = {
    val server = new Certificate("server")
    assertEquals(None, refusal(server, server.pem, "localhost"))
    assertEquals(None, refusal(server, Files.readString(server.pem), "localhost"))
    def said(why: Option[String], parts: String*): Unit = parts.foreach(p =>
      assertTrue(why.exists(line => line.contains(p) && !line.contains("\n")), s"$why has no $p"))
    said(refusal(server, server.pem, "127.0.0.1"), "the certificate of 127.0.0.1:4222 is for localhost alone", "pacer auth init HOST")
    val other = new Certificate("stranger")
    said(refusal(server, other.pem, "localhost"), "another authority than that of " + other.pem, "spark.pacer.tls.ca")
    said(refusal(server, Files.readString(other.pem), "localhost"), "another authority than that of spark.pacer.tls.ca:")
    val past = new Certificate("past", "-startdate", "2001/01/01 00:00:00", "-validity", "10")
    said(refusal(past, past.pem, "localhost"), "has expired at 2001-01-11T", "this machine's clock says 2", "pacer auth init")
    val future = new Certificate("future", "-startdate", "+2y", "-validity", "10")
    said(refusal(future, future.pem, "localhost"), "is valid from 2", "set the clock")
  }

  @Test def authoritiesThatCannotBeReadAreSaid(): Unit = {
    val file = dir.resolve("ca.pem")
    for (text <- Seq("", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")) {
      Files.writeString(file, text)
      val said = assertThrows(classOf[UnreachableException], () => new ServerTrust(file.toString, "h:1")).getMessage
      assertTrue(said.contains(file.toString), said)
    }
    Files.delete(file)
    assertThrows(classOf[UnreachableException], () => new ServerTrust(file.toString, "h:1"))
  }
}
