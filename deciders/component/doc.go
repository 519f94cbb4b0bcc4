// Package component keeps what a planner knows of a component: the driver that a node runs for an application.
//
// # Concepts
//
// An application that is submitted to the nodes is in the ledger, and in the queue, before its driver is. It
// starts when a node has room for its driver and there is room for its executors, or not at all. Until its driver
// has registered its executors have their memory, and no node is told of them (ledger.App.Awaits).
//
// A driver that has exited ends its application, with its exit code. A driver that is lost with its node fails it, or
// begins again on another node, once nothing of the first one runs any more.
//
// # Algorithm
//
// State is a facet of an application. Lost finds drivers that are lost, and Again those that may begin again.
// Both are functions of the ledger's View and return levers.
package component
