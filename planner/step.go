package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Bounds of a step response: so far from what a stage asks for, and so long on each
// level.
const (
	leastStep, mostStep         = 0.2, 3.0
	shortestLevel, longestLevel = units.Seconds(2), units.Seconds(60)
	levels                      = 2
	stepSettled                 = 2 * time.Second // Until targets count as known.
)

// experiment is a step response that is under way on a running stage: its
// executors are held at two levels, one after the other.
type experiment struct {
	api.Step
	began units.Instant
	// base is what each executor asked for when it began.
	base map[api.ExecutorID]units.Cores
	// level is 1 or 2, 0 when it is over.
	level int
}

// hold is what an executor is held at, 0 for nothing.
func (x *experiment) hold(id api.ExecutorID) units.Cores {
	if x == nil {
		return 0
	}
	switch x.level {
	case 1:
		return x.base[id] * units.Cores(x.Low)
	case 2:
		return x.base[id] * units.Cores(x.High)
	}
	return 0
}

// holdGrace is how long after the end of its level an executor is held at most, should
// no Plan say what comes next: the planner's death leaves no stage held.
const holdGrace units.Seconds = 2

// holdFor is how long hold counts from now on, 0 for none.
func (x *experiment) holdFor(hold units.Cores, now units.Instant) units.Seconds {
	if hold == 0 {
		return 0
	}
	return max(0, units.Seconds(x.level)*x.Each-units.FromDuration(now.Sub(x.began))) + holdGrace
}

// stepStage begins a step response on a running stage of a paced application.
func (e *Engine) stepStage(q api.ControlRequest) (api.ControlReply, error) {
	a, err := e.runningApp(q.App)
	if err != nil {
		return api.ControlReply{}, err
	}
	if q.Step == nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no step is given")
	}
	if err := checkStep(*q.Step); err != nil {
		return api.ControlReply{}, err
	}
	s, err := e.steppable(a, q.Step.Stage)
	if err != nil {
		return api.ControlReply{}, err
	}
	x := &experiment{Step: *q.Step, began: e.now, base: make(map[api.ExecutorID]units.Cores), level: 1}
	for _, t := range s.Targets {
		x.base[t.Executor] = s.view(t.Executor).pace.request
	}
	x.Stage, x.At = s.key().Stage, a.at(e.now)
	s.step = x
	a.touch()
	a.say(fmt.Sprintf("stage %d: step response from %.2f to %.2f of what it asks for, %s each", x.Stage, x.Low, x.High, x.Each))
	return api.ControlReply{Step: &x.Step, Message: fmt.Sprintf("stage %d of %s is held at two levels for %s each", x.Stage, a.ID, x.Each)}, nil
}

func checkStep(s api.Step) error {
	if !(s.Low >= leastStep && s.Low < s.High && s.High <= mostStep) {
		return api.Errorf(api.KindInvalid, "a step from %v to %v of what the stage asks for: want at least %v, rising, at most %v", s.Low, s.High, leastStep, mostStep)
	}
	if !(s.Each >= shortestLevel && s.Each <= longestLevel) {
		return api.Errorf(api.KindInvalid, "a step of %v for each level: want %v to %v", s.Each, shortestLevel, longestLevel)
	}
	return nil
}

// steppable is the running stage of the id (-1: the only one) if all its executors
// are known to be at work under targets.
func (e *Engine) steppable(a *app, id int) (*stage, error) {
	if !a.paced() || a.observed() {
		return nil, api.Errorf(api.KindConflict, "application %s is %s: only a paced one can be held", a.ID, a.pacing())
	}
	var found []*stage
	for _, s := range a.open() {
		if len(s.Targets) > 0 && (id < 0 || s.key().Stage == id) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0:
		return nil, api.Errorf(api.KindConflict, "application %s runs no such stage under a target now", a.ID)
	case len(found) > 1:
		return nil, api.Errorf(api.KindInvalid, "application %s runs %d stages: say which one", a.ID, len(found))
	case found[0].step != nil && found[0].step.level > 0:
		return nil, api.Errorf(api.KindConflict, "stage %d of %s is held already", found[0].key().Stage, a.ID)
	}
	known := func(t target) bool {
		p := found[0].view(t.Executor).pace
		return p.seen && p.request > 0 && p.at-p.since >= units.FromDuration(stepSettled)
	}
	if !slices.ContainsFunc(found[0].Targets, func(t target) bool { return !known(t) }) {
		return found[0], nil
	}
	return nil, api.Errorf(api.KindTransient, "stage %d of %s has only begun: try again in a moment", found[0].key().Stage, a.ID)
}

// held reports whether a step response holds executors of a.
func (a *app) held() bool {
	return slices.ContainsFunc(a.open(), func(s *stage) bool { return s.step != nil && s.step.level > 0 })
}

// stepTick moves a's step responses on to their next level.
func (e *Engine) stepTick(a *app) {
	for _, s := range a.open() {
		if s.step == nil || s.step.level == 0 {
			continue
		}
		level := 1 + int(units.FromDuration(e.now.Sub(s.step.began))/s.step.Each)
		if level > levels {
			level = 0
		}
		if level != s.step.level {
			s.step.level = level
			a.touch()
		}
	}
}
