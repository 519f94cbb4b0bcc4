// Package eventlog reads Spark's event logs: what Spark 3.5 to 4.3 write, whole or cut off anywhere.
//
// # Concepts
//
//	log          the events of one application, a line of JSON each, in one file or in the files of a directory.
//	Source       one of these files, opened when its turn comes: the reader knows neither paths nor a clock.
//	frame        what a codec packs together. Spark's own framing of lz4, snappy and lzf is read here. Frames of
//	             zstd stand one after the other, and the last may be open.
//	Application  what a log says, without its tasks. It grows with stages, jobs and executors, and with the
//	             tasks that run.
//	Task         an ended task. Read hands each to its caller and keeps its sums (Totals).
//	complete     of a stage's attempt: its end is in the log.
//	cut          of a log: it ends within a frame, a line, or before the application's end, or was compacted.
//
// A line of no interest is told by how it begins, and skipped. An event that no known Spark writes is
// counted by its name. Whatever the log has before its cut is in the result, and Application.Cut says so.
// A file that cannot be one log is an error with the file, the line and the rule.
//
// A stage's signature and lineage, and the shape of its query, are those that the driver tells under Pacer
// (api.StageReady): package profiles has the hashes, the log what they are made of. A stage's parents are the
// stages that wrote the RDDs which it reads by a shuffle: adaptive execution logs skipped stages as parents.
//
// # Units and use
//
// Moments are Unix milliseconds, as Spark logs them, and 0 for none. Durations are seconds, sizes bytes.
// One pass by one goroutine; a result is a plain value.
package eventlog
