package assign

import (
	"slices"

	"github.com/sparkpacer/pacer/units"
)

// Amount is what a unit takes, or what there is, in both dimensions. A dimension in which nothing is asked for bounds
// nothing. Cores count to a millionth.
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
	// Core and Elastic are the units that it asks for, Units those that it has. Core is at least 1.
	Core, Elastic, Units int
	// Time is what it takes with all its units (T), Left what is left of its work, in unit-seconds; both 0 where
	// nobody knows. Its whole work is Time * (Core + Elastic).
	Time units.Seconds
	Left float64
	// Tasks are how many units it can use at once, and Used the unit-seconds that one that waits has had all the same.
	// They count under the rules that reserve.
	Tasks int
	Used  float64
}

// State is a cluster, and all jobs that it serves or that wait for it. Assign changes nothing of it.
type State struct {
	Now   units.Instant
	Total Amount
	// Serving are in any order (Began says theirs), as are Waiting. A question costs least where Serving are in the
	// order of Began, and where those that wait need not be sorted.
	Serving, Waiting []Job
	// Sorted says that Waiting are in the order of Policy.Compare at Now.
	Sorted bool
	// Freed says that something has left since the last question: what has come alone takes nothing back (Algorithm 1).
	Freed bool
	// Learnt is what Policy.Learn has made of the jobs that have ended, nil of none.
	Learnt []byte
}

// Grant is how many units a job has from now on. Drop, under the rules that reserve, turns one that waits down, and
// ends one that is served.
type Grant struct {
	ID    string
	Units int
	Drop  bool
}

// Policy says by which rule units are granted, in which order jobs wait, and what counts as the size of a job. With
// Pass those behind one that does not fit may start in what its core units, and all that have started since it came,
// leave of the whole. A name that is not known counts as the first of Rules, Orders or Sizes. A rule of Reserving
// has an order of its own, and no use for sizes and Pass.
type Policy struct {
	Rule, Order, Size string
	Pass              bool
	Reading           Reading
}

// Names of rules, orders and sizes.
const (
	Backfill, Rigid, Malleable, Flexible   = "backfill", "rigid", "malleable", "flexible"
	FlexiblePreemptive                     = Flexible + "-preemptive"
	EDF, FIFO, SJF, SRPT, HRRN, Laxity     = "edf", "fifo", "sjf", "srpt", "hrrn", "laxity"
	ByTime, ByTimeUnits, ByTimeCoresMemory = "time", "time-units", "time-cores-memory"
)

// rules is the table of the rules, each in a file of its own.
func rules() []entry[func(*round)] {
	return []entry[func(*round)]{{Backfill, backfill}, {Rigid, rigid}, {Malleable, malleable}, {Flexible, flexible},
		{FlexiblePreemptive, preemptive}}
}

// entry is a line of a table, the first of which is the default.
type entry[T any] struct {
	name  string
	value T
}

func names[T any](table []entry[T]) []string {
	var out []string
	for _, e := range table {
		out = append(out, e.name)
	}
	return out
}

func find[T any](table []entry[T], name string) T {
	return table[max(0, slices.IndexFunc(table, func(e entry[T]) bool { return e.name == name }))].value
}

// Rules are the values of Policy.Rule, the default first.
func Rules() []string { return names(rules()) }

// Orders are the values of Policy.Order, the default first.
func Orders() []string { return names(orders()) }

// Sizes are the values of Policy.Size, the default first.
func Sizes() []string { return names(sizes()) }

// Assign says which jobs have other units from now on: one that waits starts by its grant, the others keep what they
// have. Grants of jobs that lose units come first, so that each grant in its turn fits. A job whose core units the
// whole does not hold never starts, and never blocks.
func (p Policy) Assign(s State) []Grant {
	if slices.Contains(Reserving(), p.Rule) {
		return p.reserve(s)
	}
	r := p.newRound(s)
	find(rules(), p.Rule)(r)
	return r.grants()
}
