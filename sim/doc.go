// Package sim is a world on virtual time in which the very engines of the daemons
// run: planner.Engine and node.Engine, driven through their pure functions, with
// messages of package api between them over a simulated network, executors that
// burn simulated cores, and drivers that do what the jar does.
//
// # Concepts
//
//	World     planner, nodes, drivers and the network between them
//	event     what happens at one instant: a timer of one part of the world (package des)
//	plant     machines, executors and drivers' schedulers (package plant)
//	driver    stands for an application's driver with the jar: one of the plant's that
//	          talks with planners (package driver)
//	agent     the shell around a node engine: ticks, samples, quotas, statuses
//	control   the shell around the planner engine: ticks, store, publications
//	check     the invariants, looked at in every event that could break them
//	history   all that happened, as JSON lines; package replay asks the engines again
//	scenario  a text that describes a world and what happens in it
//
// # Memory
//
// In a third of the worlds of Trial, drawn by the seed, nodes hold a few executors with heaps and
// more applications come than that: they wait through planners that are killed, lose their state or
// serve beside another, through nodes that are away, lost or give less memory for a while (scarce.go).
//
// # Order and randomness
//
// Timers and sources of randomness are those of package des, and maps are walked in
// sorted order. So the same Config and calls give the same history, byte
// by byte (tested), and a fault that is found says the seed that finds it again.
//
// # Units
//
// Core-seconds, cores, seconds; Instants count from the world's beginning. Nodes
// and planner see clocks of their own, offset from it.
//
// # What the caller must do
//
// Make a Config from Default, Submit applications, call Run, read Results. Run may
// be called again after further Submits: a first run without a deadline records a
// profile, a second one is paced by it.
//
// # What it does not do
//
// It has no second implementation of a law, a strategy, a queue or a plan.
// nats-server, store and cgroup files are not part of it (package test/testenv runs
// those, with the whole daemons, in virtual time).
package sim
