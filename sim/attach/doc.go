// Package attach runs applications whose executors another cluster manager starts against a planner's engine in
// virtual time, and compares how many executors they ask for with what an oracle needs.
//
// # Concepts
//
//	application  stages one after the other, each as large as its profile says but for a few per cent
//	manager      what gives executors: of those that are asked for half, after up to a minute, and then of the rest
//	oracle       asks once for a number of executors that it never changes, and holds nothing back
//	fewest       the least number with which the oracle keeps the deadline
//
// The oracle tries all numbers on the very application, with the very delays. Executors are fluid: each works at its
// cores or, where a target holds it back, as fast as ends its share in time. There is no node engine in it: what
// holds executors back is tried elsewhere.
//
// # What the caller must do
//
// Call Run; the same Options give the same Runs.
package attach
