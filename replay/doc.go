// Package replay keeps histories of node engines and asks the engines again.
//
// # Concepts
//
//	history   JSON lines: a head, what happened in order, an end
//	call      a line with all that an engine was told and what it answered
//	Recorder  writes a node controller's history beside its loop
//	Run       makes the calls of a history again and compares the answers
//
// A node's engine is a function of its Config, its saved State and its calls
// (package node), so a history that holds these holds all that its quotas came
// from. Package sim writes the same lines, of many nodes in one history.
//
// # Lines
//
// The first line has "pacer_history", the layout, and who wrote it. A call "new"
// has the configuration, the law and its parameters included, and the saved state
// from which the engine goes on: a history holds as many as the node controller
// has started. "said" is what a daemon would log. Instants are nanoseconds of the
// node's monotonic clock, "at" seconds since the recording of this start began;
// cores, core-seconds and bytes as everywhere. Of a save, a report and a start only
// a sum is kept, which is compared. The last line counts the lines before it; its
// "said" is there when the recording ended before the node controller did.
//
// # What is promised
//
// Record copies and never waits: when the disk is so slow that the queue is full,
// the recording ends with a mark, for an engine cannot be asked beyond a gap. A
// file grows to Limit, and then ends with a mark, too. At a start a file below half of Limit is continued, a larger one
// or one of another layout is renamed to PATH.1, over the one before. So a history takes 1.5 Limit at most with PATH.1.
// A file that is no history is refused, and so is one into which another process records. Files are for their owner
// alone: Plans have the environment of executors.
//
// # What it does not do
//
// It records no reading of a file or a page apart from the sample made of it, and
// nothing of the planner. Numbers that JSON has not (NaN in a page) end a recording.
package replay
