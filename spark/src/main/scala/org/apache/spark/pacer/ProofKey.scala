package org.apache.spark.pacer

import java.nio.charset.StandardCharsets.UTF_8
import java.security.{KeyPair, KeyPairGenerator, MessageDigest, SecureRandom, Signature}
import java.security.interfaces.EdECPublicKey
import java.security.spec.{EdECPoint, NamedParameterSpec}
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

/** The Ed25519 key that follows from a secret, and from nothing else (infra/bus/proof.go). */
private[pacer] final class ProofKey(secret: String) {

  import ProofKey._

  private val pair = pairOf(sha256(s"pacer nkey $secret"))

  /** The public key: 32 bytes. */
  val public: Array[Byte] = encoded(pair.getPublic.asInstanceOf[EdECPublicKey].getPoint)

  /** It as NATS writes those of users: U and base32, with a checksum. */
  def text: String = {
    val named = UserPrefix +: public
    val sum = crc16(named)
    base32(named ++ Array(sum.toByte, (sum >> 8).toByte))
  }

  def sign(nonce: Array[Byte]): Array[Byte] = {
    val s = Signature.getInstance(Curve)
    s.initSign(pair.getPrivate)
    s.update(nonce)
    s.sign()
  }

  /** Shows a planner that has the secret's hash, from an earlier release, that the public key is by that secret. */
  def renewal(login: String, nonce: Array[Byte]): Array[Byte] = {
    val mac = Mac.getInstance(MacName)
    mac.init(new SecretKeySpec(Credential.hex(sha256(secret)).getBytes(UTF_8), MacName))
    for (part <- Seq("pacer renews".getBytes(UTF_8), login.getBytes(UTF_8), nonce, public)) {
      mac.update(part)
      mac.update(0.toByte)
    }
    mac.doFinal()
  }
}

private object ProofKey {
  private val Bytes = 32
  private val Curve = "Ed25519"
  private val MacName = "HmacSHA256"
  private val UserPrefix = (20 << 3).toByte
  private val Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

  private def sha256(text: String): Array[Byte] = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8))

  /** The JDK makes a key pair of 32 random bytes, the seed: it has no other way from a seed to the public key. */
  private def pairOf(seed: Array[Byte]): KeyPair = {
    val pairs = KeyPairGenerator.getInstance(Curve)
    pairs.initialize(NamedParameterSpec.ED25519, new SecureRandom {
      override def nextBytes(bytes: Array[Byte]): Unit = seed.copyToArray(bytes)
    })
    pairs.generateKeyPair()
  }

  /** A point as RFC 8032 writes it: y, little end first, and in its last bit whether x is odd. */
  private def encoded(point: EdECPoint): Array[Byte] = {
    val y = point.getY.toByteArray.reverse.take(Bytes).padTo(Bytes, 0.toByte)
    if (point.isXOdd) y(Bytes - 1) = (y.last | 0x80).toByte
    y
  }

  /** CRC-16 of XMODEM. */
  private def crc16(bytes: Array[Byte]): Int = bytes.foldLeft(0) { (sum, b) =>
    (0 until 8).foldLeft(sum ^ ((b & 0xff) << 8)) { (s, _) => (if ((s & 0x8000) != 0) (s << 1) ^ 0x1021 else s << 1) & 0xffff }
  }

  private def base32(bytes: Array[Byte]): String = {
    val bits = bytes.flatMap(b => (7 to 0 by -1).map(i => (b >> i) & 1))
    bits.grouped(5).map(g => Alphabet(g.padTo(5, 0).foldLeft(0)((v, bit) => v * 2 + bit))).mkString
  }
}
