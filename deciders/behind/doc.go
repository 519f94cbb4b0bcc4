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
// node until then. Where it does not, the one of them that needs most of that node is put behind. On one node that
// leaves as few as possible late (Moore, "An n job, one machine sequencing algorithm for minimizing the number of late
// jobs", Management Science 15, 1968). No job yields to one that could not be in time alone. A need that is a moment
// too much puts no job behind (sharing.Doubts). A job keeps its place where as many are in time all the same, with a
// reserve: it is late by less then, or by nothing, should the prediction be wrong. Where nothing is gained the plain
// order stands.
//
// A choice stays until another one has had one more in time, or as many with fewer behind, for five seconds. The start
// of a JVM looks like load, and cores are lost that went to a job which is put behind later. See docs/decisions/063.
//
// # What the caller must do
//
// Call Choice.Decide at each tick, and record what it returns. Nothing else puts an application behind.
package behind
