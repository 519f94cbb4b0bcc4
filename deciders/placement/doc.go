// Package placement decides on which nodes an application has executors, and how many.
//
//	Seats        for one that comes
//	Replacement  for one that has lost an executor
//	Growth       for one that may use nodes that have come since, or more of what it has
//	Vacate       for all that can leave the nodes that drain
//	Empty        which node others have room for, so that it may sleep
//
// # Orders
//
// Where Policy.MaxNodes or its user bounds the nodes of an application, an Order says which are taken:
//
//	least-committed  memory that fits, most cores for each application, most memory left
//	most-memory      most memory left, then most cores for each application
//	prophet          memory that fits, the best norm of disks and network over time, most memory left
//	tetris           memory that fits, peaks of all four that fit, the greatest dot product
//
// A new order is a file with a function on two Sites, an entry in the table of orders.go, a
// test and a scenario of package sim.
//
// # How many
//
// One stage has one executor on a node, or as many as fill its cores where the user gave them
// fewer (ledger.Node.PerStage). A paced application gets these for as many stages as can run side by side by its
// profile, at most Policy.MaxPool, or as few as the shape of its branches asks for (estimate.Policy.Shape). Any other
// gets those of one stage. A node gives fewer where its memory holds fewer, and none where not even one fits. An
// application gets none at all where fewer nodes have room than its user asks for. Each is started with the least
// off-heap memory that it may have (memory.FloorOf), and counts with that; what a node's executors have beyond it moves
// while they run (package node).
//
// All functions are pure: they read a ledger.View and return what they want. The engine
// checks that against the ledger once more when it applies it. Memory is in bytes.
package placement
