// Package sharing has the rules by which applications live beside others: which of them come first,
// what is put off, what is kept back, and by which weights the kernel divides what nothing else does.
//
// # Concepts
//
//	first      an application whose deadline can be kept: it comes before those that share
//	shares     one that has no such deadline: it has its part of what the first leave
//	unheld     an executor without a quota; nothing but weights holds it back
//	in order   nodes that serve one application after the other, by deadline (supervisor.InOrder)
//
// # Who goes by them
//
// Params has all numbers, with their units and reasons. Planner (estimate, verdict), supervisor,
// node controller, simulator and `pacer submit` take them from Default; the driver's nice value is
// written once more in DriverSession.scala, and a test compares the two. `pacer simulate
// sharing` says what each rule is worth.
//
// # Sources
//
// Decisions 026 (order and doubts), 029 (weights) and 036 (what is put off) in docs/decisions say why.
// Work is put off by the demand bound of earliest deadline first: Baruah, Rosier, Howell, "Algorithms
// and complexity concerning the preemptive scheduling of periodic, real-time tasks on one processor",
// Real-Time Systems 2, 1990, section 3.
//
// # What the caller must do
//
// Nothing here reads a clock or keeps state. A *Params is shared and is not changed; nil stands for
// Default's.
package sharing
