// Package shaping gives each component of the applications on a cluster what it is foretold to use and a buffer, in the
// place of what was reserved for it. It says which components must go where that does not fit.
//
// # Source
//
// Pace, "Mechanisms for Efficient and Responsive Distributed Applications in Compute Clusters" (thesis, 2018),
// 4.2.2: Algorithm 3 (pessimistic preemption) and Eq 4.3 (the buffer); its comparators none (the reservation
// stays) and optimistic (everything is resized, and whatever no longer fits is left to fail).
//
// # Readings of the source
//
//   - A buffer is K1 R + K2 sqrt(V), in the unit of what is resized; Params.Variance takes V as Eq 4.3
//     prints it.
//   - R is what the component requested, and a size is never more than that: at K1 = 1 every policy is
//     the baseline.
//   - An elastic component that would take the very last of a host goes (<= in Algorithm 3), a core one
//     may take it (<).
//   - Preempted components are not resized.
//
// An Amount has one number for each kind of resource, in any unit; every host and component of a Plan has the same
// kinds. The functions are pure and safe for concurrent use.
//
// # What it does not do
//
// It foretells nothing (package forecast does), ends nothing, and knows no deadlines: the caller orders the
// applications.
package shaping
