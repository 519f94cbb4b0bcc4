package plant

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// What Spark's task scheduler does with the bindings: it offers executors to stages, and
// ends those that leave.

// leaving reports whether the planner wants p decommissioned.
func (d *Driver) leaving(p *Process) bool {
	return slices.ContainsFunc(d.directive.Executors, func(x api.DirectiveExecutor) bool {
		return x.ID == p.Key.ID && x.Leaving
	})
}

// decommission ends the executors that leave and have nothing to run.
func (d *Driver) decommission() {
	for _, p := range slices.Clone(d.executors) {
		told := slices.IndexFunc(d.directive.Executors, func(x api.DirectiveExecutor) bool { return x.ID == p.Key.ID })
		if told >= 0 && d.directive.Executors[told].Taken {
			p.Kill("its memory is taken back", 143)
		} else if d.leaving(p) && len(p.tasks.computing)+len(p.tasks.waiting) == 0 {
			p.Kill("decommissioned", 0)
		}
	}
}

// offer gives a process tasks for its free slots, the earlier stages' first.
func (d *Driver) offer(p *Process) {
	if d.Stopped || p.Exited || p.pace.starting > 0 {
		return
	}
	if d.leaving(p) {
		d.decommission()
		return
	}
	for _, r := range d.stages {
		if !r.ready || r.done {
			continue
		}
		for p.atOnce > p.tasks.busy() && r.unlaunched() > 0 && d.Bindings.Admits(r.key, p.Key.ID, false) {
			r.launch(p)
		}
		if d.Bindings.Changed() && r.unlaunched() > 0 {
			d.plant.clock.Set(&d.timers.settled, d.plant.clock.Now())
		}
	}
}

// offerFreed has all processes offered in a moment, if some have come free.
func (d *Driver) offerFreed() {
	if d.Bindings.TakeFreed() {
		d.plant.clock.Set(&d.timers.settled, d.plant.clock.Now())
	}
}

// offerAll gives all processes what they may start.
func (d *Driver) offerAll() {
	d.Bindings.TakeFreed()
	for _, p := range d.executors {
		if p.Exited || p.atOnce == p.tasks.busy() {
			continue
		}
		d.wake(p)
	}
}

// wake offers to a process that is not in the middle of a step of its own.
func (d *Driver) wake(p *Process) {
	if p.settling {
		return // It asks itself in a moment.
	}
	now := d.plant.clock.Now()
	p.advance(now)
	before := len(p.tasks.computing) + len(p.tasks.waiting)
	d.offer(p)
	if len(p.tasks.computing)+len(p.tasks.waiting) != before {
		p.Machine.divide(now)
		p.plan(now)
	}
}
