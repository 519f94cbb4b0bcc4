// Package fromlog makes a profile of an event log.
//
// # Concepts
//
//	run       what a log says, as the profile of one run (Run). A profiles.Recorder is told what the driver would
//	          have told the planner.
//	factor    how many times the CPU time of its tasks' threads a stage used. Compiler, collector and Python are no
//	          such threads. It is measured where runs under Pacer have seen the stage. It is derived from the time
//	          for which the application's tasks ran without waiting. Else it is guessed.
//	Shelf     the profiles that logs make, by name. The oldest log comes first, and each is merged as a run is.
//
// The times of a log are those of its cluster: a profile of it is contended. Its stages say how sure their work is,
// and the first run under Pacer replaces what is not measured.
//
// A log teaches nothing where it is cut off, where its application failed or streams, or where it has no stage.
//
// # Units and use
//
// Seconds, core-seconds and bytes; a log's moments are Unix milliseconds. Functions are pure.
package fromlog
