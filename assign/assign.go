package assign

import "github.com/sparkpacer/pacer/units"

// Amount is what a unit takes, or what there is, in both dimensions. A dimension in which nothing is asked for bounds
// nothing.
type Amount struct {
	Cores  units.Cores
	Memory units.Bytes
}

// Job is an application that waits or is served.
type Job struct {
	ID string
	// Arrival is when it came, Began when it got its core units (0 for one that waits), Due its deadline, 0 for none.
	Arrival, Began, Due units.Instant
	// Priority counts under the rules that preempt: the greater one comes first.
	Priority int
	// Unit is what each of its units takes.
	Unit Amount
	// Core and Elastic are the units that it asks for, Units those that it has.
	Core, Elastic, Units int
	// Time is what it takes with all its units (T), Left what is left of its work, in unit-seconds; both 0 where
	// nobody knows. Its whole work is Time * (Core + Elastic).
	Time units.Seconds
	Left float64
}

// State is a cluster, and all jobs that it serves or that wait for it.
type State struct {
	Now   units.Instant
	Total Amount
	// Serving are in any order (Began says theirs), as are Waiting.
	Serving, Waiting []Job
	// Freed says that something has left since the last question: what has come alone takes nothing back (Algorithm 1).
	Freed bool
}

// Grant is how many units a job has from now on.
type Grant struct {
	ID    string
	Units int
}

// Policy says by which rule units are granted, in which order jobs wait, and what counts as the size of a job. With
// Pass those behind one that does not fit may start in what its core units, and all that have started since it came,
// leave of the whole.
type Policy struct {
	Rule, Order, Size string
	Pass              bool
}
