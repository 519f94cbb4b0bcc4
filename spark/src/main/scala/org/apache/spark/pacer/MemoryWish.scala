package org.apache.spark.pacer

import java.io.IOException
import java.lang.invoke.MethodHandles
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.FileChannel
import java.nio.file.{Path, StandardOpenOption}

import org.apache.spark.pacer.MemoryWish._

/**
 * The reader of the wish page: how much off-heap memory the node wants this executor
 * to have. The node writes it, and this process cannot; the layout, version 1, stands
 * in infra/progress/doc.go. Safe for concurrent use.
 */
private[spark] final class MemoryWish(buffer: ByteBuffer) {

  if (get(WordMagic) != Magic) throw new IOException("not a wish page")
  if (get(WordVersion) != Version) throw new IOException(s"a wish page of layout ${get(WordVersion)}, this side reads $Version")

  /** The newest wish in bytes with its sequence, if that is greater than seen. */
  def newer(seen: Long): Option[(Long, Long)] = {
    var tries = Tries
    while (tries > 0) {
      val sequence = Words.getAcquire(buffer, WordSequence * 8).asInstanceOf[Long]
      if (sequence <= seen) return None
      val bytes = get(WordSlots + ((sequence - 1) & 1).toInt)
      // The load of the sequence below may not move before that of the bytes.
      java.lang.invoke.VarHandle.acquireFence()
      if (get(WordSequence) == sequence) return Some((bytes, sequence))
      tries -= 1
    }
    None
  }

  private def get(word: Int): Long = Words.getOpaque(buffer, word * 8).asInstanceOf[Long]
}

private[spark] object MemoryWish {
  /** "PACERWP1" as little-endian bytes. */
  val Magic: Long = ByteBuffer.wrap("PACERWP1".getBytes("US-ASCII")).order(ByteOrder.LITTLE_ENDIAN).getLong
  val Version = 1L
  val PageBytes = 4096
  val WordMagic = 0
  val WordVersion = 1
  val WordSequence = 2
  val WordSlots = 4

  /** The environment variable by which a node says where an executor's wish page is. */
  val PathVariable = "PACER_WISH_PAGE"

  private val Tries = 8
  private val Words = MethodHandles.byteBufferViewVarHandle(classOf[Array[Long]], ByteOrder.LITTLE_ENDIAN)

  /** Maps the page at path; throws IOException for what is none. */
  def open(path: Path): MemoryWish = {
    val channel = FileChannel.open(path, StandardOpenOption.READ)
    try {
      if (channel.size() < PageBytes) throw new IOException(s"$path has ${channel.size()} bytes, a wish page has $PageBytes")
      new MemoryWish(channel.map(FileChannel.MapMode.READ_ONLY, 0, PageBytes))
    } finally {
      channel.close()
    }
  }
}
