package testenv

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/meter"
	"github.com/sparkpacer/pacer/progress"
	"github.com/sparkpacer/pacer/units"
)

// What the scheduler in spark/ does. All of it runs with the world's lock held.

// up registers an executor.
func (d *Driver) up(p *process) {
	if d.ended || d.stopped {
		return
	}
	d.processes[p.handle.ID] = p
	d.bindings.ExecutorUp(p.handle.ID, p.node.spec.Name)
	d.say(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: p.handle.ID}})
	d.tellChanges()
}

// lost takes an executor away; its unfinished tasks go to others.
func (d *Driver) lost(p *process) {
	if d.ended || d.stopped || d.processes[p.handle.ID] != p {
		return
	}
	delete(d.processes, p.handle.ID)
	d.bindings.ExecutorGone(p.handle.ID)
	d.say(api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: p.handle.ID, Reason: "connection lost"}})
	for _, t := range p.running {
		r := t.on.run
		t.work = t.total
		r.waiting = append(r.waiting, t)
		d.bindings.Ended(r.key, p.handle.ID)
		d.bindings.Returned(r.key, t.partition)
	}
	d.tellChanges()
}

// offer starts tasks in an executor's free slots, the older stages' first.
func (d *Driver) offer(p *process, now units.Instant) {
	for _, r := range d.stages {
		for len(r.waiting) > 0 && len(p.running) < p.slots && d.bindings.Admits(r.key, p.handle.ID, false) {
			t := r.waiting[0]
			r.waiting = r.waiting[1:]
			d.bindings.Launched(r.key, t.partition, p.handle.ID)
			if r.first == 0 {
				r.first = d.elapsed()
			}
			p.launch(t, r, now)
		}
	}
	d.tellChanges()
}

func (d *Driver) tellChanges() {
	for _, changed := range d.bindings.TakeChanges() {
		d.say(api.Event{Type: api.EventStageBound, Bound: &changed})
	}
}

// step lets the driver submit what is ready and end when all is done.
func (d *Driver) step() {
	if d.ended || d.reply.AppID == "" {
		return
	}
	if !d.started {
		if d.directive.Queued != nil || len(d.processes) < max(d.reply.Executors, min(1, len(d.directive.Executors))) || time.Since(d.began) < d.app.Head {
			return
		}
		d.started = true
	}
	d.decommission()
	all := true
	for _, r := range d.stages {
		if !r.done {
			all = false
		}
		if !r.ready && d.submittable(r) {
			d.submit(r)
		}
	}
	if all {
		d.finish()
	}
}

func (d *Driver) finish() {
	if d.idle.IsZero() {
		d.idle = time.Now()
	}
	if time.Since(d.idle) >= d.app.Tail && !d.stopped {
		d.stopped = true
		d.say(api.Event{Type: api.EventEnd})
	}
	if time.Since(d.idle) >= d.app.Tail+d.app.Exit {
		d.ended = true
		d.say(api.Event{Type: api.EventExit, Clean: true})
	}
}

// submittable says that a stage's parents and the jobs before it are done.
func (d *Driver) submittable(r *stageRun) bool {
	for _, parent := range r.stage.Parents {
		if !d.stages[parent].done {
			return false
		}
	}
	for _, other := range d.stages {
		if other.stage.Job < r.stage.Job && !other.done {
			return false
		}
	}
	return true
}

// submit has a stage's tasks wait for the executors that it is bound to.
func (d *Driver) submit(r *stageRun) {
	r.ready = true
	work := r.stage.Work / units.Work(r.stage.Tasks)
	for i := range r.stage.Tasks {
		r.waiting = append(r.waiting, &task{partition: i, work: work, total: work, records: float64(r.stage.Records) / float64(r.stage.Tasks)})
	}
	bound := d.bindings.Ready(r.key, r.stage.Job, driver.Alike(r.stage.Tasks), nil, false)
	d.say(api.Event{Type: api.EventStageReady, Stage: r.told(bound)})
	d.tellChanges()
}

// told is what the planner is told of a stage that is bound so.
func (r *stageRun) told(bound []api.Binding) *api.StageReady {
	parents := r.stage.Parents
	if parents == nil {
		parents = []int{}
	}
	return &api.StageReady{StageKey: r.key, Job: r.stage.Job, Name: "stage", Signature: "code", Parents: parents,
		Tasks: r.stage.Tasks, Records: r.stage.Records, Bytes: api.Unknown, Bindings: bound}
}

// truth is what a planner that has forgotten everything has to be told.
func (d *Driver) truth() []api.Event {
	var out []api.Event
	for _, id := range d.bindings.Executors() {
		out = append(out, api.Event{At: d.elapsed(), Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: id}})
	}
	for _, r := range d.stages {
		if r.ready && !r.done {
			out = append(out, api.Event{At: d.elapsed(), Type: api.EventStageReady, Stage: r.told(d.bindings.Current(r.key))})
		}
	}
	return out
}

// decommission ends executors that leave once they have nothing to run, as Spark does.
func (d *Driver) decommission() {
	for _, x := range d.directive.Executors {
		if p := d.processes[x.ID]; x.Leaving && p != nil && len(p.running) == 0 {
			p.node.Runtime.Exit(p.handle, 0)
		}
	}
}

// stageOn is p's part of a stage, made when it is not there.
func (p *process) stageOn(r *stageRun) *stageOn {
	for _, s := range p.stages {
		if s.run == r {
			return s
		}
	}
	s := &stageOn{run: r, page: meter.Stage{Key: r.key}}
	p.stages = append(p.stages, s)
	if len(p.stages) > progress.MaxStages {
		p.stages = p.stages[1:]
	}
	return s
}

// finished notes the end of a task; the last one ends the stage.
func (r *stageRun) finished(p *process) {
	d := r.driver
	d.bindings.Ended(r.key, p.handle.ID)
	r.remaining--
	r.last = d.elapsed()
	if r.remaining == 0 {
		r.done = true
		d.bindings.Done(r.key)
		longest := units.Seconds(r.stage.Work / units.Work(r.stage.Tasks))
		d.say(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: r.key, Tasks: r.stage.Tasks,
			RecordsRead: r.stage.Records, RecordsWritten: r.stage.Records, TaskCPU: units.Seconds(r.stage.Work), TaskTime: units.Seconds(r.stage.Work),
			LongestTask: longest, FirstLaunch: r.first, LastFinish: r.last}})
	}
	d.tellChanges()
}
