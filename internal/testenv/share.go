package testenv

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
)

// What the scheduler in spark/ does when its executors change while a stage
// runs. All of it runs with the world's lock held.

// follow carries a new directive out: hand-overs, and executors that leave.
func (d *Driver) follow() {
	for _, shares := range d.directive.Shares {
		for _, r := range d.stages {
			if r.id == shares.Stage && !r.done && r.bindings != nil && shares.Rev > r.shared {
				r.shared = shares.Rev
				weights := map[api.ExecutorID]float64{}
				for _, s := range shares.Shares {
					weights[s.Executor] = s.Weight
				}
				r.divide(weights)
			}
		}
	}
	for _, x := range d.directive.Executors {
		if x.Leaving && d.processes[x.ID] != nil {
			d.empty(x.ID)
		}
	}
}

// empty takes what an executor has not started to others of its stages.
func (d *Driver) empty(id api.ExecutorID) {
	p := d.processes[id]
	for _, r := range d.stages {
		if !r.done && r.bound(id) && len(r.bindings) > 1 && len(p.stageOn(r).pending) > 0 {
			r.divide(r.capacities())
		}
	}
}

// depart ends executors that leave once they have nothing to run, as Spark's
// decommissioned ones do.
func (d *Driver) depart() {
	for _, x := range d.directive.Executors {
		p := d.processes[x.ID]
		if !x.Leaving || p == nil || len(p.running) > 0 {
			continue
		}
		if !slices.ContainsFunc(p.stages, func(s *stageOn) bool { return len(s.pending) > 0 }) {
			p.node.Runtime.Exit(p.handle, 0)
		}
	}
}

// join gives a new executor its part of the running stages that have none on its
// node.
func (d *Driver) join(id api.ExecutorID) {
	mine := slices.IndexFunc(d.directive.Executors, func(x api.DirectiveExecutor) bool { return x.ID == id })
	if mine < 0 || d.directive.Executors[mine].Leaving {
		return
	}
	for _, r := range d.stages {
		if r.done || r.bindings == nil || d.directive.Gated && d.busy(id) {
			continue
		}
		there := slices.ContainsFunc(r.bindings, func(b api.Binding) bool {
			p := d.processes[b.Executor]
			return p != nil && p.node == d.processes[id].node
		})
		if !there {
			r.bindings = append(r.bindings, api.Binding{Executor: id})
			r.divide(r.capacities())
		}
	}
}

// capacities weighs what is not launched by the nodes' capacity, on top of what
// each executor has already; one that leaves gets no more.
func (r *stageRun) capacities() map[api.ExecutorID]float64 {
	rest, cores := 0.0, 0.0
	launched, capacity := map[api.ExecutorID]float64{}, map[api.ExecutorID]float64{}
	for _, x := range r.driver.directive.Executors {
		if r.bound(x.ID) && !x.Leaving {
			capacity[x.ID] = float64(x.Cores)
			cores += float64(x.Cores)
		}
	}
	for _, b := range r.bindings {
		pending := float64(len(r.driver.processes[b.Executor].stageOn(r).pending))
		launched[b.Executor] = float64(b.Tasks) - pending
		rest += pending
	}
	for _, b := range r.bindings {
		if cores > 0 {
			launched[b.Executor] += rest * capacity[b.Executor] / cores
		}
	}
	return launched
}

// divide moves tasks that are not launched so that each executor's share comes
// next to its weight, and tells the planner.
func (r *stageRun) divide(weights map[api.ExecutorID]float64) {
	var pool []*task
	wanted := make([]float64, len(r.bindings))
	for i, b := range r.bindings {
		on := r.driver.processes[b.Executor].stageOn(r)
		pool = append(pool, on.pending...)
		r.bindings[i].Tasks -= len(on.pending)
		on.pending = nil
		wanted[i] = max(0, weights[b.Executor]-float64(r.bindings[i].Tasks))
	}
	r.hand(pool, wanted)
	r.sayBound()
}

// hand gives tasks to the stage's executors in proportion to wanted.
func (r *stageRun) hand(tasks []*task, wanted []float64) {
	for i, n := range sim.Apportion(int64(len(tasks)), wanted) {
		b := &r.bindings[i]
		on := r.driver.processes[b.Executor].stageOn(r)
		for _, t := range tasks[:n] {
			t.on = on
		}
		on.pending = append(on.pending, tasks[:n]...)
		tasks = tasks[n:]
		b.Tasks += int(n)
		b.Weight = float64(b.Tasks)
	}
}
