// Package offers is a cluster that is divided by offers, as Mesos does it: E. Dimopoulos, "Resource Allocation in
// Multi-analytics, Resource-Constrained Environments" (PhD thesis, UC Santa Barbara 2018), chapter 3.
//
//	executor  what a framework has to have on a node before a task of it runs there
//	slot      what a task takes beside that
//	share     the dominant share: the largest part that a framework is charged of any resource
//	stuck     of a framework: it holds executors and has tasks that wait, and none of it runs
//
// A free slot is offered to the framework with the smallest share that can use it, which takes one slot, with an
// executor where it has none; then the shares are looked at anew. Of equal shares the first framework's goes first.
// A framework is charged all that it holds, idle executors too. A fine one spreads over the nodes, gives a slot back
// when its task ends, and its executors when its last task has ended. A coarse one fills as few nodes as it can, and
// keeps its slots until then, too. Cluster.ReleaseTask and RevokeShrink are the changes of the source's section 3.5.2.
//
// Call Run or WordCount, from any goroutine. The same arguments give the same Moments.
package offers
