package org.apache.spark.pacer

import org.apache.spark.{SecurityManager, SparkConf}

/**
 * Spark's own security as an executor needs it before it can speak to its driver: whether
 * to authenticate and to encrypt, and the secrets for it. What else there is of it the
 * driver tells, as to executors of a standalone cluster.
 *
 * Settings go on the executor's command line, secrets into its environment alone: a
 * command line is read by everybody on the machine.
 */
private[spark] object SparkSecurity {

  /** JVM options with the settings that Spark itself gives to executors at their start, but for its ports. */
  def options(conf: SparkConf): Seq[String] =
    conf.getAll.toSeq.sorted.collect { case (key, value) if atStart(key) => s"-D$key=$value" }

  private def atStart(key: String): Boolean =
    SparkConf.isExecutorStartupConf(key) && !SparkConf.isSparkPortConf(key) && !key.toLowerCase(java.util.Locale.ROOT).contains("password")

  /** The setting where the driver's environment has the secret, as `pacer submit` gives it: Spark wants one. */
  private val elsewhere = "environment:" + SecurityManager.ENV_AUTH_SECRET

  /**
   * The variables in which Spark looks for secrets, with those that are in use. It throws if
   * the secret is in an environment that the driver does not have: everybody knows then what
   * Spark takes for it.
   */
  def environment(security: SecurityManager): Map[String, String] = {
    val none = Map.empty[String, String]
    val secret = if (security.isAuthenticationEnabled()) Map(SecurityManager.ENV_AUTH_SECRET -> security.getSecretKey()) else none
    require(!secret.values.exists(_ == elsewhere), s"the driver has no ${SecurityManager.ENV_AUTH_SECRET} in its environment, where pacer submit puts it")
    secret ++ (if (security.isSslRpcEnabled()) security.getEnvironmentForSslRpcPasswords else none)
  }

  /** What a user should know whose executors and driver take anybody for each other. */
  def warning(security: SecurityManager): Option[String] =
    if (security.isAuthenticationEnabled()) None
    else Some("spark.authenticate is off: who reaches the driver's port can take part in the application (pacer submit sets it)")
}
