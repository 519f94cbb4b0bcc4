package supervisor

// Proportional gives every application the same share of its request.
const Proportional = "proportional"

// proportional is Proportional of section 6.2 and Table 1: w = rc/sum(rc).
func proportional(left float64, demands []demand) {
	for i := range demands {
		demands[i].weight = demands[i].request
	}
	byWeight(left, demands)
}
