// Package ledger is what a planner knows: applications, stages, executors, nodes, profiles
// and the history, and what follows from it.
//
// # Concepts
//
//	fact        one thing that has happened or was decided: a value of type Fact
//	Change      a recorded fact with its number and time, and the Line that it says
//	batch       the facts between two Closes: a step of the planner
//	Effects     what a batch makes necessary: store, Plans, Directives
//	View        a ledger to read
//	App         an application: a Tenant (driver, executors, memory) with a Promise
//	            (deadline, profile, verdict), its stages and its Outcome
//	Facet       what one capability keeps of each application, node or profile: its package registers it
//	Allocation  what an application has on one node
//	Counters    what a node told of an executor's work for a stage in all
//	Sight       what it told last
//	Target      what an executor has to reach
//
// # Facts
//
// A ledger changes by Record alone, one type of fact for each thing that there is to know.
// A fact that cannot be true, as one about an executor that is not there, is an error and
// changes nothing. State and facts that belong to one capability stand in its own package. Record hands a fact to the
// facets of its subject, and the ledger versions, saves, restores and audits their values without knowing them.
// Facts say what is so; they decide nothing: deciders are packages of their own, which read a View and return what they
// want, and package planner makes facts of that.
//
// # What follows
//
// Close compares the Plan of each node, and the Directive of each application, that the
// batch may have changed, with what they should be; a new one has a greater epoch than all
// before. It collects the records that have to be saved (Layout): who records a fact need
// not know what of it is stored. A standby that records the same changes at the same times,
// and closes where the first one did, is the same ledger.
//
// # Units
//
// Times of an application are seconds on its deadline clock, which begins with the
// submission; others are Instants of the planner's clock. CPU time is in core-seconds,
// weights are in mean tasks.
//
// # What the caller must do
//
// Call Begin with the time of each step before anything else, hand no fact over that
// points to what will change (but NodeSaid's status, of which nothing is kept but text),
// change nothing that a View returns, and have the pairs of a Close in the store before
// its Plans and Directives are sent. New goes on from the stored pairs.
//
// A Ledger is synchronous, reads no clock and is for one goroutine.
package ledger
