package dag

import (
	"fmt"
	"math"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Params are the planner's constants (source section 4).
type Params struct {
	// Alpha of Eq 1 is the share of the deadline to aim at, above 0 and at most
	// 1. With 1 nothing is left for what follows the last stage.
	Alpha float64
	// Beta of Eq 2 weighs the number of stages against their durations, 0 to 1;
	// the source recommends 0.2 to 0.4.
	Beta float64
	// Quantum is cq of Eq 7 in cores; 0 does not round.
	Quantum units.Cores
	// Split names how the time is divided among stages; "" is SplitPaper.
	Split string
}

// Default returns the source's values, but for Alpha: 0.97 leaves room to end
// early after the last stage.
func Default() Params {
	return Params{Alpha: 0.97, Beta: 0.3, Quantum: 0.05, Split: SplitPaper}
}

// Validate reports every fault of p at once as one KindInvalid error.
func (p Params) Validate() error {
	var faults []string
	if !(p.Alpha > 0 && p.Alpha <= 1) {
		faults = append(faults, fmt.Sprintf("alpha is %v, want > 0 and <= 1", p.Alpha))
	}
	if !(p.Beta >= 0 && p.Beta <= 1) {
		faults = append(faults, fmt.Sprintf("beta is %v, want 0 to 1", p.Beta))
	}
	if q := float64(p.Quantum); !(q >= 0) || math.IsInf(q, 1) {
		faults = append(faults, fmt.Sprintf("quantum is %v cores, want a finite number >= 0", q))
	}
	if _, ok := findSplit(p.Split); !ok {
		faults = append(faults, fmt.Sprintf("split %q is unknown, want one of %s", p.Split, strings.Join(Splits(), ", ")))
	}
	if len(faults) == 0 {
		return nil
	}
	return api.Errorf(api.KindInvalid, "planning parameters: %s", strings.Join(faults, "; "))
}
