// Package whatif answers what an application would take on other cores, with other input or under a deadline,
// before anything runs: from its profile, by worlds of package sim.
//
// # Concepts
//
//	question  a profile, and the shapes, inputs and deadline that are asked about
//	shape     so many executors of so many cores each
//	draw      an application that may be behind the profile: a seed, a bend, and work as in one of the newest runs
//	replay    a run of a draw on the cores of the profile, by which its work is fitted
//	cell      an input on a shape, with all draws
//	promise   the earliest deadline that is kept with the certainty asked for
//	floor     the end that no cores lower: the longest chain of stages, and the driver's time
//
// # How it goes
//
// The package has no model of its own: a cell is sim.Record of each draw on the plant of package plant, under the
// engines of planner and nodes, and a deadline is tried by sim.Pace. A profile has work as it was used on its cores,
// with warm-up, collections and what a core is worth beside busy ones. A replay has all that, too, so a stage of a
// draw has its work times the profile's over the replay's. A stage that ran alone and took longer than its replay has
// tasks that wait.
//
// # Bounds
//
// Draws differ by their seeds, in replay and cell, by the bend of their executors, which no profile tells, and by how
// much the newest runs had besides what was foreseen. With deviation s of the logarithms of K draws, to which the doubt
// of growth adds, and mean m of those that repeat their replay's seed, a run ends with probability q before
//
//	m exp(t(K-1, q) s sqrt(1 + 1/K))
//
// where t is Student's quantile: the 90 % bounds are those for 0.05 and 0.95. A promise is this for the certainty,
// later by as much as the engines need to keep such a deadline in each draw.
// Draws are the same for all cells. More cores are never later, for some may stay idle, and a larger input
// never earlier.
//
// # Units and use
//
// Seconds on the deadline clock, core-seconds, cores. The same Question gives the same Answer. Ask runs the draws on
// all processors of the machine.
package whatif
