// Package sparklog has what tests and benchmarks ask Spark's event log of a run.
//
// # Concepts
//
// Flags are those of spark-submit that make Read's input in a directory. A Log is the
// application as package eventlog reads it, with all its tasks: the runs of tests are small.
//
// # Units
//
// Moments are Unix milliseconds.
package sparklog
