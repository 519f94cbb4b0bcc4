package org.apache.spark.scheduler.pacer

/**
 * A name without what may differ from one run to the next: numbers, dates, hashes, paths and SQL texts.
 * profiles.blinded of the Go module does the same.
 */
private[scheduler] object Blinded {
  private val Identifier = "\\(([A-Za-z_][A-Za-z0-9_.]*)\\)".r
  private val Bracketed = "(?s)\\s*[(\\[].*[)\\]]".r
  private val Quoted = "'[^']*'|\"[^\"]*\"".r
  private val Paths = "[^\\s/]*/\\S*(\\s+[^\\s/]*/\\S*)*".r
  private val UUID = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}".r
  private val Word = "[0-9A-Za-z]+".r
  private val Number = "[0-9]+".r
  private val ShortestHash = 6

  def apply(name: String): String = {
    val text = Quoted.replaceAllIn(Bracketed.replaceAllIn(Identifier.replaceAllIn(name, " $1"), ""), "")
    Word.replaceAllIn(UUID.replaceAllIn(Paths.replaceAllIn(text, "/"), "#"), m => word(m.matched))
  }

  /** A word of letters to f and digits is a hash where it is long enough. */
  private def word(w: String): String =
    if (w.length >= ShortestHash && w.exists(_.isDigit) && w.forall(Character.digit(_, 16) >= 0)) "#"
    else Number.replaceAllIn(w, "#")
}
