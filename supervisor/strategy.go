package supervisor

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// demand is one application's part in a division.
type demand struct {
	// index is the application's place in the input.
	index       int
	id          api.AppID
	hasDeadline bool
	ttc         units.Seconds
	// weight is what it asks for; room is the most it can still take.
	weight, room float64
	// taken is what it gets.
	taken float64
}

// strategy gives left away among demands, whose rooms sum up to at least left:
// it sets taken, at most room. It may reorder demands.
type strategy func(left float64, demands []demand)

// strategyTable is where a new strategy is entered.
func strategyTable() []struct {
	name   string
	divide strategy
} {
	return []struct {
		name   string
		divide strategy
	}{
		{EDFPure, edfPure},
		{Proportional, proportional},
	}
}

func newStrategy(name string) strategy {
	for _, entry := range strategyTable() {
		if entry.name == name {
			return entry.divide
		}
	}
	return nil
}

// Strategies returns the names of the strategies that are built.
func Strategies() []string {
	var names []string
	for _, entry := range strategyTable() {
		names = append(names, entry.name)
	}
	return names
}

// edfPure is EDF_pure of Table 1. Applications without a deadline come last.
func edfPure(left float64, demands []demand) {
	slices.SortFunc(demands, byDeadline)
	for i := range demands {
		d := &demands[i]
		d.taken = min(d.room, left)
		left -= d.taken
	}
}

// byDeadline orders by time to completion, ties by id.
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

// proportional is Proportional of Table 1: w = rc/sum(rc), with what one
// application cannot take divided among the others in the same way.
func proportional(left float64, demands []demand) {
	slices.SortFunc(demands, byRoomPerWeight)
	var weights float64
	for i := range demands {
		weights += demands[i].weight
	}
	// The one whose room is the smallest multiple of its weight fills up first:
	// when it does not, no other that follows does.
	for i := range demands {
		d := &demands[i]
		if d.weight <= 0 || weights <= 0 {
			continue
		}
		d.taken = min(d.room, left*min(1, d.weight/weights))
		left -= d.taken
		weights -= d.weight
	}
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
