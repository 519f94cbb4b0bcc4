// Package assign says how many units of a cluster each job has: which jobs start, which wait, and who gives units back
// for them (F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters", PhD thesis,
// 2018, chapter 3).
//
// # Concepts
//
//	unit      what a job takes at once: so many cores and so much memory
//	core      C, units without which a job does no useful work; none is ever taken back
//	elastic   E, further units, which make it faster and may be taken back
//	grant     the units that a job has: its core units and some or all of its elastic ones, C + x
//	served    of a job: it has its core units
//	line      the jobs that wait, in the order of a Policy
//	head      the first of the line that does not fit
//
// # Service
//
// A job's work is W = T (C + E). With C + x units it takes T' = W / (C + x): the speed-up is linear.
//
// # Rules
//
//	rigid                 the head starts where C + E fit in what is free, and keeps them
//	malleable             what is free goes to those that are served, in order, then to the head if its C fits
//	backfill              the head takes what is free, then those that are served do; with Pass
//	flexible              on a departure the head starts where C + sum of C_j <= total, on an arrival where C <= free,
//	                      as long as sum of (C_j + E_j) < total; then x_j = min(E_j, what is left), in order
//	flexible-preemptive   as flexible, but a job of a higher priority than the last that is served starts where
//	                      C + sum of C_j <= total at any time
//
// Sums run over those that are served. Each holds in both dimensions; sum of (C_j + E_j) < total fails when either is
// filled. The source prints C + sum of C_j < total, by which a job that fills the cluster would never start, and for
// preemption C <= sum of E_j, by which core units could exceed the total. Those that are served are in order of
// start, under flexible-preemptive those of a higher priority first, and so is its line: its head blocks all behind it.
//
// # Pass
//
// The head blocks those behind it. With Pass they may start, and under rules that take nothing back grow, in
//
//	total - C_head - units of those that have started since the head came
//
// and no more than is free. All others end, so the head waits for nobody that has started after it came.
//
// # Orders and sizes
//
//	edf      due, or the latest start due - T where that is Patience away or nearer; without a deadline arrival + Patience
//	fifo     arrival
//	sjf      size
//	srpt     size of what is left
//	hrrn     (wait + size) / size, the largest first
//	laxity   due - now - T; without a deadline arrival + Patience - now
//
//	time, time-units, time-cores-memory   T, T (C + E), T (C + E) cores memory
//
// Equals come by arrival, then by ID. A size that is not known counts as the median of those that are.
//
// # What the caller must do
//
// Ask at each arrival and departure, and carry the grants out in their order. It gives one that starts its Began, which
// is Now.
//
// All functions are pure.
package assign
