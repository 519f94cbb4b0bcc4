// Package field runs what people run who have Spark under a scheduler, on real Spark, as
// they do: programs that catch a failed job, work on when their context has stopped, have
// several contexts or a master of their own, are killed, or go on when their terminal is
// closed.
//
// What is expected is what stock spark-submit does with the program: its answer, the lines
// that begin with RESULT, and its exit code. Under Pacer the program runs once and is
// recorded, then with a deadline of one and a half times what its caller waited. Nothing is
// set that a user would not set.
//
// Some stories run in `make test`, all of them with PACER_TEST_ALL, in `make test-all`.
package field
