// Package behind decides which applications come after the others on their nodes, where not all can be in time.
//
// # Concepts
//
//	job      an application with a deadline to keep, and what it still needs of each of its nodes
//	by       how long its stages have for that
//	behind   it comes after those that are not, on nodes that serve by supervisor.Auto
//	in time  what comes before it and its own need fit into its nodes until then
//
// # The rule
//
// Jobs can all be in time, the earliest deadline first, if what those need that are due by any deadline fits into each
// node until then. Where it does not, the one of them that needs most of that node is put behind, which on one node
// leaves as few as possible late (Moore, "An n job, one machine sequencing algorithm for minimizing the number of late
// jobs", Management Science 15, 1968). One that could not be in time alone is none that another one yields to. A need
// that is a moment too much puts no job behind (sharing.Doubts).
//
// A job keeps its place where those behind it are in time all the same, with a reserve: it is late by less then, or by
// nothing, should the prediction be wrong. Where all this has no more in time than the plain order has, that stands.
//
// # When it changes
//
// What is chosen stays, for a core-second of one that is put behind later is lost. Another choice takes its place at
// once when an application or a node has come or gone, or a deadline was moved; else when it has had one application
// more in time for five seconds, or as many with fewer behind.
//
// # What the caller must do
//
// Call Choice.Decide at each tick, and record what it returns. Nothing else puts an application behind.
package behind
