package supervisor

import "slices"

// EDFAll gives the application with the smallest time to completion all the cores
// that its tasks can use, asked for or not, and the next one what is left.
const EDFAll = "edf-all"

// edfAll is EDF_all of section 6.2 and Table 1: the order of EDFPure, with rooms
// that end at the runnable tasks (rt of the source) rather than at the requests.
func edfAll(left float64, demands []demand) {
	slices.SortFunc(demands, byDeadline)
	inOrder(left, demands)
}
