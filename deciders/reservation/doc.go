// Package reservation decides how many cores an application is promised whose deadline nobody can foresee: it has one,
// and no profile. It asks the rules of package assign that need no profile (E. Dimopoulos, "Resource Allocation in
// Multi-analytics, Resource-Constrained Environments", PhD thesis, 2018, chapters 4 and 5).
//
// # How the rules are asked
//
//	unit      planner.quantum cores
//	capacity  of an application: what its nodes offer that are here, less what those have been promised by the time it is
//	          due whose deadlines are known to be kept (estimate.Outlook.Promised)
//	M         what its slots can use of its nodes, and its cap allows, whatever is promised there
//	arrival   the start of its deadline clock
//	used      the CPU time of its executors so far: one that waits for a reservation runs all the same, on what others
//	          leave
//	work      the same at its end
//
// A reservation is a promise like any other. Its application comes first where cores are short, others are judged
// beside it, and each of its nodes gives a part of it, in proportion to what it offers. A grant that one of these nodes
// cannot give beside what is promised there waits. It is a floor and no cap: its run is recorded, without a quota.
//
// It ends with its application, or when that is due: the source ends jobs there, here they share what others leave.
// Where a node is lost, or gives less, those that are due first keep theirs; the others wait again. Nothing else takes
// a reservation: what is promised later is promised beside it.
//
// An application teaches at its end, in time or late, since its whole work is known then alone. The source ends most
// jobs at their deadline, and these teach nothing; those that it lets run on teach their whole work, and here all run
// on. An application that had no reservation counts with what it used in the mean. Applications that were killed or
// failed, or whose end is not known, teach nothing.
//
// Until two have taught, what is free is kept for an application that comes, and is called that (State.Free) and no
// reservation.
//
// All functions are pure. Cores are of all of an application's nodes, times are seconds of its deadline clock.
package reservation
