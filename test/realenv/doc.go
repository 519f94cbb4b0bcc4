// Package realenv runs the real thing for the end-to-end tests and the
// benchmarks: the built binaries as processes, real Spark, real cgroups. It is
// package sparkrun for a test: what fails there is the test's failure.
//
// A System is one Pacer on this machine with a state directory, ports and a
// cgroup parent of its own, so that several may run side by side. Everything
// it starts is stopped when the test ends, by process id. Sizes are small: the
// machine has two cores.
package realenv
