package lending

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// mostTakings is after how many takings an application keeps what it gets. Spark ends a job whose stage has lost its
// inputs four times.
const mostTakings = 3

// State is what became of an application that is lent memory.
type State struct {
	// Takings is how often executors were taken from it, the last time at At on its deadline clock.
	Takings int           `json:"takings,omitempty"`
	At      units.Seconds `json:"at_s,omitempty"`
	// Place is where it waits for executors, of how many, while all of them are taken; 0 where it has some.
	Place int `json:"place,omitempty"`
	Of    int `json:"of,omitempty"`
}

var facet = ledger.Register(ledger.Facet[*ledger.App, State]{Name: "lending", Check: State.check, After: State.after,
	Queued: State.queued})

// Of is a's.
func Of(a *ledger.App) State { return facet.Of(a) }

func (s State) check() error {
	if s.Takings < 0 || s.Place < 0 || s.Place > s.Of {
		return fmt.Errorf("%d takings, place %d of %d", s.Takings, s.Place, s.Of)
	}
	return units.Finite("at", s.At)
}

// after is s of a after a fact. Executors that go at one moment are one taking.
func (s State) after(v ledger.View, a *ledger.App, f ledger.Fact) (State, bool) {
	switch f.(type) {
	case ledger.ExecutorTaken:
		at := max(0, a.At(v.Now()))
		if s.Takings > 0 && s.At == at {
			return s, false
		}
		s.Takings, s.At = s.Takings+1, at
		return s, true
	case ledger.Seated, ledger.ReplacementSent, ledger.ExecutorUp:
		was := s
		s.Place, s.Of = 0, 0
		return s, s != was
	}
	return s, false
}

// queued is the place of an application that goes on without executors.
func (s State) queued(*ledger.App) *api.Queue {
	if s.Place == 0 {
		return nil
	}
	return &api.Queue{Place: s.Place, Of: s.Of, Why: "its memory was taken back, for it was lent"}
}

// Placed: an application from which all executors were taken waits at that place.
type Placed struct {
	ledger.OfApp
	ledger.Pulled
	Place, Of int
}

// Line is what it says.
func (f Placed) Line() ledger.Line {
	return f.Says("lent place", "%s waits for memory at place %d of %d", f.App, f.Place, f.Of)
}

// Apply says where a waits.
func (f Placed) Apply(_ ledger.View, a *ledger.App, s *State) error {
	if !IsOut(a) || f.Place < 1 {
		return fmt.Errorf("application %s is %s, with %d executors, and waits at no place %d", a.ID, a.Outcome.State,
			len(a.Alive()), f.Place)
	}
	s.Place, s.Of = f.Place, f.Of
	return nil
}
