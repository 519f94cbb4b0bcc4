// Package paper tries what M. Khelghatdoust's thesis, "Scalable and distributed resource management protocols for cloud
// and big data clusters" (University of Sydney 2018), says of its two systems: each experiment is a table, the source's
// numbers in brackets beside ours.
//
//	cell     one size and load of a table, by each system that is compared
//	figure   a number over all cells, seed by seed, with the band in which it is wanted
//
// Cells run side by side, each world in one goroutine. The same Options give the same table.
//
// # What the caller must do
//
// Call RunGLAP or RunGLAPLearning.
package paper
