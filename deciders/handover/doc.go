// Package handover decides when the tail of a running stage goes from executors that will
// not be in time to ones that can be.
//
// Of each executor it takes what is left of its share (in mean tasks) and how fast it could go. That is what it has
// done for a core-second, times the cores that it uses and could use besides. Tasks that an executor cannot do by the
// deadline go to executors that can do more by then (divide.go). Running tasks stay where they are. A stage's tail is
// handed over once in four seconds at most.
//
// A Decider reads a ledger.View and returns levers; it remembers nothing.
package handover
