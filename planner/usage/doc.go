// Package usage is who had the cluster's cores over time, as the statuses of its nodes say.
//
// # Concepts
//
//	level    what an application uses of all nodes at the moment, and is granted
//	point    a mean over one step of time: a second, or a minute
//	column   the points of one application
//	History  the last 15 minutes by the second and the last 24 hours by the minute
//
// A node's share of a level is what its executors have used since its status before, over the time in between, and
// their quotas; it counts until the node is silent for Silent. The levels at the end of a second are that second.
//
// # Bounds
//
// The columns take at most 4 MiB: Columns applications have one of their own in each ring. An application that comes
// when all are taken gets that of an application that has had nothing for longest, whose points go to the rest; while
// all have something it is part of the rest itself. So sums are right however many applications there are.
//
// # What the caller must do
//
// A History is synchronous, reads no clock and is for one goroutine. Times do not decrease.
package usage
