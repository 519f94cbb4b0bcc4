package supervisor

import (
	"slices"

	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// Proportional gives every application the same share of its request. Where all can be in time, the request of one that
// is due later than another counts up to the least cores that it needs for that. It asks for more while it is behind in
// a stage, which it can end later. With Eq21Printed each request counts whole.
const Proportional = "proportional"

// byRequest is Proportional of section 6.2 and Table 1: w = rc/sum(rc).
func byRequest(left float64, demands []demand, _ sharing.Doubts) {
	for i := range demands {
		demands[i].weight = demands[i].request
	}
	byWeight(left, demands)
}

// proportional is byRequest, but for those that are due later.
func proportional(left float64, demands []demand, by sharing.Doubts) {
	slices.SortFunc(demands, byDeadline)
	inTime := allFit(left, demands, by)
	for i := range demands {
		d := &demands[i]
		d.weight = d.request
		if inTime && d.hasDeadline && d.ttc > demands[0].ttc && d.least > 0 {
			d.weight = min(d.request, d.least)
		}
	}
	byWeight(left, demands)
}

// allFit reports whether all of demands, which are in order of time to completion, can be in time, with a reserve.
func allFit(cores float64, demands []demand, by sharing.Doubts) bool {
	work := 0.0
	for i := range demands {
		d := &demands[i]
		if !d.hasDeadline {
			break
		}
		if work += min(d.least, d.request) * max(0, float64(d.ttc)); work*(1+by.Reserve) > cores*float64(d.ttc) {
			return false
		}
	}
	return true
}
