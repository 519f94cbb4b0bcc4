// Package doctor looks at a machine before Pacer runs on it, and says what is in the way and the command that mends it.
//
// # Concepts
//
//	Machine  the facts of a machine, read once by Read; a Fact that could not be read has the error
//	Check    a value: a name, the roles that it is for, and a pure function from a Machine to a Finding
//	Role     planner, node or user: what the machine is looked at as
//	Finding  in one line: ok, a fault, which keeps the role from its work, or a warning, with which the work is done
//	         worse or ends some day; a warning too is what the caller has no right to see
//
// Read starts no daemon, makes no group and no file. It asks the planner twice, and runs python3 once.
package doctor
