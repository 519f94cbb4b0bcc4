// Package heap finds the smallest heap of executors at which an application is not slower, over runs that its user asks
// for anyway. It is a facet of profiles; the search is memory.Knee, Eq 3.3 to 3.10 of its source.
//
// # Concepts
//
//	footprint  what one task alone has in use of the heap in a stage: mean and deviation. It needs LeastSamples samples:
//	           a run with one slot has them
//	knee       the smallest heap that costs nothing; good and bad are the heaps of runs on both sides of it
//	safe       the heap for a run with a deadline: the last good one, with a fifth free beside the greatest live set
//
// A run teaches by its core-seconds: under a quota its time says nothing. Another variant of the profile, more slots,
// or a run that is bad at a heap that was good begin a new search. Runs with fewer slots teach footprints alone.
//
// # What the caller does
//
// The planner records Learn of a run that has ended, and takes Choose at a registration whose driver leaves the heap to
// it (api.NodeRange.HeapAuto).
package heap
