package io.sparkpacer.workloads

/**
 * What to run: a workload and the value of each of its settings.
 */
final case class Arguments(workload: Workload, values: Map[String, Double]) {
  def apply(name: String): Double = values(name)
  def long(name: String): Long = values(name).toLong
  def int(name: String): Int = values(name).toInt

  /** The settings in the workload's order, as they would be written. */
  override def toString: String =
    workload.settings.map(s => s"--${s.name} ${Setting.show(values(s.name))}").mkString(s"${workload.name} ", " ", "")
}

object Arguments {
  private val ScaleSetting = Setting("scale", 1, 0.0001, 10000, "times the workload's size; 1 takes about 60 s on two cores", whole = false)

  /** Reads a command line; what is wrong with it is one line. */
  def parse(args: Seq[String]): Either[String, Arguments] = args.toList match {
    case Nil => Left(s"no workload is named: want ${Workload.names}")
    case name :: rest =>
      for {
        workload <- Workload.named(name).toRight(s"workload $name: want ${Workload.names}")
        read <- pairs(workload, rest, Map.empty)
        scale <- scaleOf(workload, read)
        sized <- check(workload, workload.settings.map(s => s.name -> value(s, read.get(s.name), scale)).toMap)
      } yield Arguments(workload, sized)
  }

  /** The command line in full, for --help. */
  def usage: String = {
    val common = s"usage: NAME [--slice | --scale X] [--SETTING VALUE]...\n  --slice  the size that takes about 15 s\n" + line(ScaleSetting)
    Workload.all.map(w => s"${w.name}\n" + w.settings.map(line).mkString("\n")).mkString(common + "\n", "\n", "\n")
  }

  private def line(s: Setting): String = f"  --${s.name}%-11s ${s.meaning} (${Setting.show(s.default)})"

  private type Read = Map[String, Double]

  @annotation.tailrec
  private def pairs(w: Workload, args: List[String], read: Read): Either[String, Read] = args match {
    case Nil => Right(read)
    case option :: rest =>
      val name = option.stripPrefix("--")
      if (!option.startsWith("--") || (name != "slice" && !known(w).exists(_.name == name))) {
        Left(s"$option: ${w.name} takes --slice, ${known(w).map("--" + _.name).mkString(", ")}")
      } else if (read.contains(name)) {
        Left(s"$option is given twice")
      } else if (name == "slice") {
        pairs(w, rest, read + (name -> 1))
      } else rest match {
        case Nil => Left(s"$option: no value is given")
        case text :: more => known(w).find(_.name == name).get.read(text) match {
          case Left(fault) => Left(fault)
          case Right(v) => pairs(w, more, read + (name -> v))
        }
      }
  }

  private def known(w: Workload): Seq[Setting] = ScaleSetting +: w.settings

  private def scaleOf(w: Workload, read: Read): Either[String, Double] = {
    val size = w.settings.filter(_.scaled).map(_.name).filter(read.contains)
    Seq("slice", ScaleSetting.name).filter(read.contains) ++ size match {
      case Seq(one, two, _*) => Left(s"--$one and --$two: give one of them")
      case _ if read.contains("slice") => Right(w.slice)
      case _ => Right(read.getOrElse(ScaleSetting.name, 1.0))
    }
  }

  private def value(s: Setting, read: Option[Double], scale: Double): Double =
    read.getOrElse(if (s.scaled) (s.default * scale).round.toDouble.max(s.least).min(s.most) else s.default)

  private def check(w: Workload, values: Read): Either[String, Read] =
    w.settings.find(_.scaled).filter(size => values(size.name) < values("partitions")).map(size =>
      s"--partitions ${Setting.show(values("partitions"))}: there are ${Setting.show(values(size.name))} ${size.name} only").toLeft(values)
}
