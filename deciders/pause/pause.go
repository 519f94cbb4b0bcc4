package pause

import (
	"encoding/json"
	"fmt"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// leastKnown is the part of what is left of an application's work that has to be known for it to be held back.
const leastKnown units.Fraction = 0.5

// Weigh pauses the targets of an application of which too little is known of what is left, or gives them back.
func Weigh(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	known, then := estimate.Known(a, o.Course(a)), "paced again"
	paused := known < leastKnown
	if paused == Paused(a) {
		return nil
	}
	if paused {
		then = "all cores until it is half"
	}
	return []ledger.Lever{TargetsPaused{OfApp: ledger.OfApp{App: a.ID}, Paused: paused, Known: known,
		Says: fmt.Sprintf("%.0f %% of what is left of its work is known: %s", 100*float64(known), then)}}
}

// State is whether an application's targets are paused, since when they are or are not, and for how long they were in
// pauses before.
type State struct {
	Paused bool          `json:"paused,omitempty"`
	Since  units.Seconds `json:"since_s,omitempty"`
	For    units.Seconds `json:"for_s,omitempty"`
}

var facet = ledger.Register(ledger.Facet[*ledger.App, State]{Name: "pause", After: State.after, Pacing: State.pacing,
	Was: was})

// Paused reports whether a's targets are paused.
func Paused(a *ledger.App) bool { return facet.Of(a).Paused }

// Until is for how long a's targets have been paused by then.
func Until(a *ledger.App, at units.Seconds) units.Seconds { return facet.Of(a).until(a, at) }

func (s State) until(a *ledger.App, at units.Seconds) units.Seconds {
	if s.Paused && a.Promise.Mode == ledger.Paced {
		return s.For + max(0, at-s.Since)
	}
	return s.For
}

// after is s after a fact: another run has had no pause.
func (s State) after(_ ledger.View, _ *ledger.App, f ledger.Fact) (State, bool) {
	if _, begun := f.(ledger.RunBegan); begun {
		return State{}, s != State{}
	}
	return s, false
}

func (s State) pacing() string {
	if s.Paused {
		return "paused"
	}
	return ""
}

// was is the State in a record of an application of before.
func was(record []byte) (State, error) {
	var before struct {
		Promise struct {
			Paused bool  `json:"paused"`
			Pauses State `json:"pauses"`
		} `json:"promise"`
	}
	err := json.Unmarshal(record, &before)
	before.Promise.Pauses.Paused = before.Promise.Paused
	return before.Promise.Pauses, err
}

// TargetsPaused: an application's stages have all cores, in its place among others, or their targets
// again. Known is the part of what is left of its work that is known, Says is told its user.
type TargetsPaused struct {
	ledger.OfApp
	ledger.Pulled
	Paused bool
	Known  units.Fraction
	Says   string
}

// Line is what it says.
func (f TargetsPaused) Line() ledger.Line {
	known := 100 * float64(f.Known)
	if f.Paused {
		return f.OfApp.Says("targets paused", "%s has all cores for now: %.0f %% of what is left of it is known", f.App,
			known)
	}
	return f.OfApp.Says("targets back", "%s has targets again: %.0f %% of what is left of it is known", f.App, known)
}

// Apply ends the time before.
func (f TargetsPaused) Apply(v ledger.View, a *ledger.App, s *State) error {
	now := a.At(v.Now())
	*s = State{Paused: f.Paused, Since: now, For: s.until(a, now)}
	return nil
}
