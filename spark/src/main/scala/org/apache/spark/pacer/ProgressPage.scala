package org.apache.spark.pacer

import java.io.IOException
import java.lang.invoke.{MethodHandles, VarHandle}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.FileChannel
import java.nio.file.{Files, Path, StandardCopyOption, StandardOpenOption}
import java.nio.file.attribute.PosixFilePermissions

import org.apache.spark.pacer.ProgressPage._

/**
 * The writer of the progress page: how far this JVM's tasks are, for the node
 * controller to read without a system call. The layout, version 7, stands in
 * infra/progress/doc.go. One thread writes; any number of processes read.
 *
 * At generation g slot g & 1 is filled and then g + 1 released, so that a reader
 * that still sees g + 1 after its copy has a whole slot (docs/spark.md, S18).
 */
private[spark] final class ProgressPage(buffer: ByteBuffer, pid: Long, proof: Array[Byte] = ProgressPage.NoProof) {

  /** Its file, where that stays open: the node of an attached executor finds it among the files of the process. */
  private var file: FileChannel = _

  private var generation = get(WordGeneration)

  put(WordMagic, Magic)
  put(WordVersion, Version)
  put(WordPid, pid)
  prove()

  /** Shows by what the node knows whose the page is. */
  private def prove(): Unit = {
    val words = ByteBuffer.wrap(proof).order(ByteOrder.LITTLE_ENDIAN)
    var i = 0
    while (words.remaining() > 0) {
      put(WordProof + i, words.getLong())
      i += 1
    }
  }

  /** Publishes what fill writes into an empty slot. */
  def publish(fill: Slot => Unit): Unit = {
    val slot = new Slot((generation & 1).toInt)
    // No store to the slot may move before the release of the generation that
    // took it out of use.
    VarHandle.storeStoreFence()
    fill(slot)
    generation += 1
    Words.setRelease(buffer, WordGeneration * 8, generation)
  }

  private def put(word: Int, value: Long): Unit = Words.setOpaque(buffer, word * 8, value)

  private def get(word: Int): Long = Words.getOpaque(buffer, word * 8).asInstanceOf[Long]

  /** The words of one slot, numbered from its own beginning. */
  final class Slot private[ProgressPage] (place: Int) {
    private val base = WordSlots + place * SlotWords

    /** Writes the words that every slot begins with; heaviest waits, in the stage named by heaviestOf. */
    def head(now: Long, stages: Int, tasks: Int, heaviest: Long = 0, heaviestOf: Long = 0): Unit =
      words(0, now, stages, tasks, heaviest, heaviestOf)

    /** Writes what is told of memory, MemoryWords words. */
    def memory(values: Long*): Unit = {
      require(values.length == MemoryWords)
      words(HeadWords, values: _*)
    }

    /** Writes the words of this slot that stand behind both: the heap in use after the newest collection, and all collections' time. */
    def heap(used: Long, collecting: Long): Unit = {
      put(WordHeaps + place * HeapWords, used)
      put(WordHeaps + place * HeapWords + 1, collecting)
    }

    /** Writes stage i (0 until MaxStages), StageWords words. */
    def stage(i: Int, values: Long*): Unit = {
      require(i >= 0 && i < MaxStages && values.length == StageWords)
      words(SlotHeader + i * StageWords, values: _*)
    }

    /** Writes running task i (0 until MaxTasks), TaskWords words. */
    def task(i: Int, values: Long*): Unit = {
      require(i >= 0 && i < MaxTasks && values.length == TaskWords)
      words(SlotHeader + MaxStages * StageWords + i * TaskWords, values: _*)
    }

    private def words(first: Int, values: Long*): Unit = {
      var i = 0
      while (i < values.length) {
        put(base + first + i, values(i))
        i += 1
      }
    }
  }
}

private[spark] object ProgressPage {
  /** "PACERPG1" as little-endian bytes. */
  val Magic: Long = ByteBuffer.wrap("PACERPG1".getBytes("US-ASCII")).order(ByteOrder.LITTLE_ENDIAN).getLong
  val Version = 7
  val PageWords = 1024
  val MaxStages = 8
  val MaxTasks = 44
  val StageWords = 12
  val TaskWords = 5
  val HeadWords = 5
  val MemoryWords = 11
  val SlotHeader: Int = HeadWords + MemoryWords
  val SlotWords: Int = SlotHeader + MaxStages * StageWords + MaxTasks * TaskWords
  val WordMagic = 0
  val WordVersion = 1
  val WordGeneration = 2
  val WordPid = 3
  val WordProof = 4
  val WordSlots = 16
  val WordHeaps: Int = WordSlots + 2 * SlotWords
  val HeapWords = 2

  /** That of a page which a node has made, of 32 bytes. */
  val NoProof = new Array[Byte](32)

  /** The environment variable by which a node says where an executor's page is. */
  val PathVariable = "PACER_PROGRESS_PAGE"

  private val Words = MethodHandles.byteBufferViewVarHandle(classOf[Array[Long]], ByteOrder.LITTLE_ENDIAN)

  /**
   * Makes the page of an executor in directory: whole when it gets its name, with its proof, and for its user alone. One
   * that is there already is replaced.
   */
  def make(directory: Path, executor: String, proof: Array[Byte]): ProgressPage = {
    val mine = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    val made = Files.createTempFile(directory.toAbsolutePath, "pacer-page-", ".new", mine)
    try {
      Files.write(made, new Array[Byte](PageWords * 8))
      val page = open(made, proof, stays = true)
      Files.move(made, made.resolveSibling(s"pacer-progress-$executor.page"), StandardCopyOption.ATOMIC_MOVE)
      page
    } finally {
      Files.deleteIfExists(made)
    }
  }

  /** Maps the page at path, which the node has made; throws IOException if it is too short. */
  def open(path: Path): ProgressPage = open(path, NoProof, stays = false)

  private def open(path: Path, proof: Array[Byte], stays: Boolean): ProgressPage = {
    val channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)
    try {
      if (channel.size() < PageWords * 8) {
        throw new IOException(s"$path has ${channel.size()} bytes, a progress page has ${PageWords * 8}")
      }
      val page = new ProgressPage(channel.map(FileChannel.MapMode.READ_WRITE, 0, PageWords * 8), ProcessHandle.current().pid(), proof)
      if (stays) page.file = channel
      page
    } finally {
      if (!stays) channel.close()
    }
  }
}
