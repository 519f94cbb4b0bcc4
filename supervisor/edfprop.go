package supervisor

import (
	"slices"

	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// EDFProp divides by weights that grow as the time to completion shrinks; nobody
// gets more than its request.
const EDFProp = "edf-prop"

// edfProp is EDF_prop of section 6.2 and Table 1:
//
//	w_i = 1 - (ttc_i - min(ttc) + 1) / sum_j (ttc_j - min(ttc) + 1)
//
// over the applications with a deadline, times in seconds. Cores that one application cannot take are divided among the
// others by the same weights; applications without a deadline come last, in proportion to their requests. A single
// application, for which the equation gives 0, has no one to share with.
func edfProp(left float64, demands []demand, by sharing.Doubts) {
	slices.SortFunc(demands, byDeadline)
	n := 0
	for n < len(demands) && demands[n].hasDeadline {
		n++
	}
	timed, others := demands[:n], demands[n:]
	var sum, rooms float64
	for i := range timed {
		sum += sinceFirst(timed, i)
		rooms += timed[i].room
	}
	// sinceFirst reads timed in its order, which byWeight changes only later.
	for i := range timed {
		timed[i].weight = 1
		if n > 1 {
			// 1 - x/sum is (sum-x)/sum, at least 1/sum: each of the others adds 1 or more.
			timed[i].weight = max(1, sum-sinceFirst(timed, i)) / sum
		}
	}
	byWeight(min(left, rooms), timed)
	byRequest(max(0, left-rooms), others, by)
}

// sinceFirst is ttc_i - min(ttc) + 1 where the first demand has the least.
func sinceFirst(timed []demand, i int) float64 { return float64(timed[i].ttc-timed[0].ttc) + 1 }
