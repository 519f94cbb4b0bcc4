package testenv

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
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
	defer d.join(p.handle.ID)
	d.say(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: p.handle.ID}})
}

// lost takes an executor away; its unfinished tasks go to others.
func (d *Driver) lost(p *process) {
	if d.ended || d.stopped || d.processes[p.handle.ID] != p {
		return
	}
	delete(d.processes, p.handle.ID)
	d.say(api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: p.handle.ID, Reason: "connection lost"}})
	for _, s := range p.stages {
		left := s.pending
		for _, t := range p.running {
			if t.on == s {
				t.work = t.total
				left = append(left, t)
			}
		}
		if len(left) > 0 {
			s.run.move(p.handle.ID, left)
		} else {
			s.run.unbind(p.handle.ID)
		}
	}
}

// unbind takes an executor without tasks from a running stage.
func (r *stageRun) unbind(id api.ExecutorID) {
	if r.done || !r.bound(id) {
		return
	}
	r.bindings = slices.DeleteFunc(r.bindings, func(b api.Binding) bool { return b.Executor == id })
	if len(r.bindings) == 0 {
		r.bindings = nil
		return
	}
	r.sayBound()
}

// move gives tasks of a lost executor to another one of the stage's, or binds the
// stage anew when an executor is free.
func (r *stageRun) move(from api.ExecutorID, tasks []*task) {
	d := r.driver
	r.bindings = slices.DeleteFunc(r.bindings, func(b api.Binding) bool { return b.Executor == from })
	for i, b := range r.bindings {
		to := d.processes[b.Executor]
		if to == nil {
			continue
		}
		on := to.stageOn(r)
		for _, t := range tasks {
			t.on = on
		}
		on.pending = append(on.pending, tasks...)
		r.bindings[i].Tasks += len(tasks)
		r.bindings[i].Weight += float64(len(tasks))
		r.sayBound()
		return
	}
	r.bindings = nil
}

func (r *stageRun) sayBound() {
	r.driver.say(api.Event{Type: api.EventStageBound, Bound: &api.StageBound{StageKey: api.StageKey{Stage: r.id}, Bindings: slices.Clone(r.bindings)}})
}

func (r *stageRun) bound(id api.ExecutorID) bool {
	return slices.ContainsFunc(r.bindings, func(b api.Binding) bool { return b.Executor == id })
}

// step lets the driver submit what is ready and end when all is done.
func (d *Driver) step() {
	if d.ended || d.reply.AppID == "" {
		return
	}
	if !d.started {
		if len(d.processes) < d.reply.Executors || time.Since(d.began) < d.app.Head {
			return
		}
		d.started = true
	}
	d.depart()
	all := true
	for _, r := range d.stages {
		if !r.done {
			all = false
		}
		if !r.done && r.bindings == nil && d.submittable(r) {
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

// submit binds a stage to one executor per node, if there are, and hands out its
// tasks.
func (d *Driver) submit(r *stageRun) {
	chosen := d.choose()
	if len(chosen) == 0 {
		return
	}
	tasks, cores := make([]*task, 0, r.remaining), make([]float64, len(chosen))
	work := r.stage.Work / units.Work(r.stage.Tasks)
	for i := r.stage.Tasks - r.remaining; i < r.stage.Tasks; i++ {
		tasks = append(tasks, &task{partition: i, work: work, total: work, records: float64(r.stage.Records) / float64(r.stage.Tasks)})
	}
	for i, x := range chosen {
		cores[i] = float64(x.Cores)
		r.bindings = append(r.bindings, api.Binding{Executor: x.ID})
	}
	r.hand(tasks, cores)
	if r.ready {
		r.sayBound()
		return
	}
	r.ready = true
	parents := r.stage.Parents
	if parents == nil {
		parents = []int{}
	}
	d.say(api.Event{Type: api.EventStageReady, Stage: &api.StageReady{StageKey: api.StageKey{Stage: r.id}, Job: r.stage.Job,
		Name: "stage", Signature: "code", Parents: parents, Tasks: r.stage.Tasks, Records: r.stage.Records, Bytes: api.Unknown,
		Bindings: slices.Clone(r.bindings)}})
}

// choose returns one executor per node: gated an idle one on every node, else
// the first one.
func (d *Driver) choose() []api.DirectiveExecutor {
	nodes := map[string]bool{}
	var chosen []api.DirectiveExecutor
	for _, x := range d.directive.Executors {
		p := d.processes[x.ID]
		if p == nil || x.Leaving {
			continue
		}
		nodes[x.Node] = nodes[x.Node] || false
		if nodes[x.Node] || (d.directive.Gated && d.busy(x.ID)) {
			continue
		}
		nodes[x.Node] = true
		chosen = append(chosen, x)
	}
	if len(chosen) < len(nodes) {
		return nil
	}
	return chosen
}

func (d *Driver) busy(id api.ExecutorID) bool {
	for _, r := range d.stages {
		if !r.done && r.bound(id) {
			return true
		}
	}
	return false
}

// stageOn is p's part of a stage, made when it is not there.
func (p *process) stageOn(r *stageRun) *stageOn {
	for _, s := range p.stages {
		if s.run == r {
			return s
		}
	}
	s := &stageOn{run: r, page: meter.Stage{Key: api.StageKey{Stage: r.id}, Changed: p.machine.clock()}}
	p.stages = append(p.stages, s)
	if len(p.stages) > progress.MaxStages {
		p.stages = p.stages[1:]
	}
	return s
}

// launched notes a task's start, finished its end; the last one ends the stage.
func (r *stageRun) launched(*task) {
	if r.first == 0 {
		r.first = r.driver.elapsed()
	}
}

func (r *stageRun) finished(*task) {
	r.remaining--
	r.last = r.driver.elapsed()
	if r.remaining > 0 || r.done {
		return
	}
	r.done = true
	longest := units.Seconds(r.stage.Work / units.Work(r.stage.Tasks))
	r.driver.say(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: api.StageKey{Stage: r.id}, Tasks: r.stage.Tasks,
		RecordsRead: r.stage.Records, RecordsWritten: r.stage.Records, TaskCPU: units.Seconds(r.stage.Work), TaskTime: units.Seconds(r.stage.Work),
		LongestTask: longest, FirstLaunch: r.first, LastFinish: r.last}})
}
