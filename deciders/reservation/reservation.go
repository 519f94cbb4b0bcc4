package reservation

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Policy says who gets a reservation.
type Policy struct {
	estimate.Policy
	// Admission is one of assign.Admissions, "" for the default.
	Admission string
}

func (p Policy) open() bool { return p.Admission == "" || p.Admission == assign.Open }

// rule is p as package assign has it.
func (p Policy) rule() assign.Policy { return assign.Policy{Rule: p.Admission} }

// unit is how many cores a unit is.
func (p Policy) unit() units.Cores { return max(p.Equations.Quantum, leastUnit) }

// leastUnit is that where nothing is rounded.
const leastUnit units.Cores = 0.01

// State is what is known of deadlines: which part of what it could use an application has reserved that comes now, and
// after how many runs. known is false until enough have ended, and where nothing is reserved. reserved are the cores
// that are reserved now.
func (p Policy) State(v ledger.View) (fraction float64, runs int, known bool, reserved units.Cores) {
	for a := range v.Running() {
		if !Of(a).Free {
			reserved += a.Reserved()
		}
	}
	fraction, runs, known = p.rule().Fraction(v.Learnt(ledger.DeadlinesKey))
	return fraction, runs, known && !p.open(), reserved
}

// unforeseen reports whether a has a deadline, and runs so that nobody knows whether that can be kept. Another cluster
// manager has promised what its executors may use.
func unforeseen(a *ledger.App) bool {
	return a.Promise.Deadline > 0 && a.Profile == nil && a.Promise.Mode == ledger.Recording &&
		!a.Unmanaged() && a.Tenant.Launch.Attach == nil
}

// waits reports whether a, which runs, is to have a reservation when it can.
func waits(v ledger.View, a *ledger.App) bool {
	r := Of(a)
	return unforeseen(a) && !r.Over && !r.Dropped && r.Cores == 0 && a.Outcome.Killed == "" &&
		a.At(v.Now()) < a.Promise.Deadline
}

// most is how many cores a can use at once (M).
func most(v ledger.View, a *ledger.App) units.Cores {
	cores := min(a.Tenant.Cores, units.Cores(a.Tenant.Slots))
	if a.Tenant.Cap <= 0 {
		return cores
	}
	capped := units.Cores(0)
	for _, name := range a.Seats() {
		capped += min(a.Tenant.Cap, v.Offered(name))
	}
	return min(cores, capped)
}

// Over is of those that are due and run on: their reservations end. It is to be asked before Decide.
func (p Policy) Over(v ledger.View) (over []Reserved) {
	for a := range v.Running() {
		if !unforeseen(a) || Of(a).Over || a.At(v.Now()) < a.Promise.Deadline {
			continue
		}
		f := reserved(a, Of(a), "")
		if cores := f.Held(); cores > 0 {
			f.Why = fmt.Sprintf("its deadline of %s has passed: the %.1f cores that were reserved are not any more",
				verdict.Deadline(a.Promise.Deadline), float64(cores))
		}
		f.Over = true
		over = append(over, f)
	}
	return over
}

// Learn is what is to be kept, under ledger.DeadlinesKey, of a, which has ended, in time or late; ok says that there is
// something. Jobs that the source ends at their deadline teach nothing, jobs that it lets run on teach their whole
// work, and here all run on.
func (p Policy) Learn(v ledger.View, a *ledger.App) (state []byte, ok bool) {
	m, ran := most(v, a), a.Outcome.Ended-a.Tenant.Began
	if a.Outcome.State != api.AppFinished || a.Outcome.Killed != "" || !unforeseen(a) || !(m > 0) || !(ran > 0) {
		return nil, false
	}
	work := float64(a.CoreSeconds())
	had := Of(a).Cores
	if had == 0 {
		had = units.Cores(work / float64(ran))
	}
	u := float64(p.unit())
	state = p.rule().Learn(v.Learnt(ledger.DeadlinesKey), assign.Outcome{Units: int(float64(had) / u),
		Most: int(float64(m) / u), Work: work / u, Deadline: float64(a.Promise.Deadline),
		Met: a.Outcome.Ended <= a.Promise.Deadline})
	return state, len(state) > 0
}
