// Package benchline keeps what `go run ./bench` measures: one named figure after
// another, as JSON lines.
//
// # Concepts
//
// A Line is a figure with what it was measured on: name, value and unit, of how many
// values (n) it was taken and between which they lay (spread), the commit and a hash
// of the product's sources, the date, the versions of Spark, Java and the kernel, the
// machine's cores. An Origin is that part of it which has to be equal for two lines to
// be mixed. A line with a Run is one run of an application, of which figures are made
// later; names are those that the project reports everywhere ("node.step_us.256").
//
// A Log is a file to which lines are only ever added. Lines of a cell go in one
// write, so that they are there together or not at all. Read returns every line, and
// a Fault for each that is none: a file that was torn by an interruption, or edited,
// is still read, and nothing in it is lost.
//
// A campaign is a set of lines that belong together: one origin, one seed for the
// order of runs. What is there of a campaign needs no measuring again. A workload whose
// runs are all there of the same sources on another machine is not run again either; a
// figure over several workloads says of how many machines they are.
//
// Sources and Machine find an Origin, Summary and Ratio are the arithmetic, Render
// writes docs/figures.md.
//
// Log.Add is safe for concurrent use, by several processes too; all else is values.
package benchline
