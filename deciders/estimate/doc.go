// Package estimate says how a running application stands, and when it ends.
//
// # Concepts
//
//	Policy   how applications are planned: the equations' parameters and what
//	         becomes of branches
//	Course   what a run still has before it: its profile with each stage as large as
//	         what is to be done of it
//	Outlook  how all applications of a View stand; each is walked once, when a decider asks
//	Case     an application with cores and slots that it may get: the answer to "what if"
//	full     a forecast in which every stage has all cores
//
// A course counts further attempts of a stage for the part that they repeat, and stages
// that failed, or that read what is being repeated, as still to come. End and Soonest walk
// it (dag.Graph.Finish) from where the application stands: running stages from their
// progress, the others from what they will be given, gaps and the driver's exit from the
// profile.
//
// A ledger.View is read and never changed. An Outlook remembers what it has found, and nothing else does. Times
// are seconds on the application's deadline clock. The caller asks only about applications
// that have a profile, where a function does not say otherwise.
package estimate
