// Package e2e holds the tests that run the real thing from end to end: the built
// binaries, stock Spark from the pyspark wheel, NATS, real cgroups. They need
// root and PACER_TEST_SPARK (make test and make e2e set it) and are skipped with
// a line elsewhere. One test is one user's or operator's story. Those without a
// deadline to meet run side by side, after those that need the machine alone.
package e2e
