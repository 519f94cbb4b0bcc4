// Command tally reads what `go test -json` writes and prints what a person wants
// of it: a line per package and per test of 10 s or more, the output of what failed,
// why a test was skipped, and at the end the line "N passed, N failed". Directories
// given as arguments hold JUnit XML reports (Maven Surefire) that are counted along. It exits with 1 when
// anything failed or when nothing was tested.
//
// A test counts once, with its sub-tests apart: the leaves are counted. What is
// no JSON, such as a compiler's message, is passed on and fails nothing by
// itself; `go test` says "fail" for its package.
package main
