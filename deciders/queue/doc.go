// Package queue decides which applications start, which wait for memory, and which are
// turned down.
//
// # Concepts
//
//	waiting   an application that has registered and has no executors
//	claim     what an executor takes of its node's memory: heap, what it needs beside that,
//	          and what it has off the heap in any case (ledger.Tenant.Claim)
//	room      what is left of a node's memory for somebody at his place in the queue
//	kept      memory of a node that whoever waits for it gets as it comes free
//	gift      memory of a node that others leave to one that waits
//
// An application fits where one of its executors does; it then gets executors on all nodes
// that have room for them (placement.Policy.Seats), and more as memory comes free.
//
// The findings on an application that waits are kept (Findings). Its graph is walked again when its profile, its
// deadline, the nodes or who is there have changed, or its expected start has moved by a hundredth of its deadline.
// That is done for two applications in a round at most.
//
// # The order "edf"
//
// Earliest deadline first, then arrival. An application without a deadline comes as if it
// were due Patience after its arrival, so that those that come later pass it for so long at
// most. An application whose latest start (its deadline less what it needs with the whole cluster) is Patience away or
// nearer comes as if it were due then. However long it runs, those that come from then on do not pass it until its
// deadline is lost.
//
// # Nobody is passed for ever
//
// An application that does not fit has the memory of one node kept, if it is not kept for somebody before it in the
// order. Of that node others may take what is left when all that ran there when it came have ended and it has started,
//
//	M - claim - claims of those that started there since it came
//
// and no more than is free. So it waits for nobody who started after it came, whatever is
// expected of ends. This is backfilling with a reservation for the head of the queue
// (Lifka, "The ANL/IBM SP Scheduling System", 1995, known as EASY), on each node, and without
// trust in estimates. Memory for executors that are to replace lost ones elsewhere comes
// before all who wait.
//
// The Plan of a node holds a bounded number of bytes of launches and components (api.MostPlanLaunches). The same rule
// divides them. An application that waits for them is told so, those behind it that fit beside it start, and one that
// comes is turned down, as its user may make its launch smaller.
//
// # By another rule than backfill
//
// Package assign says who starts, on how many nodes, and how far those that run grow (Shares). An application has a
// unit on each node where it has executors. Only memory counts: cores of a node are divided by quotas among all that
// run there, so nobody waits for them. A unit takes the part of all memory that one of its kind takes of what the
// nodes hold: the rest of a node that holds none is its own.
//
//	core      spark.pacer.nodes.least, 1 where nobody says; and while a deadline can be kept, 1.1 times the least
//	          cores for it over those of a node, rounded up: what a promise needs is never taken
//	elastic   the rest, up to spark.pacer.nodes.most, planner.max-nodes, or all nodes that hold one
//	priority  interactive, then a deadline that can be kept, then the rest. Interactive is what is of that class
//	          (spark.pacer.class), and a session without an end, a shell, a notebook or a server, or a stream, unless
//	          it is of the class batch.
//
// Nodes have the last word. An application that is to start and fits nowhere is given what others have on a node
// (GiveBack), where the rule takes back. These are the fewest that make room, of these what the rule leaves to nobody
// first, then lower priorities, then the newest. An application gives only where it stays elsewhere, with a registered
// executor and on all nodes that it needs. Units that it has got since it started it keeps for two minutes, and for two
// minutes after it has given it gets nothing. No application is asked where memory is expected to come free in 15 s.
// The memory is spared for the one that waits, from all others; where it waits no more, it is anybody's. An executor
// that has not left after two minutes is not waited for, and another one is asked. Where more fits a node than the sum
// says, and nobody grows into it, the first of the line starts there.
//
// # Expected starts
//
// They are for people, and decide nothing but refusals. Running applications end as they are predicted to. An
// application of which that is not known ends when runs of their profile mostly do, which Learn is told (a mean in
// which the newest run weighs 1/8 or more). The others' end is not known. An application that waits ends at its
// deadline, or after as long as such runs take.
//
// # What the caller must do
//
// Ask Decide when an application comes or ends, when memory comes free, and when nodes or deadlines change. Carry its
// choices out in their order; save what Learn returns and have the ledger hold it (ledger.QueueLearnt).
//
// All functions are pure: they read a ledger.View and return values. Memory is in bytes,
// times are Instants of the planner's clock.
package queue
