package response

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// levels is how many levels a step response has.
const levels = 2

// State are the step responses of an application that are under way.
type State struct {
	Stages []Held `json:"stages,omitempty"`
}

// Held is one of them.
type Held struct {
	Stage api.StageKey  `json:"stage"`
	Step  api.Step      `json:"step"`
	Began units.Instant `json:"began"`
	// Base is what each executor asked for when it began.
	Base map[api.ExecutorID]units.Cores `json:"base"`
	// Level counts from 1.
	Level int `json:"level"`
}

var facet = ledger.Register(ledger.Facet[*ledger.App, State]{Name: "response", Passing: true, After: State.after,
	Holds: State.holds})

// UnderWay reports whether stages of a are held.
func UnderWay(a *ledger.App) bool { return len(facet.Of(a).Stages) > 0 }

// Holds reports whether a stage of a is.
func Holds(a *ledger.App, key api.StageKey) bool { return facet.Of(a).index(key) >= 0 }

func (s State) index(key api.StageKey) int {
	return slices.IndexFunc(s.Stages, func(h Held) bool { return h.Stage == key })
}

// but is s without the stage of a place.
func (s State) but(i int) State { return State{slices.Delete(slices.Clone(s.Stages), i, i+1)} }

// after is s after a fact: a stage that has ended is held no more, nor is one of another run.
func (s State) after(_ ledger.View, _ *ledger.App, f ledger.Fact) (State, bool) {
	if _, begun := f.(ledger.RunBegan); begun {
		return State{}, len(s.Stages) > 0
	}
	if ended, is := f.(ledger.StageEnded); is {
		if i := s.index(ended.Done.StageKey); i >= 0 {
			return s.but(i), true
		}
	}
	return s, false
}

// holds are the executors that are held, and at how many cores.
func (s State) holds() (all []ledger.Hold) {
	for _, h := range s.Stages {
		part := units.Cores(h.Step.Low)
		if h.Level == levels {
			part = units.Cores(h.Step.High)
		}
		for id, base := range h.Base {
			all = append(all, ledger.Hold{Stage: h.Stage, Executor: id, Cores: base * part, Began: h.Began,
				For: units.Seconds(h.Level) * h.Step.Each})
		}
	}
	slices.SortFunc(all, ledger.Hold.Compare)
	return all
}

// Began: a step response of a running stage has begun.
type Began struct {
	ledger.OfApp
	Stage api.StageKey
	Step  api.Step
	Base  map[api.ExecutorID]units.Cores
}

// Line is what it says.
func (Began) Line() ledger.Line { return ledger.Line{Name: "step response begun"} }

// Apply adds it to those of a that are under way.
func (f Began) Apply(v ledger.View, a *ledger.App, s *State) error {
	if stage := a.Stages[f.Stage]; stage == nil || stage.Done != nil || s.index(f.Stage) >= 0 {
		return fmt.Errorf("stage %v of %s does not run, or is held already", f.Stage, a.ID)
	}
	*s = State{append(slices.Clone(s.Stages), Held{f.Stage, f.Step, v.Now(), f.Base, 1})}
	return nil
}

// Moved: a step response is at another level, or over (0).
type Moved struct {
	ledger.OfApp
	ledger.Pulled
	Stage api.StageKey
	Level int
}

// Line is what it says.
func (Moved) Line() ledger.Line { return ledger.Line{Name: "step response moved"} }

// Apply has the stage held at that level.
func (f Moved) Apply(_ ledger.View, a *ledger.App, s *State) error {
	i := s.index(f.Stage)
	switch {
	case i < 0:
		return fmt.Errorf("stage %v of %s has no step response", f.Stage, a.ID)
	case f.Level < 0 || f.Level > levels:
		return fmt.Errorf("level %d of a step response", f.Level)
	case f.Level == 0:
		*s = s.but(i)
		return nil
	}
	*s = State{slices.Clone(s.Stages)}
	s.Stages[i].Level = f.Level
	return nil
}

// Move moves a's step responses on to their next level.
func Move(v ledger.View, a *ledger.App) (moves []ledger.Lever) {
	for _, h := range facet.Of(a).Stages {
		level := 1 + int(units.FromDuration(v.Now().Sub(h.Began))/h.Step.Each)
		if level > levels {
			level = 0
		}
		if level != h.Level {
			moves = append(moves, Moved{OfApp: ledger.OfApp{App: a.ID}, Stage: h.Stage, Level: level})
		}
	}
	return moves
}
