package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// controlKey names a target.
type controlKey struct {
	executor Key
	stage    api.StageKey
}

// takePlan makes p the Plan in force, whose times left were right at sent. Targets that it
// repeats keep their controllers and, with the same Rev, their anchors.
func (r *roster) takePlan(now, sent units.Instant, p api.Plan) {
	before := make(map[controlKey]*control)
	old := r.apps
	for _, a := range old {
		for _, c := range a.controls {
			before[controlKey{c.x.key, c.target.StageKey}] = c
		}
	}
	for _, x := range r.execs {
		x.life.listed, x.controls = false, nil
	}
	r.plan, r.apps = p, make([]*app, 0, len(p.Apps))
	for i := range p.Apps {
		a := r.takeApp(now, sent, &p.Apps[i], before)
		a.takeNeed(old, sent)
		a.keep(old)
		r.apps = append(r.apps, a)
	}
	for _, a := range old {
		for _, c := range a.controls {
			if before[controlKey{c.x.key, c.target.StageKey}] == c {
				r.unbind(c, "the plan has no target for it")
			}
		}
	}
	for _, x := range r.execs {
		if len(x.controls) == 0 {
			x.ctl = nil
		}
	}
	r.weights.take(&r.plan)
	r.losses.forget(func(id api.AppID) bool {
		return !slices.ContainsFunc(r.apps, func(a *app) bool { return a.plan.ID == id })
	})
	r.out.changed = true
}

// takeNeed takes a's need over from what it was among old, unless the planner has worked out
// anew how many cores it needs at least.
func (a *app) takeNeed(old []*app, sent units.Instant) {
	for _, b := range old {
		if b.plan != nil && b.plan.ID == a.plan.ID && b.plan.Least == a.plan.Least &&
			b.deadline.Sub(a.deadline).Abs() < sameDeadline {
			a.need = b.need
			return
		}
	}
	if least := a.plan.Least; least > 0 && a.plan.HasDeadline {
		a.need = units.Work(float64(least) * max(0, a.deadline.Sub(sent).Seconds()))
	}
}

// sameDeadline is how far apart the deadlines of two Plans may be that mean the same one: each
// carries the time left.
const sameDeadline = time.Second

// takeApp takes an application over; of the targets in before those that go on are
// taken out.
func (r *roster) takeApp(now, sent units.Instant, p *api.PlanApp, before map[controlKey]*control) *app {
	a := &app{plan: p}
	if p.HasDeadline {
		a.deadline = anchor(sent, p.Remaining)
	}
	for _, id := range p.Executors {
		if c := p.Runs(id); c != nil {
			takeComponent(a, r, id, c)
			continue
		}
		x := r.ensure(Key{p.ID, id})
		x.life.listed, x.life.attached = true, p.Launch.Attach != nil
		x.unmanaged = p.Launch.Mode.Unmanaged() || x.life.found.Unpaced != ""
		slots := r.slots(p.Launch.Cores)
		x.room = room{slots, p.Launch.AtOnce(slots), p.Launch.TaskCores()}
		x.cap.any = p.Cap > 0
		if awaits := p.Launch.Withheld > 0; awaits != x.life.withheld {
			x.life.withheld = awaits
			if awaits && !x.life.started {
				r.out.event(Event{Kind: EventSecretsAwaited, Key: x.key,
					Detail: "its secrets are in no store: it starts when its driver has told them again"})
			}
		}
		x.memory.take(p.Launch, x.life.started)
		x.memory.yields = p.Yields()
		x.memory.loan.take(p, id, now)
		x.shares, x.hasDeadline, x.part = p.Band == api.BandShared, p.HasDeadline, p.Class.Weight()
		a.executors = append(a.executors, x)
	}
	keepComponents(a, r)
	for i := range p.Stages {
		t := &p.Stages[i]
		key := controlKey{Key{p.ID, t.Executor}, t.StageKey}
		x := r.index[key.executor]
		old := before[key]
		err := checkTarget(t)
		if x == nil || !x.life.listed {
			err = fmt.Errorf("the plan does not list its executor")
		} else if x.target(t.StageKey) != nil {
			err = fmt.Errorf("the plan has it twice")
		}
		if err != nil {
			r.out.counters.Refused++
			r.out.event(Event{Kind: EventTargetRefused, Key: key.executor, Stage: t.StageKey, HasStage: true,
				Detail: err.Error()})
			continue
		}
		if x.life.state == api.ExecutorExited {
			continue
		}
		delete(before, key)
		c := r.takeTarget(now, sent, x, t, old)
		a.controls = append(a.controls, c)
		x.controls = append(x.controls, c)
	}
	return a
}

// takeTarget returns the control for t: c itself when its Rev has been seen.
func (r *roster) takeTarget(now, sent units.Instant, x *executor, t *api.StageTarget, c *control) *control {
	if c == nil {
		c = &control{x: x, record: x.record(t.StageKey)}
		c.meter = meter.New(r.cfg.Meter, meter.State{Done: min(c.record.weight, t.Weight), Failed: c.record.failed})
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
