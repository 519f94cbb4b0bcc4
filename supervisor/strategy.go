package supervisor

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// demand is one application's part in a division.
type demand struct {
	// index is the application's place in the input.
	index       int
	id          api.AppID
	hasDeadline bool
	ttc         units.Seconds // Finite.
	rate        units.Rate    // 0 when unknown.
	// request is what it asks for; room is the most it can still take.
	request, room float64
	// weight and rest are for byWeight: its weight, and the sum of the weights
	// from it to the last one.
	weight, rest float64
	// least is the least with which its deadline can be kept, 0 where that is not known.
	least float64
	// behind says that it comes after those that are not.
	behind bool
	// taken is what it gets.
	taken float64
}

// strategy is one way to divide cores.
type strategy struct {
	name string
	// divide gives left away among demands, whose rooms sum up to at least left:
	// it sets taken, at most room. It may reorder demands.
	divide func(left float64, demands []demand, by sharing.Doubts)
	// printed does it as the source has it, with Eq21Printed, where divide does not; else nil.
	printed func(left float64, demands []demand, by sharing.Doubts)
	// beyond says that a request is no bound: an application may get all it can
	// use before another gets what it asks for.
	beyond bool
	// within says that nobody ever gets more than it asks for.
	within bool
	// inOrder says that one after the other gets all it asks for, while there is any.
	inOrder bool
}

// strategyTable is where a new strategy is entered.
func strategyTable() []strategy {
	return []strategy{
		{name: EDFPure, divide: earliestFirst, within: true, inOrder: true},
		{name: EDFAll, divide: earliestFirst, beyond: true, inOrder: true},
		{name: EDFProp, divide: edfProp, within: true},
		{name: Proportional, divide: proportional, printed: byRequest},
		{name: Speed, divide: speed},
		{name: Auto, divide: auto, within: true, inOrder: true},
	}
}

func findStrategy(name string) (strategy, bool) {
	for _, entry := range strategyTable() {
		if entry.name == name {
			return entry, true
		}
	}
	return strategy{}, false
}

// InOrder reports whether the strategy of that name serves one application after the other, by
// deadline; "" means that of Default. Under the others one that is due later has its part of a
// shortage at any moment.
func InOrder(name string) bool {
	name = cmp.Or(name, Default().Strategy)
	how, _ := findStrategy(name)
	return how.inOrder
}

// Strategies returns the names of the strategies that are built.
func Strategies() []string {
	var names []string
	for _, entry := range strategyTable() {
		names = append(names, entry.name)
	}
	return names
}

// earliestFirst gives each demand all that it can take, in order of time to
// completion; those without a deadline come last.
func earliestFirst(left float64, demands []demand, _ sharing.Doubts) {
	slices.SortFunc(demands, byDeadline)
	inTurn(left, demands)
}

// inTurn gives each demand all that it can take, one after the other.
func inTurn(left float64, demands []demand) {
	for i := range demands {
		d := &demands[i]
		d.taken = min(d.room, left)
		left -= d.taken
	}
}

// byWeight divides left in proportion to the weights, and what one demand cannot
// take among the others in the same way. Without weight a demand gets nothing.
func byWeight(left float64, demands []demand) {
	slices.SortFunc(demands, byRoomPerWeight)
	// Summed up from the end: the last weight is exactly all that is left then,
	// however small it is beside the first.
	rest := 0.0
	for i := len(demands) - 1; i >= 0; i-- {
		rest += max(0, demands[i].weight)
		demands[i].rest = rest
	}
	// The one whose room is the smallest multiple of its weight fills up first:
	// when it does not, no other that follows does.
	for i := range demands {
		d := &demands[i]
		if d.weight <= 0 {
			continue
		}
		d.taken = min(d.room, left*(d.weight/d.rest))
		left -= d.taken
	}
}

// byDeadline orders by time to completion, ties by id; those without a deadline
// last.
func byDeadline(a, b demand) int {
	switch {
	case a.hasDeadline && !b.hasDeadline:
		return -1
	case !a.hasDeadline && b.hasDeadline:
		return 1
	case a.hasDeadline && a.ttc != b.ttc:
		return cmp.Compare(a.ttc, b.ttc)
	}
	return cmp.Compare(a.id, b.id)
}

// byRoomPerWeight orders by room/weight, ties by id; those without weight last.
func byRoomPerWeight(a, b demand) int {
	switch {
	case a.weight > 0 && b.weight <= 0:
		return -1
	case a.weight <= 0 && b.weight > 0:
		return 1
	case a.weight > 0:
		if c := cmp.Compare(a.room/a.weight, b.room/b.weight); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.id, b.id)
}
