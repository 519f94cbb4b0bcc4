package supervisor

import "slices"

// EDFPure serves applications in order of time to completion, each its request,
// until the node is depleted.
const EDFPure = "edf-pure"

// edfPure is EDF_pure of section 6.2 and Table 1. Applications without a deadline
// come last.
func edfPure(left float64, demands []demand) {
	slices.SortFunc(demands, byDeadline)
	inOrder(left, demands)
}
