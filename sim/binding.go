package sim

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// What StageBindings.scala decides: which executor runs which stage's tasks.

func (d *Driver) listed(id api.ExecutorID) *api.DirectiveExecutor {
	for i := range d.directive.Executors {
		if d.directive.Executors[i].ID == id {
			return &d.directive.Executors[i]
		}
	}
	return nil
}

func (d *Driver) leaving(p *process) bool {
	x := d.listed(p.key.ID)
	return x != nil && x.Leaving
}

// capacity weighs an executor of a stage by what its node offers.
func (d *Driver) capacity(b *binding) float64 {
	x := d.listed(b.x.key.ID)
	switch {
	case x == nil:
	case x.Leaving:
		return 0
	case x.Cores > 0 && !x.Cores.IsUnlimited():
		return float64(x.Cores)
	}
	return 1
}

// usable are the executors that may be bound: those listed, none that leaves.
func (d *Driver) usable() []*process {
	var out []*process
	for _, p := range d.executors {
		if x := d.listed(p.key.ID); x != nil && !x.Leaving {
			out = append(out, p)
		}
	}
	return out
}

// settle binds what can be bound: waiting stages first, then stages that miss a
// node. Ungated, all stages have the first executor of each node.
func (d *Driver) settle() {
	if d.ended {
		return
	}
	usable := d.usable()
	if !d.directive.Gated {
		d.lead(usable)
		return
	}
	queue := slices.DeleteFunc(d.running(), func(r *stageRun) bool { return r.unlaunched() == 0 })
	slices.SortStableFunc(queue, func(a, b *stageRun) int { return min(1, len(a.bound)) - min(1, len(b.bound)) })
	taken := map[*process]bool{}
	for _, r := range d.running() {
		for _, b := range r.bound {
			taken[b.x] = true
		}
	}
	for _, r := range queue {
		has := map[*machine]bool{}
		for _, b := range r.bound {
			has[b.x.m] = true
		}
		var gained []*process
		for _, p := range usable {
			if !taken[p] && !has[p.m] {
				taken[p], has[p.m] = true, true
				gained = append(gained, p)
			}
		}
		r.bind(gained)
	}
}

// lead binds every stage to the first executor of each node.
func (d *Driver) lead(usable []*process) {
	var leaders []*process
	seen := map[*machine]bool{}
	for _, p := range usable {
		if !seen[p.m] {
			seen[p.m] = true
			leaders = append(leaders, p)
		}
	}
	for _, r := range d.running() {
		same := len(r.bound) == len(leaders)
		for i := range leaders {
			same = same && r.bound[i].x == leaders[i]
		}
		if !same {
			r.bound = slices.DeleteFunc(r.bound, func(b *binding) bool { return !slices.Contains(leaders, b.x) })
			r.bind(slices.DeleteFunc(slices.Clone(leaders), func(p *process) bool { return r.binding(p) != nil }))
			r.changed = true
		}
	}
}

// bind gives the stage more executors.
func (r *stageRun) bind(gained []*process) {
	if len(gained) == 0 {
		return
	}
	for _, p := range gained {
		b := &binding{x: p}
		for _, t := range slices.Concat(p.computing, p.waiting) {
			if t.run == r {
				b.running++
			}
		}
		r.bound = append(r.bound, b)
	}
	slices.SortFunc(r.bound, func(a, b *binding) int { return a.x.key.Compare(b.x.key) })
	r.divide(r.d.capacity)
	r.changed = true
}

// vacate takes what executors that leave have not launched, and ends those that
// are through, as Spark's decommissioned ones do.
func (d *Driver) vacate() {
	for _, p := range slices.Clone(d.executors) {
		if !d.leaving(p) {
			continue
		}
		idle := len(p.computing)+len(p.waiting) == 0
		for _, r := range d.running() {
			if b := r.binding(p); b != nil {
				if b.running == 0 {
					r.unbind(p)
				}
				r.divide(d.capacity)
			}
		}
		if idle {
			p.kill(d.w.now, "decommissioned", 0)
		}
	}
}

// offer gives a process tasks for its free slots, the earlier stages' first.
func (d *Driver) offer(p *process) {
	if d.ended || p.exited || p.starting > 0 || d.leaving(p) {
		if !d.ended && !p.exited && d.leaving(p) {
			d.vacate()
		}
		return
	}
	for _, r := range d.stages {
		if !r.ready || r.done {
			continue
		}
		for p.free() > 0 && r.unlaunched() > 0 && r.admits(p) {
			r.launch(p)
		}
		if r.changed && r.unlaunched() > 0 {
			d.w.queue.set(&d.settled, d.w.now)
		}
	}
}

// offerAll gives all processes what they may start.
func (d *Driver) offerAll() {
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
	now := d.w.now
	p.advance(now)
	before := len(p.computing) + len(p.waiting)
	d.offer(p)
	if len(p.computing)+len(p.waiting) != before {
		p.m.divide(now)
		p.plan(now)
	}
}
