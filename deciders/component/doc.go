// Package component keeps what a planner knows of components: the driver that a node runs for an application, and the
// programs of its description.
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
// The programs of a description are members of a Group. Core ones are on nodes all at once, from the start of the
// application. Elastic ones come where memory is free (Grow), leave where it is wanted (Leave), and come again under
// another name. A member has its port and its words filled in when it is put on a node.
//
// # Algorithm
//
// State and Group are facets of an application. Follow and FollowGroup find what is lost, and what may begin again.
// They are functions of the ledger's View and return levers.
package component
