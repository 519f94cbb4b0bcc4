// Package supervisor divides a node's cores among the stage executors that run there, where
// their controllers ask for more than there is, and gives away what nobody asks for.
//
// # Concepts
//
//	request   rc, the cores that a controller asks for its stage executor
//	grant     cc, the cores that it gets, before rounding to the quantum
//	capacity  the cores that the node gives to executors now
//	runnable  a stage executor's unfinished tasks that can run, each counted as the cores that it can use
//	floor     the least grant of a stage executor with runnable tasks
//	strategy  the rule by which applications share what is short, or what is left over
//	ttc, anr  an application's time to completion and average nominal rate
//	shares    an application without a deadline that can be kept: it shares what is left
//
// # Source
//
// Baresi, Guinea, Leva, Quattrocchi, "Fine-grained Dynamic Resource Allocation for Big-Data
// Applications" (IEEE TSE), section 6:
//
//	Eq 21  cc = gamma ac + (1 - gamma) rc
//
// over the applications of a node, ac being what the strategy gives. Gamma decides between
// saving what nobody asks for (0) and finishing early (1). Where the requests exceed the
// capacity, cc = ac.
//
// # The division
//
//  1. A stage's request counts up to its runnable tasks and at least as the floor; without
//     runnable tasks it is 0. An application's request is the sum of its stages'.
//  2. If all requests fit, ac has two readings (Config.Eq21). With Eq21OnTop each request is
//     granted, and gamma of what the strategy makes of the rest is added, up to what can be
//     used. With Eq21Printed ac is what the strategy makes of the whole node, floors first.
//  3. Otherwise every stage gets its floor and the strategy divides the rest up to the
//     requests. If even the floors do not fit, all are cut by the same factor.
//  4. Applications that share come after the others: what these are not granted is theirs,
//     floors first, then by weight up to their requests (max-min). Whatever the others ask
//     for, FloorShare of the capacity is kept for all of them, as far as they can use it;
//     1 to 3 are of the rest. Only what they leave is given away by gamma.
//  5. Inside an application a shortage is divided in proportion to requests above floors, a
//     surplus in proportion to what can still be used.
//
// Ties are broken by id: applications may come in any order.
//
// # Strategies
//
// These are the strategies of section 6.2, with Table 1: 16 cores for A (rc = 10, ttc = 50, anr = 6M), B (8, 60, 6M)
// and C (12, 70, 3M):
//
//	EDFPure       in order of ttc, each its request                  10 / 6 / 0
//	EDFAll        in order of ttc, each all that it can use          16 / 0 / 0
//	EDFProp       w = 1 - (ttc - min + 1) / sum(ttc - min + 1)       7.76 / 5.33 / 2.91
//	Proportional  w = rc / sum(rc)                                   5.33 / 4.27 / 6.40
//	Speed         w = ANR / anr, ANR the mean of all anr             4 / 4 / 8
//
// And one that is Pacer's own:
//
//	Auto          as EDFPure, those last that the planner puts behind (package behind)
//
// Cores that a weight gives beyond a request go to the others by their weights. Where all can be in time, Proportional
// counts of the request of who is due later only what that needs. Applications without a deadline come last, except
// under Proportional and Speed, which look at none. Requests do not bound EDFAll, for which Eq 21 is always as printed.
// Decisions 026 and 018 say when to use which strategy, and how Eq 21 is read.
//
// # Units
//
// Cores; seconds for ttc; records per core-second for anr.
//
// # What the caller must do
//
// Pass all executors with running tasks, those without a target as sharing, with these tasks
// as request. Subtract what others use from the capacity. Round the grants to the quantum
// when writing them, and keep the remainder. Tell a controller the grant before rounding
// where it differs from the request (controller.Granted). An executor whose stage has no
// runnable task gets 0: let it run without a quota, since it still serves blocks and results.
//
// The package knows no clock, quota or controller, and remembers nothing between calls.
package supervisor
