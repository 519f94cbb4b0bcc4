// Package experiment is the one form that experiments of the simulators have: what they are of, how they are run, what
// they give and how that is printed. Package registry has the list of them.
//
// # Concepts
//
//	experiment  a table of a publication, or one beside it: name, source, the flags that it takes.
//	case        a row of it, which is run with each seed and gives a measure, whatever its type.
//	figure      a number of the whole experiment, seed by seed: the bench keeps it by its name.
//	claim       a figure of a publication, ours beside it, and the band where ours has to lie.
//	table       what all cases gave: cells for programs, rows to print, figures, a drawing.
//
// # Units and use
//
// An experiment's package makes Cases, has Run run them and makes a Table of what they gave. Run runs as many at a time
// as there are cores; what it returns does not depend on which ends first. A case runs by its number of the seed alone,
// so that the same Options give the same Table.
package experiment
