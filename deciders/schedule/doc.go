// Package schedule gives stages their deadlines, and their executors targets.
//
//	Ready  a stage that has become ready: Eq 1-3 with the time really left
//	Anew   running stages once more, after the application's deadline has changed
//	Late   a running stage that has waited for executors
//	Bound  targets for new bindings, under the deadline that stands
//
// Eq 6 and 7 give the cores of a target. Equations are those of Baresi et al.,
// "Fine-grained Dynamic Resource Allocation for Big-Data Applications" (IEEE TSE).
//
// A query or job that has a bound divides what is left of that among its stages (dag.Params.Within): none gets more
// than its part, whatever the equations give it.
//
// All functions are pure: they read a ledger.View and return what they want. The
// application is paced, and its stages are matched to annotations of its profile. Times
// left are in seconds from the View's now, and negative when passed.
package schedule
