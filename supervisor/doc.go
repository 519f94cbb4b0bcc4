// Package supervisor divides a node's cores among the stage executors that run
// there, where their controllers ask for more than there is, and gives away what
// nobody asked for.
//
// # Source
//
// Baresi, Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation
// for Big-Data Applications" (IEEE TSE), section 6:
//
//	Eq 21  cc = gamma ac + (1 - gamma) rc
//
// where rc are the requests, cc the grants and ac what the strategy would give;
// vectors are over applications. The result has to stay within the node's
// capacity, so under contention cc = ac; without, gamma decides between saving
// (0) and finishing early (1).
//
// # The division
//
//  1. A stage can use as many cores as it has runnable tasks. Its request counts
//     up to that, and at least as the floor if it has a runnable task.
//  2. An application's request is the sum of its stages'.
//  3. If all requests fit, each is granted, and gamma times what the strategy
//     would make of the rest is added, up to what can be used.
//  4. Otherwise every stage gets its floor and the strategy divides the rest. If
//     even the floors do not fit they are cut by the same factor.
//  5. Inside an application a shortage is divided in proportion to the requests
//     above the floors, a surplus in proportion to what could still be used.
//
// The strategies are entered in a table by name. EDFPure serves applications in
// order of time to completion (those without a deadline last), Proportional
// gives the same share of each request. Ties are broken by id, so grants do not
// depend on the order in which applications are listed.
//
// # Units
//
// Cores, and seconds for the time to completion. Grants are not rounded to the
// quantum: the caller rounds what it writes, keeps the remainder, and tells the
// controllers the value before rounding.
//
// # What the caller must do
//
// Pass only executors with a target: others have no quota and no part in the
// division. A stage whose share is finished (Runnable 0) gets 0; its executor
// still serves blocks and results, so it should run without a quota rather than
// with none of the CPU. Where a grant differs from the request, tell the
// controller (controller.Granted). Subtract what others use from the capacity.
//
// # What it does not do
//
// It knows no clock, quota, period or controller, and remembers nothing from one
// call to the next.
package supervisor
