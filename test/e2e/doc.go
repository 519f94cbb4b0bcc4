// Package e2e holds the tests that run the real thing from end to end: the built
// binaries, stock Spark from the pyspark wheel, NATS, real cgroups. They need
// root and PACER_TEST_SPARK (make test and make e2e set it) and are skipped with
// a line elsewhere. One test is one user's or operator's story.
//
// What is held to a deadline precisely, or measures a plant, runs first and alone, the
// stories of TestTrouble among it. All others run side by side behind them, in `make test`
// those of package field among them: they have no deadline to meet, or one that leaves time
// for the neighbours.
//
// The machine may be slower for a while than it was. So a test waits for a state,
// not for a moment (patience); measures by CPU time or against the same run; and
// makes a second attempt where a neighbour can spoil the timing of the first, and says so
// (realenv.Repeat). Answers, bindings and exit codes have one attempt.
package e2e
