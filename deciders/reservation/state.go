package reservation

import (
	"fmt"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// State is what an application whose deadline nobody can foresee is promised of cores: it gets as many at least until
// it ends or is due. Nothing holds it back to them.
type State struct {
	// Cores are of all its nodes, of each in proportion to what that offers; 0 where it has none, and never had one. From
	// is since when, on its deadline clock.
	Cores units.Cores   `json:"cores,omitempty"`
	From  units.Seconds `json:"from_s,omitempty"`
	// Free says that they are what was free when it came, since nobody knew what deadlines need: no reservation is
	// called so that nothing supports.
	Free bool `json:"free,omitempty"`
	// Over says that it was due, or somebody let it go: it has shared what others leave since. Dropped says that it gets
	// none: all that it can use would not be enough.
	Over    bool `json:"over,omitempty"`
	Dropped bool `json:"dropped,omitempty"`
}

// Held are the cores that are reserved now.
func (s State) Held() units.Cores {
	if s.Over {
		return 0
	}
	return s.Cores
}

var facet = ledger.Register(ledger.Facet[*ledger.App, State]{Name: "reservation", Check: State.check,
	After: State.after, Cores: State.Held, Part: State.part, Was: ledger.Member[State]("reservation")})

func (State) part(State) ledger.Part { return ledger.PartReserved }

// Of is a's.
func Of(a *ledger.App) State { return facet.Of(a) }

func (s State) check() error {
	if err := units.Finite("cores", s.Cores); err != nil {
		return err
	}
	if s.Dropped && s.Held() > 0 {
		return fmt.Errorf("%v cores are held of one that was dropped", float64(s.Cores))
	}
	return units.Finite("from", s.From)
}

// after is s of a after a fact: what was reserved was for the deadline of then, and for a run that is recorded.
func (s State) after(_ ledger.View, a *ledger.App, f ledger.Fact) (State, bool) {
	switch f.(type) {
	case ledger.DeadlineGiven, ledger.RunBegan:
		return State{}, s != State{}
	}
	if s.Held() == 0 || a.Promise.Mode == ledger.Recording {
		return s, false
	}
	s.Over = true
	return s, true
}

// Reserved: an application has that reservation.
type Reserved struct {
	ledger.OfApp
	ledger.Pulled
	State
}

func reserved(a *ledger.App, s State, why string) Reserved {
	return Reserved{OfApp: ledger.OfApp{App: a.ID, Why: why}, State: s}
}

// Line is what it says.
func (f Reserved) Line() ledger.Line {
	name := "cores reserved"
	if f.Free {
		name = "free cores kept"
	}
	if f.Why == "" {
		return ledger.Line{Name: name}
	}
	return f.Says(name, "%s: %s", f.App, f.Why)
}

// Apply says what a has from now on.
func (f Reserved) Apply(v ledger.View, a *ledger.App, s *State) error {
	had, cores := s.Held(), f.Held()
	switch {
	case !a.Running():
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	case cores > 0 && !unforeseen(a):
		return fmt.Errorf("cores are reserved for application %s, %s with a deadline of %s", a.ID, a.Promise.Mode,
			a.Promise.Deadline)
	case cores > had:
		if err := f.fits(v, a); err != nil {
			return err
		}
	}
	*s = f.State
	return nil
}

// tolerance is how far reservations may be above what a node offers, as a part of it.
const tolerance = 1e-6

// fits says which node of a cannot give it its part beside what is reserved there for others.
func (f Reserved) fits(v ledger.View, a *ledger.App) error {
	for _, node := range a.Seats() {
		if !v.Allocation(a, node).Stays() {
			continue // It is no part of what its nodes offer.
		}
		part := f.Cores / a.Tenant.Cores
		for _, t := range v.Allocations(node) {
			if b := t.App; b != a && b.Running() && b.Reserved() > 0 && t.Stays() {
				part += b.Reserved() / b.Tenant.Cores
			}
		}
		if !(part <= 1+tolerance) {
			return fmt.Errorf("node %s has %.0f %% of its cores reserved with those of %s", node, 100*float64(part), a.ID)
		}
	}
	return nil
}
