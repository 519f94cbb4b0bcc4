// Package attach runs applications whose executors another cluster manager starts, in worlds of package sim, and
// compares how many executors they ask for with what an oracle needs.
//
// # Concepts
//
//	application  stages one after the other, each as large as its profile says but for a few per cent
//	oracle       asks once for a number of executors that it never changes, and holds nothing back
//	fewest       the least number with which the oracle keeps the deadline
//
// The oracle tries numbers on the very application, with the very delays of the manager (plant.Manager), from the least
// that could be enough. Planner, node controllers and executors are those of package sim.
//
// # What the caller must do
//
// Call Run; the same Options give the same Runs.
package attach
