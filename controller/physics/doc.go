// Package physics is how executors behave: how a machine's cores are divided and what
// cores are worth to a stage. All worlds that stand for real executors compute by it:
// the plant of the simulator and of the in-process tests (package sim/plant), and the small
// worlds in the tests of node and controller.
//
// # Concepts
//
// A machine gives its cores max-min: to all that want some by their weights, and none more
// than it wants and its quota allows; what one leaves is the others' (Divide). That is what
// the kernel's scheduler does for groups.
//
// # Equations
//
//	Eq 8   eff(t + 0.5 s) = p eff(t) + (1-p) c     effective cores follow those obtained (Follow)
//	       f(c) = c (1+k) / (1 + k c/C)            c cores of C slots are worth more where few are used (Bent)
//
// The latter is not the paper's: it is fitted to the paper's mean cores (package
// sim/paper).
//
// # Units
//
// Cores, and seconds of whatever time the world has.
//
// # What the caller must do
//
// Keep the state: all of this are functions of their arguments.
package physics
