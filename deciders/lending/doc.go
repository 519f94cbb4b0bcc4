// Package lending says which applications are lent memory, how much of a node they may take, and from which of them it
// is taken back.
//
// # Source
//
// Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters" (thesis, 2018), 4.2:
// what is reserved and unused goes to others, who give it back first.
//
// # Concepts
//
//	promised  the memory of an executor that nothing takes away: of an application that has a deadline, or is not of
//	          class batch
//	lent      that of a batch application without a deadline: what is free, and what all executors are foretold to
//	          leave of their claims (ledger.View.Lendable)
//	taking    memory that was lent is needed: the executor goes, without a drain
//	kept      after three takings an application gets free memory alone, and is promised it
//
// For an application that is promised its memory, executors that are lent theirs are not there: it is seated where
// they sit, and Back takes back what a node lacks then. Package ledger sees to it that no more is promised of a node
// than it gives.
//
// # Units
//
// Bytes. The moment of a taking is on the application's deadline clock.
//
// # What it does not do
//
// It foretells nothing: nodes say what their executors leave (package node, by package forecast). A node says what it
// takes back by itself, and the planner records that as it is. Heaps and limits stay as they are.
package lending
