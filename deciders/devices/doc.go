// Package devices knows how fast the disks and the network of a node are, what stages move over them, and what others
// leave of them.
//
//	Rates    bytes a second, of a node's disks and of its network; 0 is not known
//	Moves    what a stage reads and writes by device, of its profile
//	Left     what a device gives to one more, beside others that want so much
//	Drain    how long bytes take beside others, whatever the cores
//
// A device shares itself fairly: who wants less than an equal part has what it wants, and the rest is divided. A node's
// rates are what its operator has set (node.disk-rate, node.net-rate); the ledger keeps them with the highest rates
// that the node has seen, as a facet.
package devices
