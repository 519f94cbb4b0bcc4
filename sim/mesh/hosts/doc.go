// Package hosts is machines and VMs in rounds of two minutes, and policies that put the VMs on as few machines as they
// can: the world of chapter 4 of M. Khelghatdoust, "Scalable and distributed resource management protocols for cloud
// and big data clusters" (2018), on the engine of deciders/consolidation.
//
//	glap      exchanges between machines that gossip, by tables that all have learnt
//	grmp      exchanges up to a threshold, by CPU alone; nobody wakes
//	ecocloud  machines accept and hand on by trials, whose chance follows from their load
//	pabfd     a central best fit, by CPU alone, under a threshold for each machine by its history
//	bfd       no policy: how many machines a best fit of what VMs use would take
//
// A round is: the policy moves VMs by what they used last, the VMs use something else, and that is counted. All
// policies have the same VMs, demands and first places by a seed. A VM that moves counts at once where it comes, so
// that no two senders fill the same room.
//
// # What is made up
//
// The source's demands are Google's traces. Here they are made up by Load: a mean of its own for each VM, noise that
// stays a while, bursts, and a small wave that all follow. Under grmp about as many machines are to be overloaded as
// the source says, 75 %. The bursts that give that were chosen among some 200 with the figures of all four policies in
// sight: a VM spends a fifth of its time in them, eight rounds each. DrawnDemands have bursts that were not chosen. A
// large wave gives the same 75 %, but then learning, which remembers what came last, knows only that part in which it
// ends.
//
// By these means a machine is short of memory, not of CPU: 15 VMs fill the one, 21 the other. So under ecocloud few
// machines come below its lower threshold, which is one of CPU; it leaves a sixth more awake than glap and overloads
// hardly any. There glap has fewer moves, as in the source, but more machines that are overloaded and a higher SLAV.
//
// # Units
//
// A Use is a part of a machine, in Load a part of what a VM was given. Times are rounds, or seconds where it says so.
//
// # What the caller must do
//
// Call Run, from any goroutine. The same Config gives the same Outcome.
package hosts
