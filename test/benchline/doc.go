// Package benchline keeps what `go run ./test/bench` measures: one named figure after
// another, as JSON lines.
//
// A Line is a figure with what it was measured on: name, value and unit, of how many
// values (n) it was taken and between which they lay (spread), the commit and a hash
// of the product's sources, the date, the versions of Spark, Java and the kernel, the
// machine's cores. Names are those that the project reports everywhere
// ("node.step_us.256").
//
// A file has the newest line of each name, in order of name. Read also takes a file
// that has several, as after a merge. Put replaces the lines of some names and leaves
// the others; the file is replaced whole.
//
// Sources and Machine find an Origin, Median and Ratio are of the arithmetic, Render
// writes docs/figures.md.
//
// One process at a time may write a file; all else is values.
package benchline
