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
	// 1. With 1 nothing is left for what follows the last stage. With Aim it holds
	// for stages that others follow.
	Alpha float64
	// Aim is the share of the deadline that the application's end is aimed at, so that the last stage gets what is left.
	// It is at least Alpha and at most 1, or 0, which keeps Alpha for all stages, as the source does.
	Aim float64
	// Margin is taken off the time to Aim besides: what does not grow with the
	// deadline, as the node's last tick and the driver's last words.
	Margin units.Seconds
	// Beta of Eq 2 weighs the number of stages against their durations, 0 to 1;
	// the source recommends 0.2 to 0.4.
	Beta float64
	// Quantum is cq of Eq 7 in cores; 0 does not round.
	Quantum units.Cores
	// Split names how the time is divided among stages; "" is SplitPaper.
	Split string
	// Executors is how many stages can run side by side, since each needs executors
	// of its own: on a node, for whom one fills it. 0 is any number.
	Executors int
	// Nodes is how many executors a stage has in all: one on each node, or several; 0 counts
	// as one. Another stage side by side costs what it costs on each.
	Nodes int
	// Open says that stages run side by side on the executors of one and nothing is
	// held back: a walk takes all cores, whatever the deadline.
	Open bool
	// Reserve is the time at all cores that is kept for what nobody foresees, at each eighth of the work: as if a
	// stage came after all others that takes so long.
	Reserve [api.ReservePlaces]units.Seconds
	// Legs is how long queries and jobs may take (Within).
	Legs Bound
}

// reserve is what is kept when that part of the work is done.
func (p Params) reserve(done float64) units.Seconds {
	at := min(max(done, 0), 1) * (api.ReservePlaces - 1)
	from := min(int(at), api.ReservePlaces-2)
	part := units.Seconds(at - float64(from))
	return p.Reserve[from]*(1-part) + p.Reserve[from+1]*part
}

// Default returns the source's values with Pacer's aim: stages that others follow
// keep 3 % in reserve for these, the application is to end 0.4 % and 0.3 s before
// its deadline. In virtual time paced runs end up to 0.5 s before their aim; the
// latest real ones ended 0.45 s after it (of 33 s), 0.24 s (of 80) and 0.75 s (of 136).
func Default() Params {
	return Params{Alpha: 0.97, Aim: 0.996, Margin: 0.3, Beta: 0.3, Quantum: 0.05, Split: SplitPaper}
}

// Validate reports every fault of p at once as one KindInvalid error.
func (p Params) Validate() error {
	var faults []string
	if !(p.Alpha > 0 && p.Alpha <= 1) {
		faults = append(faults, fmt.Sprintf("alpha is %v, want > 0 and <= 1", p.Alpha))
	}
	if p.Aim != 0 && !(p.Aim >= p.Alpha && p.Aim <= 1) {
		faults = append(faults, fmt.Sprintf("aim is %v, want 0 (alpha for all stages), or at least alpha and at most 1",
			p.Aim))
	}
	if m := float64(p.Margin); !(m >= 0) || math.IsInf(m, 1) {
		faults = append(faults, fmt.Sprintf("margin is %v s, want a finite number >= 0", m))
	}
	if !(p.Beta >= 0 && p.Beta <= 1) {
		faults = append(faults, fmt.Sprintf("beta is %v, want 0 to 1", p.Beta))
	}
	if q := float64(p.Quantum); !(q >= 0) || math.IsInf(q, 1) {
		faults = append(faults, fmt.Sprintf("quantum is %v cores, want a finite number >= 0", q))
	}
	if p.Executors < 0 {
		faults = append(faults, fmt.Sprintf("executors are %d, want 0 (any number) or more", p.Executors))
	}
	if b := p.Legs; !(b.Most >= 0 && b.Factor >= 0) {
		faults = append(faults, fmt.Sprintf("the bound of legs is %v s, %v times, want numbers >= 0", b.Most, b.Factor))
	}
	if _, ok := findSplit(p.Split); !ok {
		faults = append(faults, fmt.Sprintf("split %q is unknown, want one of %s", p.Split, strings.Join(Splits(), ", ")))
	}
	if len(faults) == 0 {
		return nil
	}
	return api.Errorf(api.KindInvalid, "planning parameters: %s", strings.Join(faults, "; "))
}
