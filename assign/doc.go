// Package assign says how many units of a cluster each job has: which jobs start, which wait, and who gives units
// back for them (F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters",
// PhD thesis, 2018, chapter 3).
//
// # Concepts
//
//	unit      what a job takes at once: so many cores and so much memory
//	core      C, units without which a job does no useful work; none is ever taken back
//	elastic   E, further units, which make it faster and may be taken back
//	grant     the units that a job has, C + x; its work W = T (C + E) then takes W / (C + x)
//	served    of a job: it has its core units
//	line      the jobs that wait, in order; its head is the first that does not fit, and blocks those behind it
//
// # Rules
//
//	rigid                the next starts if C + E fit in what is free, and keeps them
//	malleable            what is free goes to those that are served, in order, then to the next if its C fits
//	backfill             what is free goes to the next if its C fits, then to those that are served; with Pass
//	flexible             on a departure the next starts if C + sum of C_j <= total, on an arrival if C <= free, as long
//	                     as sum of (C_j + E_j) < total; then x_j = min(E_j, what is left), in order
//	flexible-preemptive  as flexible, but one of a higher priority than the last that is served starts at any time if
//	                     C + sum of C_j <= total
//
// Sums run over those that are served, which are in order of start. Under flexible-preemptive they, and those that
// wait, are in order of priority first. Each condition holds in both dimensions. The source prints C + sum of C_j <
// total, by which a job that fills the cluster would never start, and C <= sum of E_j to preempt, by which core units
// could exceed the total. With Pass those behind the head may start, and where nothing is taken back grow, in what is
// free of
//
//	total - C of the head - units of those that have started since it came
//
// # Orders and sizes
//
//	edf      due, or due - T where that is Patience away or nearer; without a deadline arrival + Patience
//	fifo     arrival
//	sjf      size
//	srpt     size of what is left
//	hrrn     (wait + size) / size, the largest first
//	laxity   due - now - T; without a deadline arrival + Patience - now
//
// A size is T, T (C + E) or T (C + E) cores memory; one that is not known counts as the median of those that are.
// Equals come by arrival, then by ID.
//
// Ask at each arrival and departure, and carry the grants out in their order. One that starts has Now as its Began. All
// functions are pure.
package assign
