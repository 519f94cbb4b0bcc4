// Package fluid simulates a cluster as a number of units: jobs come, get units, give some back and go, and a quarter of
// a year passes in seconds. A rule of package assign, which the planner asks too, gives the units; there are
// no machines, no locality and no engines (package sim has these).
//
// # Concepts
//
//	job      an application: it comes, waits, is served, and leaves when its work is done
//	trace    jobs in the order in which they come
//	pace     the trace that is made up after the source's, and the experiments on it
//	load     the work that a trace brings, over what the cluster's cores could do until its last job comes
//	box      how values are spread: what 5, 25, 50, 75 and 95 per cent of them are below
//
// # Service
//
// A job with C core and E elastic units that takes T with all of them is a work of
//
//	W = T (C + E)    unit-seconds
//
// With C + x units it takes T' = W / (C + x), so that with x as it changes its rate is always C + x. At each change of
// x what it has done is taken off. A job has two events, its arrival and its departure; at each of them the rule is
// asked once, and what it grants holds at once. A unit that is taken back is not charged. A job that could not
// start if nothing else ran is refused when it comes, and counted.
//
// # Deadlines
//
// Under the rules that reserve a job has one core unit, and elastic ones for its other tasks. A job that is dropped
// leaves. A rule that ends jobs at their deadlines is asked then, too. Jobs that end teach. How alike
// shares are is a mean over as many moments as levels have. Traces (tr1, tr2) and generators of deadlines are after
// E. Dimopoulos, "Resource Allocation in Multi-analytics, Resource-Constrained Environments", PhD thesis, 2018.
//
// The source of the rest is F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute
// Clusters", PhD thesis, 2018, sections 3.2 and 3.3.
//
// # Units
//
// Seconds, cores, bytes; Instants count from the trace's beginning. The same seed gives the same bytes.
package fluid
