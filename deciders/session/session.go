package session

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// State is the part of a session that an application is in, the zero value where it is in none.
type State struct {
	// ID is that under which its run is history, Name what its user calls it.
	ID   api.AppID `json:"id,omitempty"`
	Name string    `json:"name,omitempty"`
	// At is when it began, on the session's deadline clock. Session is what the session was promised, but for its start.
	At      units.Seconds  `json:"at_s,omitempty"`
	Session ledger.Promise `json:"session,omitzero"`
	// Over says that its jobs are, since Ended; Failed that the last one of them has failed.
	Over   bool          `json:"over,omitempty"`
	Ended  units.Seconds `json:"ended_s,omitempty"`
	Failed bool          `json:"failed,omitempty"`
}

var facet = ledger.Register(ledger.Facet[*ledger.App, State]{Name: "part", Check: State.check})

// Of is a's.
func Of(a *ledger.App) State { return facet.Of(a) }

// In reports whether a runs, in a part.
func In(a *ledger.App) bool { return Of(a).ID != "" && a.Running() }

func (s State) check() error {
	if s.ID == "" && s.Over {
		return fmt.Errorf("no part is over")
	}
	return units.Finite("at, or the end,", max(s.At, -s.At, s.Ended, -s.Ended))
}

// Entered: an application is in a part of a session from now on, knows that its jobs are over, or is in none any more.
type Entered struct {
	ledger.OfApp
	State
}

// Line is what it says.
func (f Entered) Line() ledger.Line {
	switch {
	case f.ID == "":
		return f.Says("part left", "%s goes on without a group", f.App)
	case f.Over:
		return ledger.Line{Name: "part over"}
	}
	return f.Says("part begun", "%s runs group %q as %s", f.App, f.Name, f.State.ID)
}

// Apply says where a is.
func (f Entered) Apply(_ ledger.View, a *ledger.App, s *State) error {
	switch {
	case !a.Running():
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	case f.State.ID != "" && s.ID != "" && f.State.ID != s.ID:
		return fmt.Errorf("application %s is in group %q, and would be in %q", a.ID, s.Name, f.Name)
	}
	*s = f.State
	return nil
}

// Run is the part that a is in as an application that has ended. A part that is not over has failed.
func Run(v ledger.View, a *ledger.App) *ledger.App {
	s, run := Of(a), *a
	ended, state := s.Ended, api.AppFinished
	if !s.Over {
		ended = a.At(v.Now())
	}
	if s.Failed || !s.Over {
		state = api.AppFailed
	}
	ended = max(0, ended)
	run.Name = s.Name
	run.Outcome = ledger.Outcome{State: state, Ended: ended, Stopped: ended, EndedBy: api.EndedByExit, DriverEnd: true,
		Clean: state == api.AppFinished}
	if state == api.AppFailed {
		run.Outcome.Reason = "its last job failed"
		if !s.Over {
			run.Outcome.Reason = "its session ended before it"
		}
	}
	return &run
}

// OnClock is an event of a's driver with times of the part that a is in: the driver has the session's clock.
func OnClock(a *ledger.App, e api.Event) api.Event {
	at := Of(a).At
	if e.At -= at; e.Done != nil && at != 0 {
		done := *e.Done
		done.FirstLaunch, done.LastFinish = done.FirstLaunch-at, done.LastFinish-at
		e.Done = &done
	}
	return e
}
