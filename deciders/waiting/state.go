package waiting

import (
	"encoding/json"
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// State is where an application waits while it is queued, and how long that took once it is so no more.
type State struct {
	// Since is when it came.
	Since units.Instant `json:"since,omitempty"`
	// Resumed says that another planner, or this one before it lost its state, had taken it in: it may have run.
	Resumed bool `json:"resumed,omitempty"`
	// Place counts from 1, Of is how many waited when it was given; 0 of one that does not wait.
	Place int `json:"place,omitempty"`
	Of    int `json:"of,omitempty"`
	// Start is when it is expected to start, Latest when it has to in order to be in time;
	// 0 where that is not known.
	Start  units.Instant `json:"start,omitempty"`
	Latest units.Instant `json:"latest,omitempty"`
	// Node is where memory is kept for it as it comes free, "" for nowhere.
	Node string `json:"node,omitempty"`
	Why  string `json:"why,omitempty"`
	// Idle says who holds memory that it could use, and runs no tasks; "" of nobody.
	Idle string `json:"idle,omitempty"`
	// Plan says that it waits for room in the Plan of a node, and not for memory.
	Plan bool `json:"plan,omitempty"`
	// Waited is for how long it was queued until it got its first executors or, of one that never started, until its end.
	Waited units.Seconds `json:"waited_s,omitempty"`
}

var facet = ledger.Register(ledger.Facet[*ledger.App, State]{Name: "waiting", Check: State.check, After: State.after,
	Queued: State.queue, Was: was})

// Of is a's.
func Of(a *ledger.App) State { return facet.Of(a) }

// Waits reports whether an application is queued, or comes and may have to be.
func (s State) Waits() bool { return s.Place > 0 }

// Took is for how long a, whose s is, has been queued by now, on its deadline clock.
func (s State) Took(a *ledger.App, now units.Instant) units.Seconds {
	if !s.Waits() {
		return s.Waited
	}
	return max(0, a.At(now)-max(0, a.At(s.Since)))
}

// Coming is where an application waits that comes now, if it has to: it is last. resumed is State.Resumed.
func Coming(v ledger.View, resumed bool) State {
	n := len(v.Waiting()) + 1
	return State{Since: v.Now(), Resumed: resumed, Place: n, Of: n}
}

// With is a, which no ledger has yet, as one that waits there.
func With(a *ledger.App, s State) *ledger.App { return facet.With(a, s) }

// Reason is one line: what it waits for, and who could give it that.
func (s State) Reason() string {
	if s.Idle == "" {
		return s.Why
	}
	return s.Why + "; " + s.Idle
}

func (s State) check() error {
	if s.Place < 0 || s.Place > s.Of || s.Place == 0 && s.Of > 0 || s.Start < 0 || s.Latest < 0 {
		return fmt.Errorf("place %d of %d, until %d or %d", s.Place, s.Of, s.Start, s.Latest)
	}
	return units.Finite("waited", s.Waited)
}

// after is s of a after a fact: of one that comes or whose clock was set, or that
// waits no more. Another run of it has not waited.
func (s State) after(v ledger.View, a *ledger.App, f ledger.Fact) (State, bool) {
	if _, begun := f.(ledger.RunBegan); begun {
		return State{}, s != State{}
	}
	if !a.Queued() {
		return State{Waited: s.Took(a, v.Now())}, s.Waits()
	}
	switch f := f.(type) {
	case ledger.Registered:
		n := len(v.Waiting())
		return State{Since: v.Now(), Place: n, Of: n}, true
	case ledger.ClockRead: // Its place is by the same clock.
		s.Since = s.Since.Add(-f.Ahead.Duration())
		return s, f.Ahead != 0
	}
	return s, false
}

// queue is where a waits, as its driver and its user are told.
func (s State) queue(a *ledger.App) *api.Queue {
	if !s.Waits() {
		return nil
	}
	q := &api.Queue{Place: s.Place, Of: s.Of, Why: s.Reason()}
	if s.Start > 0 {
		q.Start = max(0, a.At(s.Start))
	}
	if s.Latest > 0 {
		q.Latest = max(0, a.At(s.Latest))
	}
	return q
}

// was reads the member of an application's record that the release before kept, and one of its tenant.
func was(record []byte) (State, error) {
	var r struct {
		Wait   State `json:"wait"`
		Tenant struct {
			Waited units.Seconds `json:"waited_s"`
		} `json:"tenant"`
	}
	err := json.Unmarshal(record, &r)
	r.Wait.Waited = r.Tenant.Waited
	return r.Wait, err
}

// Placed: an application that is queued has this place.
type Placed struct {
	ledger.OfApp
	ledger.Pulled
	Wait State
}

// Line is what it says.
func (Placed) Line() ledger.Line { return ledger.Line{Name: "place given"} }

// Apply says where a waits.
func (f Placed) Apply(v ledger.View, a *ledger.App, s *State) error {
	switch w := f.Wait; {
	case !a.Queued():
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	case w.Place < 1 || w.Of > len(v.Waiting()):
		return fmt.Errorf("place %d of %d where %d wait", w.Place, w.Of, len(v.Waiting()))
	case w.Since > v.Now():
		return fmt.Errorf("a wait since %d", w.Since)
	case w.Node != "" && v.Node(w.Node) == nil:
		return fmt.Errorf("node %s is not there", w.Node)
	}
	*s = f.Wait
	return nil
}
