package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Apply takes a Plan at once, between two ticks: it starts and stops executors,
// gives new targets Eq 7 through the supervisor and lifts the quota of what has
// no target any more, without a controller step. A Plan that is not newer than
// the one in force, for another node, or of another planner while an executor runs
// changes nothing. The engine keeps the Plan: the caller must not change it
// afterwards.
func (e *Engine) Apply(now units.Instant, p api.Plan) []Action {
	e.begin()
	if err := e.accept(&p); err != nil {
		e.counters.Refused++
		e.event(Event{Kind: EventPlanRefused, Epoch: p.Epoch, Detail: err.Error()})
		return nil
	}
	held := e.transit.heldUp(now, &p)
	if anothers := p.Planner != e.plan.Planner && p.Planner != "" && e.plan.Planner != ""; anothers {
		if e.runs() {
			e.disobey(&p)
			return nil
		}
	} else if why := e.stalePlan(&p); why != "" {
		if p.Epoch != e.plan.Epoch || p.Term < e.plan.Term {
			e.event(Event{Kind: EventPlanIgnored, Epoch: p.Epoch, Detail: why})
		}
		return nil
	}
	e.stranger = ""
	e.take(now, now.Add(-held), p)
	e.event(Event{Kind: EventPlanApplied, Epoch: p.Epoch})
	for _, x := range e.execs {
		e.wake(x, now)
	}
	limit := e.divide(now, false)
	for _, x := range e.execs {
		e.enforce(x, limit)
	}
	e.mustSave = true
	return e.finish(now)
}

// accept says why a Plan is none for this node.
func (e *Engine) accept(p *api.Plan) error {
	if err := api.CheckVersion("the planner", p.V); err != nil {
		return err
	}
	if p.Node != e.cfg.Node {
		return fmt.Errorf("it is for node %q, this is %q", p.Node, e.cfg.Node)
	}
	return nil
}

// stalePlan says why a Plan of the planner that the node follows is not newer than
// the one in force, "" if it is. The planner's newer term counts from now on.
func (e *Engine) stalePlan(p *api.Plan) string {
	switch {
	case p.Term < e.plan.Term && p.Planner == e.plan.Planner:
		return fmt.Sprintf("it is of term %d, the planner's is %d", p.Term, e.plan.Term)
	case p.Epoch > e.plan.Epoch:
		return ""
	case p.Term > e.plan.Term && e.plan.Epoch > 0:
		e.plan.Term, e.dirty = p.Term, true
	}
	return fmt.Sprintf("epoch %d is in force", e.plan.Epoch)
}

// runs reports whether an executor is here, or may be.
func (e *Engine) runs() bool {
	return slices.ContainsFunc(e.execs, func(x *executor) bool { return x.state != api.ExecutorExited && (x.started || x.here) })
}

// disobey says, once for as long as it lasts, that another planner's Plan came while
// executors run: obeying it would stop them.
func (e *Engine) disobey(p *api.Plan) {
	e.counters.Refused++
	if e.stranger == p.Planner {
		return
	}
	e.stranger = p.Planner
	e.event(Event{Kind: EventPlanForeign, Epoch: p.Epoch, Detail: fmt.Sprintf("it is of planner %s, this node follows %s for as long as an executor runs", p.Planner, e.plan.Planner)})
}

// controlKey names a target.
type controlKey struct {
	executor Key
	stage    api.StageKey
}

// take makes p the Plan in force, whose times left were right at sent. Targets that it
// repeats keep their controllers and, with the same Rev, their anchors.
func (e *Engine) take(now, sent units.Instant, p api.Plan) {
	before := make(map[controlKey]*control)
	old := e.apps
	for _, a := range old {
		for _, c := range a.controls {
			before[controlKey{c.x.key, c.target.StageKey}] = c
		}
	}
	for _, x := range e.execs {
		x.listed, x.controls = false, nil
	}
	e.plan, e.apps = p, make([]*app, 0, len(p.Apps))
	for i := range p.Apps {
		e.apps = append(e.apps, e.takeApp(now, sent, &p.Apps[i], before))
	}
	for _, a := range old {
		if e.here(a.plan.Launch.DriverURL) && !slices.ContainsFunc(e.apps, func(n *app) bool { return n.plan.ID == a.plan.ID }) {
			e.capacity.driver(now)
		}
		for _, c := range a.controls {
			if before[controlKey{c.x.key, c.target.StageKey}] == c {
				e.unbind(c, "the plan has no target for it")
			}
		}
	}
	for _, x := range e.execs {
		if len(x.controls) == 0 {
			x.ctl = nil
		}
	}
	e.changed = true
}

// here reports whether the driver at url runs on this machine.
func (e *Engine) here(url string) bool {
	_, address, _ := strings.Cut(url, "@")
	port := strings.LastIndexByte(address, ':')
	if port < 0 {
		return false
	}
	host := strings.Trim(address[:port], "[]")
	return host == e.cfg.Host || host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

func (e *Engine) takeApp(now, sent units.Instant, p *api.PlanApp, before map[controlKey]*control) *app {
	a := &app{plan: p}
	if p.HasDeadline {
		a.deadline = anchor(sent, p.Remaining)
	}
	for _, id := range p.Executors {
		x := e.ensure(Key{p.ID, id})
		x.listed, x.slots, x.handsOff = true, e.slots(p.Launch.Cores), p.Launch.Mode.HandsOff()
	}
	for i := range p.Stages {
		t := &p.Stages[i]
		key := controlKey{Key{p.ID, t.Executor}, t.StageKey}
		x := e.index[key.executor]
		old := before[key]
		err := checkTarget(t)
		if x == nil || !x.listed {
			err = fmt.Errorf("the plan does not list its executor")
		} else if x.target(t.StageKey) != nil {
			err = fmt.Errorf("the plan has it twice")
		}
		if err != nil {
			e.counters.Refused++
			e.event(Event{Kind: EventTargetRefused, Key: key.executor, Stage: t.StageKey, HasStage: true, Detail: err.Error()})
			continue
		}
		if x.state == api.ExecutorExited {
			continue
		}
		delete(before, key)
		c := e.takeTarget(now, sent, x, t, old)
		a.controls = append(a.controls, c)
		x.controls = append(x.controls, c)
	}
	return a
}

// target returns x's control of the stage, nil if there is none.
func (x *executor) target(key api.StageKey) *control {
	for _, c := range x.controls {
		if c.target.StageKey == key {
			return c
		}
	}
	return nil
}

// takeTarget returns the control for t: c itself when its Rev has been seen.
func (e *Engine) takeTarget(now, sent units.Instant, x *executor, t *api.StageTarget, c *control) *control {
	if c == nil {
		c = &control{app: x.key.App, x: x, record: x.record(t.StageKey), meter: meter{mode: e.cfg.Progress, read: e.cfg.Reading, cost: e.cfg.TaskCost}}
		c.meter.done, c.meter.failed = min(c.record.weight, t.Weight), c.record.failed
		c.aim(*t, now, sent)
		c.hold(t, sent)
		return c
	}
	if t.Rev > c.target.Rev {
		c.aim(*t, now, sent)
		c.retarget = c.law != nil
		c.out.SetPoint = 0
	}
	c.hold(t, sent)
	return c
}

// unbind ends the control of a stage executor.
func (e *Engine) unbind(c *control, why string) {
	c.active = false
	for _, a := range e.apps {
		if i := slices.Index(a.controls, c); i >= 0 {
			a.controls = slices.Delete(a.controls, i, i+1)
		}
	}
	e.event(c.event(EventUnbound, why))
}
