package org.apache.spark.scheduler.pacer

import java.lang.reflect.{Method, Modifier}

/**
 * Looks whether this Spark still calls what Pacer overrides. A vendor's Spark may have another
 * signature under the version of a stock one; an override for the old one is then never called, silently.
 */
private[scheduler] object Overrides {

  private val binding: Seq[(Class[_], Seq[String])] = Seq(classOf[StageBoundTaskSet] -> Seq("dequeueTaskHelper",
    "addRunningTask", "removeRunningTask", "handleSuccessfulTask", "handleFailedTask", "executorLost"))

  private val scheduling = Seq("submitTasks", "createTaskSetManager", "taskSetFinished", "shuffleOffers",
    "executorAdded", "executorLost", "executorHeartbeatReceived", "start", "stop")

  private val hooks: Seq[(Class[_], Seq[String])] = binding ++ Seq(
    classOf[StageBoundTaskScheduler] -> (scheduling :+ "postStartHook"),
    classOf[PacerSchedulerBackend] -> Seq("maxNumConcurrentTasks", "isExecutorActive", "isReady",
      "sufficientResourcesRegistered", "applicationId", "defaultParallelism"))

  /** Those of Spark's methods that Pacer overrides and this Spark has no more, by class and name. */
  def gone: Seq[String] = hooks.flatMap { case (ours, names) => gone(ours, names) }

  /** The same for an application whose executors another cluster manager starts. */
  def goneOfAttached: Seq[String] =
    (binding :+ (classOf[AttachedScheduler] -> scheduling)).flatMap { case (ours, names) => gone(ours, names) }

  private[pacer] def gone(ours: Class[_], names: Seq[String]): Seq[String] = {
    val sparks = Iterator.iterate[Class[_]](ours.getSuperclass)(_.getSuperclass).takeWhile(_ != null)
      .flatMap(_.getDeclaredMethods).toSeq ++ ours.getSuperclass.getMethods
    names.filterNot { name =>
      val mine = ours.getDeclaredMethods.filter(m => m.getName == name && !m.isBridge)
      mine.nonEmpty && mine.forall(m => sparks.exists(same(m, _)))
    }.map(name => s"${ours.getSuperclass.getSimpleName}.$name")
  }

  private def same(ours: Method, sparks: Method): Boolean =
    sparks.getName == ours.getName && sparks.getReturnType == ours.getReturnType && !Modifier.isPrivate(sparks.getModifiers) &&
      sparks.getParameterTypes.sameElements(ours.getParameterTypes)
}
