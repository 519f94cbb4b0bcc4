// Package cli is the `pacer` command: its sub-commands, their tables and JSON,
// their exit codes, and the wrapper around spark-submit.
//
// # Concepts
//
// Run takes the arguments and the three streams and returns the exit code;
// nothing here ends the process, so tests call it as a shell would. A command
// that asks a running planner goes through the control client of package bus; the
// daemons that `pacer up` starts are wired in package daemon.
//
// `pacer submit` reads its arguments as spark-submit does: options with their
// arity until the application, which and all that follows belong to the
// application. Flags that start with --pacer- are its own, all others are passed
// on in their order. It adds the master, the jar and spark.pacer.* settings in
// front, checks that the planner answers before it starts anything, leaves
// standard input, output and error to spark-submit and returns its exit code.
//
// # Units
//
// Durations parse in Spark's notation ("90s", "15m"); tables print seconds,
// cores and core-seconds, JSON follows package api.
//
// # What it does not do
//
// It decides nothing: verdicts, deadlines and cores come from the planner. Package
// command has what all programs share, `pacer up` among it, package config the
// configuration.
package cli
