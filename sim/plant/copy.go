package plant

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// copySlow starts copies of last tasks that run alone, where driver.Bindings grants them.
func (d *Driver) copySlow() {
	if d.plant.cfg.NoCopies {
		return
	}
	now := d.plant.clock.Now()
	for _, r := range d.stages.running() {
		if r.remaining != 1 || r.unlaunched() > 0 {
			continue
		}
		p, t := r.at(anyTask)
		if p == nil {
			continue
		}
		d.tellChanges() // The planner says of the shares that it knows whether such a task is late.
		lone := driver.Task{Stage: r.key, Index: t.index, Ran: now.Sub(t.began), Tried: []api.ExecutorID{p.Key.ID}}
		id, ok := lone.Copy(&d.Bindings)
		if ok && d.Bindings.Admits(r.key, id, true) {
			copyOn(d.executors[slices.IndexFunc(d.executors, func(q *Process) bool { return q.Key.ID == id })], now, t)
			d.tellChanges()
		}
	}
}

// copyOn starts another attempt of a task on q.
func copyOn(q *Process, now units.Instant, t *task) {
	if q.Exited {
		return // Its driver has not noticed.
	}
	t.run.copied = true
	q.advance(now)
	t.run.start(q, t.index)
	q.Machine.divide(now)
	q.plan(now)
}

// anyTask stands for the index of any of a stage's tasks.
const anyTask = -1

// at is a task that runs of r, and where; nil for none.
func (r *stageRun) at(index int) (*Process, *task) {
	for _, p := range r.d.executors {
		for _, t := range slices.Concat(p.tasks.computing, p.tasks.waiting) {
			if t.run == r && (index == anyTask || t.index == index) {
				return p, t
			}
		}
	}
	return nil, nil
}

// endCopies ends what else runs of a task that is done.
func (r *stageRun) endCopies(index int) {
	for {
		o, t := r.at(index)
		if o == nil {
			return
		}
		o.drop(r.d.plant.clock.Now(), func(other *task) bool { return other == t })
		r.d.Bindings.Ended(r.key, o.Key.ID)
	}
}
