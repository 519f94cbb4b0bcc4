// Package sim is a world on virtual time in which the very engines of the daemons
// run: planner.Engine and node.Engine, driven through their pure functions, with
// messages of package api between them over a simulated network, executors that
// burn simulated cores, and drivers that do what the jar does.
//
// # Concepts
//
//	World     planner, nodes, drivers and the network between them
//	event     what happens at one instant: a timer of one part of the world
//	plant     what turns an executor's cores into work (type Plant)
//	driver    stands for an application's driver with the jar (package driver)
//	agent     the shell around a node engine: ticks, samples, quotas, statuses
//	control   the shell around the planner engine: ticks, store, publications
//	pools     the off-heap memory of an executor that declares a heap, with its group's limit
//	check     the invariants, looked at in every event that could break them
//	history   all that happened, as JSON lines; package replay asks the engines again
//	scenario  a text that describes a world and what happens in it
//
// # The plant
//
// Between two events everything goes on at a constant speed, so nothing is
// stepped through: a process's timer is set to when something happens next. A
// machine's cores are divided max-min, each executor up to what its running tasks can use
// and its quota; an executor's computing tasks share equally and never have more than
// a core for each of their threads. The work that n of them do in a second is
//
//	f(eff) speed warmth noise,   f(c) = c (1+k)/(1 + k c/C)
//
// where eff follows the cores obtained as Eq 8 says, k is Plant.Bend and C the
// slots. A task waits for its dispatch and its fetch first, without using CPU. A
// JVM starts with Start core-seconds, warms up, and stops its tasks for
// collections that cost CPU time; records are read in the first part of a task's
// work. A driver takes cores of its node where it works itself, and ends some time
// after its context's stop. Pages show all this every 100 ms, as the JVM's do.
//
// Where an executor is lost with its outputs, stages whose outputs are still to be read
// run again in part, and those that were reading them fail and come again with what
// they had not done, as in Spark (attempt.go).
//
// # Memory
//
// Executors of an application that declares a heap take heap, overhead and their off-heap
// memory of their node, whose engine moves that by wishes as on a real one (package node).
// Pools grow at once; a shrink of d bytes takes
//
//	(b - s/2)/Evict + t/Spill + rest/Evict seconds
//
// where b of it are blocks above half of the s bytes wanted, t what tasks hold and rest what is
// left, after what nobody uses went at once. Who waits for memory is in the planner's queue.
//
// In a third of the worlds of Trial, drawn by the seed, nodes hold a few executors with heaps and
// more applications come than that: they wait through planners that are killed, lose their state or
// serve beside another, through nodes that are away, lost or give less memory for a while (scarce.go).
//
// # Order and randomness
//
// Timers fire in the order of time, rank, owner and setting; maps are walked in
// sorted order. Every part of the world draws from a source of its own, made from
// the seed and its name. So the same Config and calls give the same history, byte
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
// It has no second implementation of a law, a strategy, a queue or a plan. It
// models no disk, no cache and no speculation. Memory that is short makes nothing slower: what is
// evicted and spilled is counted (type pools). A driver
// takes cores where nothing else of it goes on (head, gaps, tail, exit), none for the
// launch of tasks, and is not slowed by its neighbours; nats-server, store and cgroup files are not part of it (package
// internal/testenv runs those, with the whole daemons, in virtual time).
package sim
