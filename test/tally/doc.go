// Command tally reads what `go test -json` writes and prints what a person wants
// of it: a line per package and per test of 10 s or more, the output of what failed,
// why a test was skipped or had a second attempt, and at the end what the failed ones
// say of it and the line "N passed, N failed". Directories given as arguments hold
// JUnit XML reports (Maven Surefire) that are counted along. It exits with 1 when
// anything failed or when nothing was tested.
//
//	tally [-skips FILE -tier TIER [-strict]] [REPORTS]...
//
// A test counts once, with its sub-tests apart: the leaves are counted. What is
// no JSON, such as a compiler's message, is passed on and fails nothing by
// itself; `go test` says "fail" for its package.
//
// # Second attempts
//
// A test that makes one says so by the attribute "repeated" (testing.T.Attr). The
// reason is printed and the closing line has their number: a run that passed on
// second attempts does not look like one that passed.
//
// # Skips
//
// FILE names the tests that may be skipped in which tier, and why. With -strict any
// other skip is a failure; without, its line says that it is not listed.
package main
