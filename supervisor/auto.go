package supervisor

import (
	"slices"

	"github.com/sparkpacer/pacer/supervisor/sharing"
)

// Auto serves applications as EDFPure does, and those that are put behind after the others. Package behind puts as few
// there as possible, of all nodes at once.
const Auto = "auto"

// auto gives each demand all that it can take, in order of time to completion, those behind last.
func auto(left float64, demands []demand, _ sharing.Doubts) {
	slices.SortFunc(demands, func(a, b demand) int {
		switch {
		case a.behind == b.behind:
			return byDeadline(a, b)
		case b.behind:
			return -1
		}
		return 1
	})
	inTurn(left, demands)
}
