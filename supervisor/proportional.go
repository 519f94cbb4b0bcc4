package supervisor

import (
	"slices"

	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// Proportional gives every application the same share of its request. Where all can be in time, the
// request of one that is due later than another counts up to the least cores that it needs for that:
// it asks for more while it is behind in a stage, which it can end later. With Eq21Printed each
// request counts whole.
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
	inTime := harmless(left, 0, demands, by)
	for i := range demands {
		d := &demands[i]
		d.weight = d.request
		if inTime && d.hasDeadline && d.ttc > demands[0].ttc && d.least > 0 {
			d.weight = min(d.request, d.least)
		}
	}
	byWeight(left, demands)
}
