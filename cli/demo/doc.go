// Package demo is what `make demo` runs: one real Spark application three times
// under Pacer on this machine, and what came of it.
//
// # Concepts
//
// The first run has no deadline: it takes all cores and leaves its profile. The
// next ones get that run's duration times 1.3 and 1.6 as their deadlines. All go
// through the commands that a user has: `pacer up` in a directory of its own on
// free ports, `pacer submit`, and what `pacer apps show` shows.
//
// Run drives the runs against a System; Local is the real one. The report is one
// table, one JSON line per run, and one picture per run of set point, progress
// and cores of each stage over time (the source's figure 8).
//
// # Units
//
// Seconds on the deadline clock, which ends at the exit of pacer submit, cores, core-seconds from the first task's
// launch to the last task's end. The field error_pct is Eq 4 of the source, 100 (deadline - duration) / deadline.
//
// # What the caller must do
//
// spark-submit has to be found as `pacer submit` finds it, and the process needs
// the right to write cgroups, as `pacer up` does.
//
// # What it does not do
//
// It repeats nothing and hides nothing: a deadline that was missed, a run whose
// answer differs or that was not paced makes Run return an error after the
// report.
package demo
