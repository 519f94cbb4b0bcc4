package org.apache.spark.scheduler.pacer

import scala.collection.mutable

import org.apache.spark.pacer.Wire.{Binding, Directive, DirectiveExecutor, StageKey, StageShares}

/**
 * Which executor runs which stage's tasks, and how many: the decisions of the
 * stage-bound scheduler as a value without clock, thread or Spark. Not
 * thread-safe.
 *
 * '''Gated''', a stage that is ready gets idle executors of each node, as many as the planner
 * says (one, unless they have fewer cores than the node), those with most of its cached blocks;
 * a stage that finds none waits (and is counted), and is served first, in order of job and
 * stage, when an executor comes free. An executor belongs to one stage at a time. Others get
 * the executors of a stage whose place was taken at once, beside its tasks that still run
 * (zombies), and those that run nothing of a stage whose tasks are all launched after RestNanos. A stage that misses some of a node takes what comes
 * free there, and one that has several gives one to a stage that waits.
 *
 * '''Shares''' (docs/decisions/001): the weight of the stage's tasks is divided over its
 * executors by their nodes' capacity, and an executor is admitted to another
 * task while the weight launched there is below its share. One that is through
 * with its share while others have tasks left gets a part of the rest, so a slow
 * node does not hold up the stage. The planner may divide the rest otherwise
 * while the stage runs, each time by a new revision (StageShares).
 *
 * '''Leaving''' executors launch nothing more: their rest goes to others, and they
 * are unbound when nothing of the stage runs on them.
 *
 * '''Copies''': a stage's last task that runs alone, CopyTimes as long as its weight says by the others, and
 * for which its stage is late by the planner's word (shares that leave nothing to divide), is copied to an executor that runs nothing, on another node if there is one; that has its weight as well.
 *
 * A stage of '''another pool''' of a fair scheduler than the planner names is bound to all
 * executors, beside the stages that own them, without shares: which task is next Spark's pools say.
 *
 * '''Ungated''', all stages run on the first (lowest ids) executors of each node, as many as
 * one stage has there, as in stock Spark, without shares.
 *
 * '''No task is stranded''': as long as a stage has an executor and a task that was
 * never launched or came back, some executor of it is admitted: shares add up to
 * what is launched on them plus the rest, and are divided anew when they do not.
 * Should a stage get nothing to run for StallNanos all the same (excluded
 * executors, say), gated or not, its gate is opened for good.
 *
 * Weights are Long, in millionths of the mean task. Changes of bindings are
 * kept for takeChanges.
 */
private[scheduler] final class StageBindings {
  import StageBindings._

  private val stages = mutable.LinkedHashMap[StageKey, Stage]()
  private val alive = mutable.LinkedHashMap[String, String]() // Executor -> host.
  private var listed = Map.empty[String, DirectiveExecutor]
  private var epoch = -1L
  private var isGated = false
  private var pool = "" // Of a fair scheduler, which the deadline hangs on.
  private var openedFor: Option[String] = None
  private val changed = mutable.LinkedHashSet[StageKey]()
  private var freed = false
  private var waits = 0L
  private var owed = 0 // How many executors are to be given to stages that wait.

  /** How often a stage found no executor and had to wait. */
  def waited: Long = waits

  /** Whether stages own executors now. */
  def gated: Boolean = isGated && openedFor.isEmpty

  /** Why gating was given up for good, if it was. */
  def opened: Option[String] = openedFor

  def executors: Seq[String] = alive.keys.toSeq

  /** Takes the planner's whole word; returns false for one that is older than the last. */
  def follow(directive: Directive): Boolean = {
    if (directive.epoch < epoch) {
      false
    } else {
      epoch = directive.epoch
      val before = listed.keySet.filter(leaving)
      listed = directive.executors.map(e => e.id -> e).toMap
      val was = gated
      isGated = directive.gated
      pool = directive.pool
      if (!listed.keySet.filter(leaving).subsetOf(before)) vacate()
      if (gated != was) rebindAll() else bindFree()
      directive.shares.foreach(handOver)
      true
    }
  }

  /** Lets a planner that has lost its state begin with a small epoch again. */
  def forgetEpoch(): Unit = {
    epoch = -1
    stages.valuesIterator.foreach(_.handedOver = 0)
  }

  /** Gives gating up for the rest of the application. */
  def openForGood(reason: String): Unit = if (openedFor.isEmpty) {
    val was = gated
    openedFor = Some(reason)
    if (was) rebindAll()
  }

  def executorUp(id: String, host: String): Unit = if (!alive.contains(id)) {
    alive(id) = host
    bindFree()
  }

  /** Its tasks come back one by one through returned. */
  def executorGone(id: String): Unit = if (alive.remove(id).isDefined) {
    stages.valuesIterator.filter(_.bound.contains(id)).foreach { s =>
      s.bound -= id
      divide(s)
      changed += s.key
    }
    bindFree()
  }

  /**
   * A stage's tasks can run.
   *
   * @param order   the place in the queue: job, stage, attempt
   * @param weights one per task
   * @param cached  how many of its tasks have cached blocks on which executor
   * @param barrier all its tasks start together, so shares do not bind it
   * @param pool    its pool of a fair scheduler, "" without one
   */
  def ready(key: StageKey, order: Int, weights: Array[Long], cached: Map[String, Int], barrier: Boolean, pool: String = ""): Seq[Binding] = {
    val beside = pool.nonEmpty && this.pool.nonEmpty && pool != this.pool
    val stage = new Stage(key, order, weights, cached, barrier, beside)
    stages(key) = stage
    bindFree()
    if (gated && stage.bound.isEmpty && alive.nonEmpty) waits += 1
    changed -= key
    bindings(stage)
  }

  /** The stage attempt has ended: its executors are free at once. */
  def done(key: StageKey): Unit = stages.remove(key).foreach { s =>
    changed -= key
    freed |= s.bound.nonEmpty
    bindFree()
  }

  /**
   * The stage attempt starts no more tasks: those that run are zombies, and the other slots of its
   * executors go to stages that wait.
   */
  def retire(key: StageKey): Unit = stages.get(key).filterNot(_.retired).foreach { s =>
    s.retired = true
    bindFree()
  }

  /**
   * Says in which order stages get executors that come free: all that wait, but for those that have
   * become ready since it was called last, which come behind.
   */
  def queue(keys: Seq[StageKey]): Unit = keys.zipWithIndex.foreach { case (key, i) =>
    stages.get(key).foreach(_.order = i - keys.size)
  }

  /** Whether a task of the stage, or the copy of one that was asked for, may start on the executor now. */
  def admits(key: StageKey, executor: String, speculative: Boolean): Boolean = stages.get(key).exists { s =>
    if (speculative) {
      s.bound(executor) && s.copyOn.contains(executor)
    } else if (!s.bound.contains(executor)) {
      s.open && alive.contains(executor)
    } else if (!gated || s.open || s.barrier || s.beside) {
      true
    } else {
      // Idle with its share done: hand over a part of what others have left. The
      // second case: tasks came back that no share has room for.
      if (s.full(executor) && s.rest > 0 && (s.running(executor) == 0 || s.bound.forall(s.full))) {
        divide(s)
        changed += key
      }
      !s.full(executor)
    }
  }

  /** A task of the stage was given to the executor. */
  def launched(key: StageKey, index: Int, executor: String): Unit = stages.get(key).foreach { s =>
    s.hold(index, executor)
    s.running(executor) += 1
    s.spareSince -= executor
    s.rested -= executor
    s.idleSince = -1
    if (s.copyOn.contains(executor)) s.copyOn = None
  }

  /** A task of the stage has succeeded after so many milliseconds. */
  def succeeded(key: StageKey, index: Int, ran: Long): Unit = stages.get(key).foreach(_.note(index, ran))

  /**
   * Has a task copied that runs alone, for so many milliseconds, when the stage's others have ended: if it takes
   * much longer than these say, and the planner has said that the stage is late for it. Its attempts so far were
   * started on those executors. Returns the one that admits the copy from now on.
   */
  def copy(key: StageKey, index: Int, ran: Long, tried: Seq[String]): Option[String] = for {
    s <- stages.get(key) if s.late && !s.open && !s.barrier && !s.asks && !s.retired && !s.copyOn.exists(s.bound)
    if s.running.valuesIterator.sum == 1 && s.slow(index, ran)
    e <- idleFor(s).filterNot(tried.contains).sortBy(capacityOf)(Ordering.Double.TotalOrdering.reverse)
      .sortBy(e => tried.exists(t => alive.contains(t) && nodeOf(t) == nodeOf(e))).headOption
  } yield {
    s.copyOn = Some(e)
    s.bound += e
    s.share(e) = s.launched(e) + s.weights(index)
    changed += key
    freed = true
    e
  }

  /** Executors that run nothing, lowest id first: of the stage, or of none where it may have one more. */
  private def idleFor(s: Stage): Seq[String] = nodes.valuesIterator.flatMap { there =>
    val more = there.count(s.bound) < perStage(there)
    there.filter(e => stages.valuesIterator.forall(o => o.running(e) == 0 && ((o eq s) || !o.bound(e))) && (more || s.bound(e)))
  }.toSeq.sorted(ById)

  /** The weight of the stage's heaviest task that waits, 0 if none does. */
  def heaviestWaiting(key: StageKey): Long = stages.get(key).fold(0L)(_.heaviest)

  /** A task attempt runs no longer, whatever became of it. */
  def ended(key: StageKey, executor: String): Unit = stages.get(key).foreach { s =>
    s.running(executor) = math.max(0, s.running(executor) - 1)
    val left = leaving(executor) && s.bound.contains(executor)
    if (left) vacate()
    if (left || s.free(executor) || owed > 0 && s.running(executor) == 0) bindFree()
  }

  /** A task that was launched has to run again. */
  def returned(key: StageKey, index: Int): Unit = stages.get(key).foreach { s =>
    val asked = s.asks
    s.release(index)
    if (!asked && s.asks) bindFree()
  }

  /**
   * Watches for stages that get nothing to run although they could (see above), and lets others
   * have the executors that a stage has not used for RestNanos and will not use. To be called about
   * once a second; returns those whose gate it has opened. Ungated, stages share executors, and
   * one waits for the tasks of others as long as any runs that is no zombie.
   */
  def watch(now: Long): Seq[StageKey] = {
    val anything = stages.valuesIterator.exists(s => !s.retired && s.running.valuesIterator.sum > 0)
    val opened = stages.valuesIterator.filter { s =>
      val stuck = !s.open && alive.nonEmpty && s.asks && s.running.valuesIterator.sum == 0 &&
        (gated && s.bound.nonEmpty || !anything)
      if (!stuck) {
        s.idleSince = -1
      } else if (s.idleSince < 0) {
        s.idleSince = now
      }
      stuck && now - s.idleSince >= StallNanos
    }.map { s =>
      s.open = true
      freed = true
      s.key
    }.toList
    rest(now)
    opened
  }

  /** Notes for how long executors have been spare. */
  private def rest(now: Long): Unit = {
    var more = false
    for (s <- stages.valuesIterator; e <- s.bound) {
      if (!s.spare(e)) {
        s.spareSince -= e
      } else if (!s.spareSince.contains(e)) {
        s.spareSince(e) = now
      } else if (!s.rested(e) && now - s.spareSince(e) >= RestNanos) {
        s.rested += e
        more = true
      }
    }
    if (more) bindFree()
  }

  /** Bindings that have changed since the last call, other than by ready. */
  def takeChanges(): Seq[(StageKey, Seq[Binding])] = {
    val out = changed.iterator.flatMap(stages.get).map(s => s.key -> bindings(s)).toList
    changed.clear()
    out
  }

  /** Whether executors came free or were bound since the last call, so that offers are worth reviving. */
  def takeFreed(): Boolean = {
    val was = freed
    freed = false
    was
  }

  /** The bindings in force, for a stage that is running. */
  def current(key: StageKey): Seq[Binding] = stages.get(key).map(bindings).getOrElse(Nil)

  /** How many executors one stage can have at a time of each node, and which these can be. */
  def boundable: Seq[(Int, Seq[String])] =
    nodes.valuesIterator.map(there => math.min(there.size, perStage(there)) -> there).toSeq

  private def bindings(s: Stage): Seq[Binding] = s.bound.toSeq.sorted(ById).map { e =>
    val share = s.share(e)
    Binding(e, share.toDouble / MeanWeight, math.round(s.weights.length.toDouble * share / math.max(1L, s.total)).toInt)
  }

  /** Executors that may be bound, by node, lowest id first: those listed, else all, none that leaves. */
  private def nodes: Map[String, Seq[String]] = {
    val known = alive.keys.filter(e => listed.contains(e) && !leaving(e)).toSeq
    // A planner that lists none of them must not stop the application.
    val usable = if (known.nonEmpty) known else alive.keys.filterNot(leaving).toSeq
    usable.sorted(ById).groupBy(nodeOf)
  }

  /**
   * The node that an executor is listed on. One that is not listed yet is on that of a listed one
   * at its host, so that it has the same node before and after it is listed.
   */
  private def nodeOf(executor: String): String = listedOn(executor).getOrElse {
    val host = alive.getOrElse(executor, "")
    alive.iterator.collect { case (e, `host`) => e }.flatMap(listedOn).nextOption().getOrElse("host " + host)
  }

  private def listedOn(executor: String): Option[String] = listed.get(executor).map(_.node).filter(_.nonEmpty)

  /** How many executors of a node one stage has. */
  private def perStage(there: Seq[String]): Int = there.iterator.flatMap(listed.get).map(_.perStage).foldLeft(1)(math.max)

  private def leaving(executor: String): Boolean = listed.get(executor).exists(_.leaving)

  private def capacityOf(executor: String): Double =
    if (leaving(executor)) 0.0 else listed.get(executor).map(_.cores).filter(c => c > 0 && !c.isInfinite).getOrElse(1.0)

  private def rebindAll(): Unit = {
    stages.valuesIterator.foreach(_.bound.clear())
    freed = true
    bindFree()
    changed ++= stages.keys
  }

  /**
   * Binds what can be bound, also executors that their stages leave to others: waiting stages first,
   * then stages that miss some on a node. A stage keeps what nobody else needs: tasks may come back.
   */
  private def bindFree(): Unit = {
    val byNode = nodes.values.toSeq.sortBy(_.head)(ById)
    owed = 0
    if (gated) {
      val (beside, owners) = stages.values.toSeq.partition(_.beside)
      beside.foreach(spread(_, byNode.flatten.toSet))
      val queue = owners.filter(_.asks).sortBy(s => (s.bound.nonEmpty, s.order, s.key.stage, s.key.attempt))
      val holders = mutable.Map[String, Stage]() ++ owners.flatMap(s => s.bound.map(_ -> s))
      val zombies = stages.valuesIterator.filter(_.retired).flatMap(_.running).toSeq.groupMapReduce(_._1)(_._2)(_ + _)
      queue.foreach { s =>
        val has = s.bound.toSeq.groupBy(nodeOf)
        val gained = byNode.flatMap { there =>
          there.filter(e => holders.get(e).forall(_.free(e)))
            .sortBy(e => (zombies.getOrElse(e, 0), -s.cached.getOrElse(e, 0), holders.contains(e), there.indexOf(e)))
            .take(perStage(there) - has.get(nodeOf(there.head)).fold(0)(_.size))
        }
        gained.foreach { e =>
          holders.get(e).foreach(release(_, e))
          holders(e) = s
        }
        if (gained.nonEmpty) bind(s, gained)
      }
      give(queue, byNode)
    } else {
      val leaders = byNode.flatMap(there => there.take(perStage(there))).toSet
      stages.valuesIterator.foreach(spread(_, leaders))
    }
  }

  private def spread(s: Stage, executors: Set[String]): Unit = if (s.bound != executors) {
    s.bound.clear()
    bind(s, executors)
  }

  /**
   * Has stages of several executors on a node give one to each stage that waits: an idle one at once,
   * else the one with the fewest tasks starts no more, and the first that is idle goes over. The tasks
   * of a barrier stage start together: it gives none, and one would not do for it.
   */
  private def give(queue: Seq[Stage], byNode: Seq[Seq[String]]): Unit = {
    val gave = stages.valuesIterator.flatMap(s => s.gives.filter(s.bound)).toSet
    stages.valuesIterator.foreach(_.gives.clear())
    queue.iterator.filter(s => s.bound.isEmpty && !s.barrier).map(_ -> giver(byNode, gave))
      .takeWhile(_._2.nonEmpty).foreach { case (s, found) =>
        val (from, executor) = found.get
        val idle = from.running(executor) == 0
        if (idle) {
          from.bound -= executor
        } else {
          from.gives += executor
          owed += 1
        }
        if (idle || !gave(executor)) {
          divide(from)
          changed += from.key
        }
        if (idle) bind(s, Seq(executor))
      }
  }

  /**
   * The executor to be given next, with the stage that has it: an idle one, one that gave before, one
   * with fewer tasks, the last one.
   */
  private def giver(byNode: Seq[Seq[String]], gave: Set[String]): Option[(Stage, String)] = {
    val all = for {
      there <- byNode.iterator if perStage(there) > 1
      s <- stages.valuesIterator if !s.barrier && !s.beside
      can = there.filter(e => s.bound(e) && !s.gives(e)) if can.size > 1
      e <- can
    } yield (s, e)
    all.reduceOption { (best, next) =>
      val (tasks, least) = (next._1.running(next._2), best._1.running(best._2))
      val better = if (tasks > 0 && least > 0 && gave(next._2) != gave(best._2)) gave(next._2) else tasks <= least
      if (better) next else best
    }
  }

  /** Takes an executor that is free off the stage that has it. The shares of the others stay. */
  private def release(s: Stage, executor: String): Unit = {
    s.bound -= executor
    changed += s.key
  }

  private def bind(s: Stage, executors: Iterable[String]): Unit = {
    s.bound ++= executors
    s.gives --= executors
    divide(s)
    changed += s.key
    freed = true
  }

  /** Takes from executors that leave what they have not launched, and those through with it off their stages. */
  private def vacate(): Unit = stages.valuesIterator.filter(_.bound.exists(leaving)).foreach { s =>
    s.bound --= s.bound.filter(e => leaving(e) && s.running(e) == 0).toList
    divide(s)
    changed += s.key
    freed = true
  }

  /**
   * Gives each executor that part of the rest which its share lacks of the planner's. Where there is no rest, and
   * none of a task is lacking or one task runs, the planner has said that what runs is late: it may know older shares.
   */
  private def handOver(h: StageShares): Unit = stages.get(h.key).filter(h.rev > _.handedOver).foreach { s =>
    s.handedOver = h.rev
    val lacks = s.bound.iterator.map(e => e -> math.max(0.0, h.weights.getOrElse(e, 0.0) * MeanWeight - s.launched(e))).toMap
    val sum = lacks.valuesIterator.sum
    // Else tasks were to move that have started.
    s.late |= gated && !s.asks && (sum < MeanWeight || s.running.valuesIterator.sum == 1)
    if (gated && sum > 0) {
      divide(s, lacks)
      changed += s.key
      freed = true
    }
  }

  /**
   * Divides what is not launched over the stage's executors but for those that it gives away, by capacity
   * unless told otherwise, to the last millionth.
   */
  private def divide(s: Stage, weigh: String => Double = capacityOf): Unit = if (s.bound.nonEmpty) {
    val executors = s.bound.toSeq.sorted(ById)
    val by: String => Double = e => if (s.gives(e)) 0.0 else weigh(e)
    val sum = executors.map(by).sum
    val part: String => Double = if (sum > 0) e => by(e) / sum else _ => 1.0 / executors.size
    // The last one that gets anything gets what rounding has left.
    val last = executors.filter(part(_) > 0).last
    val rest = s.rest
    var shared = 0L
    var upTo = 0.0
    executors.foreach { e =>
      upTo += part(e)
      val end = if (e == last) rest else math.min(rest, math.max(shared, math.round(rest * upTo)))
      s.share(e) = s.launched(e) + (if (part(e) > 0) end - shared else 0L)
      if (part(e) > 0) shared = end
    }
  }
}

private[scheduler] object StageBindings {
  val MeanWeight = 1000000L

  /** How long a stage may have executors, tasks and nothing running. */
  val StallNanos: Long = 10L * 1000 * 1000 * 1000

  /**
   * How long a stage whose tasks are all launched keeps an executor that runs none of them while
   * other stages wait. Most executors end a stage at about the same time, and a stage that starts
   * on all of them is planned better than one that starts on the first.
   */
  val RestNanos: Long = 3L * 1000 * 1000 * 1000

  /** A task is slow that takes so many times as long as its weight and the stage's median say, and as many milliseconds. */
  private val CopyTimes = 3.0
  private val CopyMillis = 2000L

  /** How many tasks say at least how long one takes. */
  private val CopyKnown = 3

  /** Executor ids are decimal; others come last. */
  val ById: Ordering[String] = Ordering.by[String, (Long, String)](id => (id.toLongOption.getOrElse(Long.MaxValue), id))

  private final class Stage(
      val key: StageKey,
      var order: Int,
      val weights: Array[Long],
      val cached: Map[String, Int],
      val barrier: Boolean,
      val beside: Boolean) { // It is bound to all executors, whosever they are.
    val total: Long = weights.sum
    val bound: mutable.Set[String] = mutable.Set[String]()
    val share: mutable.Map[String, Long] = mutable.Map[String, Long]().withDefaultValue(0L)
    val launched: mutable.Map[String, Long] = mutable.Map[String, Long]().withDefaultValue(0L)
    val running: mutable.Map[String, Int] = mutable.Map[String, Int]().withDefaultValue(0)
    /** Since when watch has seen an executor spare, and which have been so for RestNanos. */
    val spareSince: mutable.Map[String, Long] = mutable.Map[String, Long]()
    val rested: mutable.Set[String] = mutable.Set[String]()
    /** Those that go to a stage that waits once they are idle. */
    val gives: mutable.Set[String] = mutable.Set[String]()
    /** Any executor may take its tasks. */
    var open = false
    /** A newer attempt has its place. */
    var retired = false
    var idleSince: Long = -1L
    /** By the planner, since all its tasks are launched. */
    var late = false
    /** Where a copy of the last task is to start. */
    var copyOn = Option.empty[String]
    /** The newest hand-over that was followed. */
    var handedOver = 0L
    var rest: Long = total
    var unlaunched: Int = weights.length
    private val holders = new Array[String](weights.length)
    /** Tasks by falling weight; those before next are launched. */
    private lazy val byWeight = TaskWeights.heaviestFirst(weights)
    private var next = 0
    /** Milliseconds that each task took for a mean task's weight, 0 where it has not succeeded; their median, -1 for not known. */
    private lazy val took = new Array[Double](weights.length)
    private var median = -1.0

    def note(index: Int, ran: Long): Unit = {
      took(index) = math.max(1L, ran).toDouble * MeanWeight / math.max(1L, weights(index))
      median = -1
    }

    /** Whether a task that runs for so many milliseconds is slow. */
    def slow(index: Int, ran: Long): Boolean = ran >= CopyMillis && {
      if (median < 0) {
        val known = took.filter(_ > 0).sorted(Ordering.Double.TotalOrdering)
        median = if (known.length < CopyKnown) Double.PositiveInfinity else known(known.length / 2)
      }
      ran > CopyTimes * median * weights(index) / MeanWeight
    }

    /** The weight of the heaviest task that waits, 0 if none does. */
    def heaviest: Long = {
      while (next < byWeight.length && holders(byWeight(next)) != null) next += 1
      if (next < byWeight.length) weights(byWeight(next)) else 0L
    }

    /** Whether there are tasks to start. */
    def asks: Boolean = unlaunched > 0 && !retired

    /** Whether an executor of the stage has nothing of it to run or to start. */
    def spare(executor: String): Boolean = running(executor) == 0 && !asks

    /**
     * Whether others may have an executor of the stage. What runs of a retired one are zombies: they
     * leave the other slots to whatever waits.
     */
    def free(executor: String): Boolean = retired || rested(executor) && spare(executor)

    /** Whether all of the executor's share is launched. */
    def full(executor: String): Boolean = launched(executor) >= share(executor)

    def hold(index: Int, executor: String): Unit = {
      release(index)
      holders(index) = executor
      launched(executor) += weights(index)
      rest -= weights(index)
      unlaunched -= 1
    }

    def release(index: Int): Unit = if (holders(index) != null) {
      launched(holders(index)) -= weights(index)
      holders(index) = null
      next = 0
      rest += weights(index)
      unlaunched += 1
    }
  }
}
