package plant

import (
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
func (d *Driver) repeat(p *Process) {
	for i := len(d.stages) - 1; i >= 0; i-- {
		r := d.stages[i]
		lost := r.base.without(p)
		if len(lost) == 0 || !d.stages.needed(i) {
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
			r.fetchFailed()
			d.stages[i] = r.attempt(r.base.missing())
		default:
			d.plant.clock.Cancel(&r.gap)
			r.gapSet = false
		}
	}
	if d.started && d.left > 0 {
		d.advance()
	}
}

// whole has a stage that is done run again for outputs of an earlier attempt that were
// lost while its last one ran.
func (r *stageRun) whole() {
	if missing := r.base.missing(); len(missing) > 0 {
		r.d.left++
		r.d.stages[r.key.Stage] = r.attempt(missing)
	}
}

// needed reports whether a stage that is not done reads what stage i writes.
func (s stages) needed(i int) bool {
	return slices.ContainsFunc(s, func(o *stageRun) bool { return !o.done && slices.Contains(o.spec.Parents, i) })
}

// without are the tasks of a first attempt whose output p has.
func (r *stageRun) without(p *Process) []int {
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
	n := &stageRun{d: r.d, key: api.StageKey{Stage: r.key.Stage, Attempt: r.key.Attempt + 1}, spec: &spec, base: base,
		tasks: tasks, work: picked(base.work, tasks), sizes: picked(base.sizes, tasks), fixed: base.fixed,
		remaining: len(tasks)}
	n.gap = des.NewTimer(RankDriver, r.d.ID, des.Call(func() { r.d.stageReady(n) }))
	if base.weights != nil {
		parts := make([]float64, len(tasks))
		for i, k := range tasks {
			parts[i] = float64(base.weights[k])
		}
		n.weights = driver.Apportion(int64(len(tasks))*driver.MeanWeight, parts)
	}
	return n
}

// fetchFailed ends a running attempt: tasks that have not fetched cannot read what is lost. Tasks that compute are
// zombies, which hold their slots until they end, and bring nothing.
func (r *stageRun) fetchFailed() {
	d, now := r.d, r.d.plant.clock.Now()
	r.done, r.remaining = true, 0
	for _, p := range d.executors {
		for range p.drop(now, func(t *task) bool { return t.run == r && t.end == 0 }) {
			d.Bindings.Ended(r.key, p.Key.ID)
		}
		r.remaining += p.tasks.of(r)
	}
	d.Bindings.Retire(r.key)
	r.concludeFailed()
}

// failed reports whether r is an attempt whose tasks are zombies.
func (r *stageRun) failed() bool { return r.d.stages[r.key.Stage] != r }

// zombieEnded notes the end of a task of a failed attempt.
func (r *stageRun) zombieEnded(p *Process, cpu float64) {
	r.d.Bindings.Ended(r.key, p.Key.ID)
	r.remaining--
	r.cpu += cpu
	r.longest, r.last = max(r.longest, cpu), r.d.Elapsed()
	r.concludeFailed()
	r.d.offerFreed()
}

// concludeFailed tells that a failed attempt has ended once none of its tasks runs.
func (r *stageRun) concludeFailed() {
	if r.remaining > 0 || r.d.Stopped {
		return
	}
	r.d.Bindings.Done(r.key)
	r.d.tell(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: r.key, Failed: true,
		Reason: "FetchFailed", Tasks: r.spec.Tasks, FirstLaunch: r.first, LastFinish: r.last,
		TaskCPU: units.Seconds(r.cpu), TaskTime: units.Seconds(r.cpu), LongestTask: units.Seconds(r.longest)}})
}
