// Package assign says how many units of a cluster each job has: which jobs start, which wait, and who gives units back
// for them (F. Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters", PhD thesis,
// 2018, chapter 3).
//
// # Concepts
//
//	unit      what a job takes at once: so many cores and so much memory
//	core      units without which a job does no useful work; none is ever taken back
//	elastic   further units, which make it faster and may be taken back
//	grant     the units that a job has: its core units and some or all of its elastic ones
//
// All functions are pure.
package assign
