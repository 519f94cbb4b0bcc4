package sim

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Lost outputs, as Spark's DAGScheduler treats them: stages whose outputs are still
// needed run again in part, and those that read them fail and come again with what
// they had not done.

// repeat has the stages run again whose outputs went with p and are needed.
func (d *Driver) repeat(p *process) {
	for i := len(d.stages) - 1; i >= 0; i-- {
		r := d.stages[i]
		lost := r.base.without(p)
		if len(lost) == 0 || !d.needed(i) {
			continue
		}
		for _, k := range lost {
			r.base.by[k] = nil
		}
		if r.done {
			d.left++
			d.stages[i] = r.attempt(r.base.missing())
		} else if r.ready {
			r.again(lost)
		}
	}
	for i, r := range d.stages {
		blocked := slices.ContainsFunc(r.spec.Parents, func(k int) bool { return !d.stages[k].done })
		switch {
		case r.done || !blocked || !r.gapSet:
		case r.ready:
			d.fetchFailed(r)
			d.stages[i] = r.attempt(r.base.missing())
		default:
			d.w.clock.Cancel(&r.gap)
			r.gapSet = false
		}
	}
	if d.started && d.left > 0 {
		d.advance()
	}
}

// whole has a stage that is done run again for outputs of an earlier attempt that were
// lost while its last one ran.
func (d *Driver) whole(r *stageRun) {
	if missing := r.base.missing(); len(missing) > 0 {
		d.left++
		d.stages[r.key.Stage] = r.attempt(missing)
	}
}

// needed reports whether a stage that is not done reads what stage i writes.
func (d *Driver) needed(i int) bool {
	return slices.ContainsFunc(d.stages, func(o *stageRun) bool { return !o.done && slices.Contains(o.spec.Parents, i) })
}

// without are the tasks of a first attempt whose output p has.
func (r *stageRun) without(p *process) []int {
	var lost []int
	for k, by := range r.by {
		if by == p {
			lost = append(lost, k)
		}
	}
	return lost
}

// missing are the tasks of a first attempt whose output nobody has.
func (r *stageRun) missing() []int { return r.without(nil) }

// again takes tasks of a running attempt back that were done, with their output.
// Those that an earlier attempt did are no part of it: see whole.
func (r *stageRun) again(lost []int) {
	for _, k := range lost {
		i := slices.Index(r.tasks, k)
		if i < 0 {
			continue
		}
		r.returned(i)
		r.remaining++
	}
}

// attempt is the next attempt of a stage, with those of its tasks.
func (r *stageRun) attempt(tasks []int) *stageRun {
	base := r.base
	spec := *base.spec
	part := float64(len(tasks)) / float64(base.spec.Tasks)
	spec.Tasks, spec.Work = len(tasks), units.Work(part)*spec.Work
	spec.Records, spec.Written = int64(part*float64(spec.Records)), int64(part*float64(spec.Written))
	n := &stageRun{d: r.d, key: api.StageKey{Stage: r.key.Stage, Attempt: r.key.Attempt + 1}, spec: &spec, base: base, tasks: tasks,
		work: picked(base.work, tasks), sizes: picked(base.sizes, tasks), fixed: base.fixed, remaining: len(tasks)}
	n.gap = des.NewTimer(rankDriver, r.d.id, des.Call(func() { r.d.stageReady(n) }))
	if base.weights != nil {
		parts := make([]float64, len(tasks))
		for i, k := range tasks {
			parts[i] = float64(base.weights[k])
		}
		n.weights = driver.Apportion(int64(len(tasks))*driver.MeanWeight, parts)
	}
	return n
}

// fetchFailed ends a running attempt: its tasks cannot read what is lost.
func (d *Driver) fetchFailed(r *stageRun) {
	now := d.w.clock.Now()
	for _, p := range d.executors {
		p.advance(now)
		of := func(t *task) bool { return t.run == r }
		p.computing, p.waiting = slices.DeleteFunc(p.computing, of), slices.DeleteFunc(p.waiting, of)
		p.first = math.Inf(1)
		for _, t := range p.computing {
			p.first = min(p.first, t.end)
		}
		p.m.divide(now)
		p.plan(now)
	}
	r.done = true
	d.bindings.Done(r.key)
	d.say(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: r.key, Failed: true, Reason: "FetchFailed", Tasks: r.spec.Tasks,
		TaskCPU: units.Seconds(r.cpu), TaskTime: units.Seconds(r.cpu), LongestTask: units.Seconds(r.longest), FirstLaunch: r.first, LastFinish: r.last}})
}
