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
// total, by which a job that fills the cluster would never start. It also prints C <= sum of E_j to preempt, by which
// core units could exceed the total. With Pass those behind the head may start, and where nothing is taken back grow,
// in what is free of
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
// # Rules that reserve
//
// These know one number of a job, how many units it can use at once, and reserve what its deadline needs (E.
// Dimopoulos, "Resource Allocation in Multi-analytics, Resource-Constrained Environments", PhD thesis, 2018, chapters 4
// and 5). With M = min(tasks, units of the whole), D from arrival to deadline and f learnt of those that have ended:
//
//	rate         work / D / M, at most 1, of each that has ended; of a job that was ended at its deadline there is none
//	pythia       f = the greatest rate
//	justice      f = (last + b) / 2 + c, from the least rate to 1: last = units had / M, b = the least rate if the last
//	             one met its deadline, else the greatest, c = the mean of rate - last
//	both         n = ceil((f M D - used) / (D - elapsed)), 1 at least; until two have ended M, or what is free
//	oracle       n = ceil(work / (D - elapsed))
//	fs           each unit that is free to the job with the fewest; parts count, nothing is taken back
//	fs-reactive  as fs; who is past its deadline is ended
//
// A job that needs more than M, or has no time left, is dropped. The others get n or nothing, the least n / (D -
// elapsed) first; smaller ones behind one that does not fit may pass. A job that is served keeps what it has, and is
// ended at its deadline. Where the source contradicts itself Reading chooses. It prints none of used, which is 0 where
// nothing runs without a reservation. Where units are lost, the last due are ended first.
//
// Ask at each arrival and departure, and carry the grants out in their order. A job that starts has Now as its Began.
// All functions are pure.
package assign
