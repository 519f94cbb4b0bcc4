// Package spark carries pacer-spark.jar, Pacer's part in the Spark driver and executors, inside the Go binaries. Its
// sources and its Maven build stand in this directory, the jar is built before the binaries (make build) and not
// committed. Without it the packages compile all the same, and a binary says ErrNoJar when it has to hand the jar out.
//
// The jar is written where it is needed under a name that holds its hash, so that different releases do not overwrite
// each other's while JVMs run from them. All executors of a node share one file.
package spark
