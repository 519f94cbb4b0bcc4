// Package response keeps the step responses that are under way: the executors of a running stage are held at two
// levels, one after the other, so that how its progress follows its cores can be read.
//
//	Began, Moved   the facts: a step response begins, and is at its next level or over
//	Move           the lever, asked at each tick while one is under way
//	UnderWay       whether an application, or a stage of it, is held
//
// State is the facet that a ledger keeps of it. It passes: a planner that starts holds nobody.
//
// All functions are pure.
package response
