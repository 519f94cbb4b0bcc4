package org.apache.spark.scheduler.pacer

import java.nio.file.{Files, Path, Paths}
import java.util.Locale

import scala.jdk.CollectionConverters._

import org.junit.jupiter.api.Assertions._
import org.junit.jupiter.api.Test

import org.apache.spark.pacer.Wire.{Binding, Directive, DirectiveExecutor, StageKey, StageShares}

/**
 * Plays the transcripts of driver/testdata/bindings, which the Go package driver plays
 * too: each line is a call and, after an arrow, what it returns. rules.txt there says
 * how the calls are written.
 */
class StageBindingsTranscriptTest {
  import StageBindingsTranscriptTest._

  @Test def theRules(): Unit = play(dir.resolve("rules.txt"))
  @Test def whatWasDrawn(): Unit = play(dir.resolve("drawn.txt"))
  @Test def whatWasDrawnWithSeveralOfANode(): Unit = play(dir.resolve("several.txt"))

  private def play(file: Path): Unit = {
    val player = new Player
    val lines = Files.readAllLines(file).asScala
    assertTrue(lines.size > 100, s"$file is short")
    lines.zipWithIndex.filterNot { case (line, _) => line.isEmpty || line.startsWith("#") }.foreach { case (line, i) =>
      val call = line.split(" -> ")(0)
      val played = player.play(call.split(" ").toList).fold(call)(result => s"$call -> $result")
      assertEquals(line, played, s"$file, line ${i + 1}")
    }
  }
}

object StageBindingsTranscriptTest {
  private val dir = Paths.get("..", "driver", "testdata", "bindings")

  /** Makes calls and writes what they return. */
  private final class Player {
    private var b = new StageBindings

    def play(call: List[String]): Option[String] = call match {
      case List("new") => silent { b = new StageBindings }
      case "follow" :: epoch :: gated :: rest => Some(b.follow(directive(epoch.toLong, gated == "gated", rest)).toString)
      case List("forget") => silent(b.forgetEpoch())
      case List("open", reason) => silent(b.openForGood(reason))
      case List("up", id, host) => silent(b.executorUp(id, host))
      case List("gone", id) => silent(b.executorGone(id))
      case "ready" :: stage :: order :: weights :: rest =>
        val cached = rest.filter(_.contains("=")).map(_.split("=")).map(x => x(0) -> x(1).toInt).toMap
        Some(bindings(b.ready(key(stage), order.toInt, weighted(weights), cached, rest.contains("barrier"), pool(rest))))
      case List("done", stage) => silent(b.done(key(stage)))
      case "queue" :: stages => silent(b.queue(stages.map(key)))
      case List("retire", stage) => silent(b.retire(key(stage)))
      case "admits" :: stage :: id :: rest => Some(b.admits(key(stage), id, rest.nonEmpty).toString)
      case List("launched", stage, index, id) => silent(b.launched(key(stage), index.toInt, id))
      case List("ended", stage, id) => silent(b.ended(key(stage), id))
      case List("returned", stage, index) => silent(b.returned(key(stage), index.toInt))
      case List("succeeded", stage, index, millis) => silent(b.succeeded(key(stage), index.toInt, millis.toLong))
      case _ => Some(ask(call))
    }

    private def ask(call: List[String]): String = call match {
      case "copy" :: stage :: index :: millis :: tried => b.copy(key(stage), index.toInt, millis.toLong, tried).getOrElse("none")
      case List("heaviest", stage) => b.heaviestWaiting(key(stage)).toString
      case List("watch", millis) => list(b.watch(millis.toLong * 1000000L).map(name), " ")
      case List("changes") => list(b.takeChanges().map { case (stage, bound) => s"${name(stage)}: ${bindings(bound)}" }, "; ")
      case List("freed") => b.takeFreed().toString
      case List("current", stage) => bindings(b.current(key(stage)))
      case List("executors") => list(b.executors, " ")
      case List("waited") => b.waited.toString
      case List("gated") => b.gated.toString
      case List("opened") => b.opened.getOrElse("none")
      case List("boundable") => s"${b.boundable.map(_._1).sum} of ${b.boundable.map(_._2.size).sum}"
      case _ => fail(s"no call ${call.mkString(" ")}")
    }

    private def silent(call: => Unit): Option[String] = {
      call
      None
    }
  }

  private def directive(epoch: Long, gated: Boolean, rest: List[String]): Directive = {
    val (executors, shares) = rest.span(_ != "shares")
    Directive(epoch, gated, executors.filterNot(_.startsWith("pool:")).map(executor), "", shares = handOvers(shares), pool = pool(executors))
  }

  private def pool(words: List[String]): String = words.find(_.startsWith("pool:")).fold("")(_.stripPrefix("pool:"))

  private def executor(text: String): DirectiveExecutor = {
    val Array(id, at) = text.split("@")
    val parts = at.split(":")
    DirectiveExecutor(id, parts(0), parts(1).toDouble, leaving = parts.contains("leaving"),
      perStage = parts.lift(2).flatMap(_.toIntOption).getOrElse(1))
  }

  private def handOvers(rest: List[String]): List[StageShares] = rest match {
    case "shares" :: stage :: rev :: more =>
      val (weights, others) = more.span(_ != "shares")
      StageShares(key(stage), rev.toLong, weights.map(_.split("=")).map(x => x(0) -> x(1).toDouble).toMap) :: handOvers(others)
    case _ => Nil
  }

  private def weighted(text: String): Array[Long] = text.split(",").flatMap(_.split("x") match {
    case Array(times, weight) => Array.fill(times.toInt)(weight.toLong)
    case Array(weight) => Array(weight.toLong)
  })

  private def key(text: String): StageKey = {
    val Array(stage, attempt) = text.split("\\.")
    StageKey(stage.toInt, attempt.toInt)
  }

  private def name(key: StageKey): String = s"${key.stage}.${key.attempt}"

  private def list(all: Seq[String], between: String): String = if (all.isEmpty) "none" else all.mkString(between)

  private def bindings(bound: Seq[Binding]): String = list(bound.map(x => s"${x.executor}=${decimal(x.weight)}/${x.tasks}"), " ")

  /** Six decimals at most: a weight in millionths is exact. */
  private def decimal(x: Double): String = "%.6f".formatLocal(Locale.ROOT, x).reverse.dropWhile(_ == '0').reverse.stripSuffix(".")
}
