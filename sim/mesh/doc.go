// Package mesh simulates a cluster of thousands of workers of one slot that has no planner: jobs come, schedulers send
// probes, and workers fetch tasks. It compares systems on the same jobs.
//
// # Concepts
//
//	system     how probes and tasks find workers: an entry of the table of Systems
//	peacock    the engines of package probe: one probe per task, handed on around a ring
//	sparrow    two probes per task, late binding, FIFO
//	eagle      long jobs placed centrally; short ones probe, avoid workers that have long tasks, and go least work first
//	trace      the jobs in the order in which they come, drawn like a Shape or read from a file
//	load       of a cell: what its trace asks for by the source's reckoning, from the means of durations and of tasks
//	true load  what it asks for by the work of its tasks
//
// eagle is as P. Delgado et al. have published it, "Job-aware Scheduling in Eagle", SoCC 2016; eagle-thesis as the
// author of Peacock describes it, and eagle-author as the author's public simulator has it. Sparrow is
// K. Ousterhout et al., SOSP 2013.
//
// # Units
//
// Seconds as time.Duration; Google's are tens of seconds. A world is one goroutine, and the same for the same seed;
// worlds run side by side.
package mesh
