package sim

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// What Spark's task scheduler does with the bindings: it offers executors to stages, and
// ends those that leave.

// leaving reports whether the planner wants p decommissioned.
func (d *Driver) leaving(p *process) bool {
	return slices.ContainsFunc(d.directive.Executors, func(x api.DirectiveExecutor) bool { return x.ID == p.key.ID && x.Leaving })
}

// decommission ends the executors that leave and have nothing to run.
func (d *Driver) decommission() {
	for _, p := range slices.Clone(d.executors) {
		if d.leaving(p) && len(p.computing)+len(p.waiting) == 0 {
			p.kill(d.w.clock.Now(), "decommissioned", 0)
		}
	}
}

// offer gives a process tasks for its free slots, the earlier stages' first.
func (d *Driver) offer(p *process) {
	if d.ended || p.exited || p.starting > 0 {
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
		for p.free() > 0 && r.unlaunched() > 0 && d.bindings.Admits(r.key, p.key.ID, false) {
			r.launch(p)
		}
		if d.bindings.Changed() && r.unlaunched() > 0 {
			d.w.clock.Set(&d.settled, d.w.clock.Now())
		}
	}
}

// offerFreed has all processes offered in a moment, if some have come free.
func (d *Driver) offerFreed() {
	if d.bindings.TakeFreed() {
		d.w.clock.Set(&d.settled, d.w.clock.Now())
	}
}

// offerAll gives all processes what they may start.
func (d *Driver) offerAll() {
	d.bindings.TakeFreed()
	for _, p := range d.executors {
		if p.exited || p.free() == 0 {
			continue
		}
		d.wake(p)
	}
}

// wake offers to a process that is not in the middle of a step of its own.
func (d *Driver) wake(p *process) {
	if p.settling {
		return // It asks itself in a moment.
	}
	now := d.w.clock.Now()
	p.advance(now)
	before := len(p.computing) + len(p.waiting)
	d.offer(p)
	if len(p.computing)+len(p.waiting) != before {
		p.m.divide(now)
		p.plan(now)
	}
}
