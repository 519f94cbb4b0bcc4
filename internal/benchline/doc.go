// Package benchline keeps what `make bench` measures: one named figure after
// another, as JSON lines in out/bench.jsonl and as a table.
//
// # Concepts
//
// A Line is a name, a value and a unit; names are those that the project reports
// everywhere ("demo.error_pct.1.3", "node.step_us.256"). A Log is a file to which
// lines are appended, each in one write, so that several processes of one `make
// bench` can share it. The newest line of a name counts.
//
// Log.Add is safe for concurrent use.
package benchline
