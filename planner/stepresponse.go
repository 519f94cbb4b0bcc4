package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/response"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Bounds of a step response: so far from what a stage asks for, and so long on each
// level.
const (
	leastStep, mostStep         = 0.2, 3.0
	shortestLevel, longestLevel = units.Seconds(2), units.Seconds(60)
	stepSettled                 = 2 * time.Second // Until targets count as known.
)

// responses see to step responses.
type responses struct{ *core }

// step begins a step response on a running stage of a paced application.
func (r responses) step(a *ledger.App, step *api.Step) (api.ControlReply, error) {
	if step == nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no step is given")
	}
	if err := checkStep(*step); err != nil {
		return api.ControlReply{}, err
	}
	s, err := steppable(a, step.Stage)
	if err != nil {
		return api.ControlReply{}, err
	}
	base := make(map[api.ExecutorID]units.Cores)
	for _, t := range s.Targets {
		base[t.Executor] = s.Sight(t.Executor).Pace.Request
	}
	x := *step
	x.Stage, x.At = s.Key().Stage, a.At(r.now)
	r.record(response.Began{OfApp: ledger.OfApp{App: a.ID}, Stage: s.Key(), Step: x, Base: base})
	r.say(a.ID, fmt.Sprintf("stage %d: step response from %.2f to %.2f of what it asks for, %s each", x.Stage, x.Low,
		x.High, x.Each))
	return api.ControlReply{Step: &x, Message: fmt.Sprintf("stage %d of %s is held at two levels for %s each", x.Stage,
		a.ID, x.Each)}, nil
}

func checkStep(s api.Step) error {
	if !(s.Low >= leastStep && s.Low < s.High && s.High <= mostStep) {
		return api.Errorf(api.KindInvalid,
			"a step from %v to %v of what the stage asks for: want at least %v, rising, at most %v", s.Low, s.High, leastStep,
			mostStep)
	}
	if !(s.Each >= shortestLevel && s.Each <= longestLevel) {
		return api.Errorf(api.KindInvalid, "a step of %v for each level: want %v to %v", s.Each, shortestLevel, longestLevel)
	}
	return nil
}

// steppable is the running stage of the id (-1: the only one) if all its executors
// are known to be at work under targets.
func steppable(a *ledger.App, id int) (*ledger.Stage, error) {
	if !a.Paced() || a.Observed() {
		return nil, api.Errorf(api.KindConflict, "application %s is %s: only a paced one can be held", a.ID, a.Pacing())
	}
	var found []*ledger.Stage
	for _, s := range a.Opened() {
		if len(s.Targets) > 0 && (id < 0 || s.Key().Stage == id) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0:
		return nil, api.Errorf(api.KindConflict, "application %s runs no such stage under a target now", a.ID)
	case len(found) > 1:
		return nil, api.Errorf(api.KindInvalid, "application %s runs %d stages: say which one", a.ID, len(found))
	case response.Holds(a, found[0].Key()):
		return nil, api.Errorf(api.KindConflict, "stage %d of %s is held already", found[0].Key().Stage, a.ID)
	}
	known := func(t ledger.Target) bool {
		p := found[0].Sight(t.Executor).Pace
		return p.Seen && p.Request > 0 && p.At-p.Since >= units.FromDuration(stepSettled)
	}
	if !slices.ContainsFunc(found[0].Targets, func(t ledger.Target) bool { return !known(t) }) {
		return found[0], nil
	}
	return nil, api.Errorf(api.KindTransient, "stage %d of %s has only begun: try again in a moment",
		found[0].Key().Stage, a.ID)
}
