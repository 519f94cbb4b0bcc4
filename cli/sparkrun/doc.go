// Package sparkrun runs real Pacer and real Spark as processes of this machine, for the
// demonstration, the benchmarks and the end-to-end tests.
//
// # Concepts
//
// A System says how one Pacer is run: its programs, its address, the place of its
// states. It is a value that tells Commands and starts nothing. Start runs a Command as a
// Process; Daemon also waits until it says that it is ready. A Process collects what it
// prints: Output is all of it, Answer its standard output alone, and with a log file
// the former is kept there. It gets SIGTERM when this process ends, Stop ends it in
// order.
//
// # Units
//
// A Process's time is from just before its start to its exit, by the monotonic clock;
// what it has started may hold its output open a little longer.
//
// # What the caller must do
//
// Every Process is stopped, whatever else fails. Two Systems of one machine have
// different addresses, directories and names of nodes: a name stands for a cgroup.
package sparkrun
