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
// (0) and finishing early (1). What ac is then has two readings (Config.Eq21):
// Table 1 for the whole node, as printed, and point 3 below, which is Pacer's.
//
// # The division
//
//  1. A stage can use as many cores as it has runnable tasks. Its request counts
//     up to that, and at least as the floor if it has a runnable task.
//  2. An application's request is the sum of its stages'.
//  3. If all requests fit, each is granted, and gamma times what the strategy
//     would make of the rest is added, up to what can be used. With Eq21Printed
//     it is gamma times what the strategy makes of all, floors apart, and the rest
//     of each request: 36 cores of Table 1 with gamma 1 are 10 / 8 / 12 under
//     EDFPure and EDFProp, 12 / 9.6 / 14.4 under Proportional, 9 / 9 / 18 under
//     Speed; with point 3 as it is 16 / 8 / 12, 12.9 / 10 / 13.1, 12 / 9.6 / 14.4
//     and 11.5 / 9.5 / 15.
//  4. Otherwise every stage gets its floor and the strategy divides the rest. If
//     even the floors do not fit they are cut by the same factor.
//  5. Inside an application a shortage is divided in proportion to the requests
//     above the floors, a surplus in proportion to what could still be used.
//
// Ties are broken by id, so grants do not depend on the order in which applications
// are listed. Points 3 and 4 depart from the source where its weights would leave a
// request unserved that fits, or cores unused that are asked for.
//
// # Strategies
//
// Each is one file, an entry in the table of strategy.go, a row and a test in
// paper_test.go, a case of the oracle and a scenario sim/testdata/strategy-NAME.txt.
// The source's are all here (section 6.2; Table 1 for 16 cores, A rc = 10, ttc = 50,
// anr = 6M; B 8, 60, 6M; C 12, 70, 3M):
//
//	EDFPure       in order of ttc, each its request                  10 / 6 / 0
//	EDFAll        in order of ttc, each all it can use               16 / 0 / 0
//	EDFProp       w = 1 - (ttc - min + 1) / sum(ttc - min + 1)       7.76 / 5.33 / 2.91
//	Proportional  w = rc / sum(rc)                                   5.33 / 4.27 / 6.40
//	Speed         w = ANR / anr                                      4 / 4 / 8
//
// where ttc is the time to completion and anr the average nominal rate. What a
// weight gives beyond a request goes to the others by their weights. Applications
// without a deadline come last, but under Proportional and Speed, which know none.
//
// EDFPure (the default) keeps as many deadlines as the order allows and saves what
// nobody needs. It leaves the last of an overload at its floor, and, as all that
// look at ttc, does not know whether a deadline can still be met: one that is lost
// is served before one that is not.
//
// EDFAll runs one application after the other: the surest for who is first, and in
// an overload the one that keeps most deadlines where the others make all late a
// little (the law "pi" on the source's Benchmark 3). Everything ends far too early
// or far too late, on the most cores; where a law keeps deadlines on what it asks
// for ("pacer"), EDFPure keeps more of them. With gamma 0 grants jump between the
// request and all there is whenever requests come to exceed the capacity, so it is
// meant for gamma 1. There requests are no bound: point 3 does not hold, cc is Eq 21
// as printed, with floors.
//
// EDFProp shares an overload among deadlines that are seconds apart and is nearly
// EDFPure for those that are minutes apart: its weights are of ttc in seconds,
// whatever the size of the applications. With two applications the later one's
// weight is 1/(2 + their distance). It keeps as many deadlines of Benchmark 3 as
// EDFPure, at half the error.
//
// Proportional is fair and has no favourites: in an overload all are late by a
// little. It rewards who asks for more, so an application that is behind.
//
// Speed serves who needs much CPU for a record, whatever the deadlines; it is for
// applications whose records are alike. Where rates only say how large a record is,
// its weights mean nothing.
//
// # Units
//
// Cores, seconds for the time to completion, records per core-second for rates. Grants are not rounded to the
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
