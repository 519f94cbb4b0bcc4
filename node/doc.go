// Package node is the mind of a node controller: it turns Plans and samples of
// its executors into quotas, every half second, alone.
//
// # Concepts
//
//	Plan       what the planner wants of this node, whole, with an epoch
//	target     what one stage executor has to reach by when; a Plan holds many
//	control    a target in force: its anchor, meter, control law and grant
//	ceiling    the most that another cluster manager lets an executor have
//	record     what one executor did for one stage, with or without a target
//	request    rc, the cores that a control law asks for
//	grant      cc, what the supervisor makes of the requests; before rounding
//	quota      the grant as it is written: a multiple of the quantum, or none
//	Sample     what the shell saw; Action what it has to do; Event what it may log
//
// Equations are those of Baresi et al., "Fine-grained Dynamic Resource Allocation
// for Big-Data Applications" (IEEE TSE).
//
// # One tick
//
// Step goes through sense.go, steer.go, arbitrate.go and enforce.go. These take in failed actions, states, CPU time,
// quotas and pages. They make a request of each law that has a new page (Eq 18), and grants under the capacity, told to
// the laws before rounding (Eq 19). They write quotas that are a quantum or more off; a Save, starts and stops, a
// status where they are due. Apply does the same between ticks for a new Plan, but no law steps: new targets ask for Eq
// 7.
//
// # Anchors
//
// A target's Remaining is anchored on this clock when its Rev is first seen, less the
// time that its Plan was held up (transit.go). With a greater Rev the law goes on from its
// grant without a jump.
//
// # Requests and quotas
//
//   - The capacity is what others leave (capacity.go). A request is at most that and the
//     runnable tasks, and at least 0.10 core. Once the set point is 1 or the deadline has
//     passed, it is the most.
//   - A quota is the multiple of the quantum next to the grant plus what rounding
//     withheld last time. A grant of the whole capacity is no quota.
//   - No quota: an executor without a target, one that starts, one whose share is done, one
//     whose page or CPU time was last good 2 s ago. In the division it asks for its running
//     tasks, where these are known.
//   - Weights: low without target and running tasks. An application that shares (api.Band) has its class's weight.
//     Where the Plan has one to yield to, all that share have a fifteenth together, by class: so they use all that
//     quotas leave, and no more. While an application needs nearly all there is to be in time, and its driver runs on
//     this machine, they have their part as a quota.
//   - Drivers: one by which a stage waits takes part with one core for 3 s, in its application's
//     place, if it runs on this machine. A driver whose application is over has a core for its exit.
//   - Late: whose deadline has passed only now has no target any more, and keeps its place.
//
// # Interruptions
//
// Impossible numbers, pages from another time and counters that fall are refused and told
// once; what was last good stands. After a stale page, a failed write or a restart the law goes on from what is in
// force, or where quotas were lifted from the work left over the time left (Eq 6). A restart changes no quota. A quota
// that is not the one written is somebody else's: owner.go says who gives way.
//
// # Hands off
//
// In modes observe and off (api.Mode) nothing is written for executors. The CPU time that they use is
// taken off the capacity; what observed ones would be granted is worked out beside it.
//
// # Executors of other managers
//
// A node with Config.Hosts starts none: an executor that the Plan lists is sought, is starting until it
// is found, and is let go when the Plan drops it. Its manager's quota is its ceiling, and no conflict;
// weights and memory are its manager's. An executor that cannot be bounded is watched.
//
// # What the caller must do
//
// Fill Ports, make Config from Default, load the newest State, give Plans to Loop.Offer
// and call Run; Calls, Publisher and Store may be called from goroutines other than
// Run's. A save or a status under way never delays a tick; only starts wait for the save
// that remembers them.
//
// An Engine user without Loop calls Step once before it relies on Apply, carries actions out in their order, lets a
// Start wait for the Save before it. It reports what fails in the next Sample, and uses State and Status before the
// next call.
//
// # What it does not do
//
// It knows no file, process, cgroup or network, and changes nothing when the planner is
// silent.
package node
