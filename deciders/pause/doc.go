// Package pause takes the targets of an application away for a time, and gives them back. While less than half of the
// work that is left is known, its stages have all cores, in its place among others.
//
//	Weigh       the lever, asked when a stage is ready that the profile lacks, and at each tick while targets pause
//	Paused      whether its targets are paused
//	Until       for how long they were, for the report
//
// State is the facet that a ledger keeps of it, TargetsPaused its fact.
//
// All functions are pure. Times are seconds of an application's deadline clock.
package pause
