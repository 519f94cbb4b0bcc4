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
//
// An application fits where one of its executors does; it then gets executors on all nodes
// that have room for them (placement.Policy.Seats), and more as memory comes free.
//
// # The order "edf"
//
// Earliest deadline first, then arrival. An application without a deadline comes as if it
// were due Patience after its arrival, so that those that come later pass it for so long at
// most. One whose latest start (its deadline less what it needs with the whole cluster) is
// Patience away or nearer comes as if it were due then: however long it runs, those that come
// from then on do not pass it until its deadline is lost.
//
// # Nobody is passed for ever
//
// An application that does not fit has the memory of one node kept, if it is not kept for somebody before it
// in the order: of that node others may take what is left when all that ran there when it
// came have ended and it has started,
//
//	M - claim - claims of those that started there since it came
//
// and no more than is free. So it waits for nobody who started after it came, whatever is
// expected of ends. This is backfilling with a reservation for the head of the queue
// (Lifka, "The ANL/IBM SP Scheduling System", 1995, known as EASY), on each node, and without
// trust in estimates. Memory for executors that are to replace lost ones elsewhere comes
// before all who wait.
//
// The Plan of a node holds a bounded number of bytes of launches (api.MostPlanLaunches). They are
// divided by the same rule; one that waits for them is told so, those behind it that fit beside
// it start, and one that comes is turned down, as its user may make its launch smaller.
//
// # Expected starts
//
// They are for people, and decide nothing but refusals. Running applications end as they are
// predicted to; those of which that is not known when runs of their profile mostly do, which
// Learn is told (a mean in which the newest run weighs 1/8 or more); the others nobody knows.
// An application that waits ends at its deadline, or after as long as such runs take.
//
// # What the caller must do
//
// Ask Decide when an application comes or ends, when memory comes free, and when nodes or
// deadlines change; carry its choices out in their order; save what Learn returns and have
// the ledger hold it (ledger.QueueLearnt).
//
// All functions are pure: they read a ledger.View and return values. Memory is in bytes,
// times are Instants of the planner's clock.
package queue
