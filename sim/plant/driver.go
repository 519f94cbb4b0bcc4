package plant

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Driver is an application's driver without its conversation: it submits stages when what
// they wait for is done, starts their tasks where driver.Bindings admits them, and says the
// events that a planner has to be told.
type Driver struct {
	App        App
	ID         uint64
	Submission string
	// Home is where its process runs.
	Home *Machine
	// Bindings say where its tasks may run.
	Bindings driver.Bindings
	// Began is when it was submitted. Stopped says that its context has, Duration what its
	// deadline clock showed then; Exited that its process has.
	Began           units.Instant
	Stopped, Exited bool
	Duration        units.Seconds
	// Seen is the greatest number of an executor that has registered.
	Seen    int
	Manager *Manager

	plant *Plant
	say   func(api.Event)
	// works says that it takes cores of Home.
	works bool
	pace  float64
	bend  float64 // Config.Bend for its executors.
	// registered says that a planner has taken it: wanted is how many executors it said,
	// fixedPart what it knows of stages.
	registered bool
	wanted     int
	fixedPart  map[string]units.Fraction
	started    bool
	directive  api.Directive
	executors  []*Process // Registered ones, in order of id.
	stages     stages
	left       int
	timers     timers
}

// timers are a driver's: of its first stage, its context's stop and its process's exit. settled
// tells changes that were made in passing.
type timers struct{ head, end, leave, settled des.Timer }

// NewDriver returns the driver of an application whose number in this plant is id. It takes
// cores of home where it works itself; say takes each event that it has to tell.
func (p *Plant) NewDriver(a App, id uint64, home *Machine, say func(api.Event)) *Driver {
	d := &Driver{App: a, ID: id, Submission: fmt.Sprintf("%s-%d", a.Name, id), Home: home,
		plant: p, say: say, pace: 1, bend: p.cfg.Bend}
	if a.Pace > 0 {
		d.pace = a.Pace
	}
	if a.Bend > 0 {
		d.bend = a.Bend
	}
	d.pace *= p.cfg.runFactor(des.Random(p.seed, "run "+d.Submission))
	for i := range a.Stages {
		d.stages = append(d.stages, p.newStageRun(d, i, &d.App.Stages[i]))
	}
	d.left = len(d.stages)
	d.Manager = p.newManager(d)
	timer := func(f func()) des.Timer { return des.NewTimer(RankDriver, id, des.Call(f)) }
	d.timers = timers{head: timer(func() { d.started = true; d.advance() }), end: timer(d.finish),
		leave:   timer(func() { d.Exit(api.Event{Type: api.EventExit, Clean: true}) }),
		settled: timer(func() { d.offerAll(); d.tellChanges() })}
	return d
}

// Start is the moment of submission, from which its deadline clock counts.
func (d *Driver) Start() {
	d.Began = d.plant.clock.Now()
	d.work()
}

// Elapsed is what its deadline clock shows.
func (d *Driver) Elapsed() units.Seconds {
	return units.Seconds(des.Seconds(d.Began, d.plant.clock.Now()))
}

// Alive reports whether an executor is registered with it that has not exited.
func (d *Driver) Alive() bool {
	return slices.ContainsFunc(d.executors, func(p *Process) bool { return !p.Exited })
}

// Registered says that a planner has taken it, or has again.
func (d *Driver) Registered(r *api.RegisterReply) {
	d.registered, d.wanted, d.fixedPart = true, r.Executors, r.FixedPart
	if d.Manager != nil {
		d.Manager.app = r.AppID
	}
}

// Follow has it go by a directive that is newer than the one in force.
func (d *Driver) Follow(n *api.Directive) {
	if d.Stopped {
		return
	}
	d.directive = *n
	d.Bindings.Follow(&d.directive)
	d.decommission()
	d.offerAll()
	d.tellChanges()
	d.Manager.look()
	d.maybeStart()
}

// Watch opens stages that get nothing to run, and returns them.
func (d *Driver) Watch() []api.StageKey {
	opened := d.Bindings.Watch(d.plant.clock.Now())
	if len(opened) > 0 {
		d.offerAll()
	}
	d.copySlow()
	return opened
}

// Truth is what a planner that has forgotten everything has to be told.
func (d *Driver) Truth() []api.Event {
	var out []api.Event
	for _, p := range d.executors {
		out = append(out, api.Event{At: d.Elapsed(), Type: api.EventExecutorUp, Executor: p.arrival()})
	}
	for _, r := range d.stages.running() {
		out = append(out, api.Event{At: d.Elapsed(), Type: api.EventStageReady, Stage: r.told(d.Bindings.Current(r.key))})
	}
	return out
}

// tell says an event with its time.
func (d *Driver) tell(e api.Event) {
	e.At = d.Elapsed()
	d.say(e)
}

func (d *Driver) tellChanges() {
	for _, changed := range d.Bindings.TakeChanges() {
		d.tell(api.Event{Type: api.EventStageBound, Bound: &changed})
	}
}

// up registers an executor.
func (d *Driver) up(p *Process) {
	if d.Stopped {
		return
	}
	if slices.ContainsFunc(d.executors, func(q *Process) bool { return q.Key.ID == p.Key.ID }) {
		// Spark takes no second one of an id, and that ends itself.
		p.Kill("exit status 1", 1)
		return
	}
	number, _ := strconv.Atoi(string(p.Key.ID))
	d.Seen = max(d.Seen, number)
	d.executors = append(d.executors, p)
	slices.SortFunc(d.executors, func(a, b *Process) int { return a.Key.Compare(b.Key) })
	d.Bindings.ExecutorUp(p.Key.ID, p.Machine.Name)
	d.tell(api.Event{Type: api.EventExecutorUp, Executor: p.arrival()})
	d.offerAll()
	d.tellChanges()
	d.maybeStart()
}

// lost is when the driver notices that an executor is gone.
func (d *Driver) lost(p *Process) {
	if d.Stopped || !slices.Contains(d.executors, p) {
		return
	}
	d.executors = slices.DeleteFunc(d.executors, func(q *Process) bool { return q == p })
	d.Bindings.ExecutorGone(p.Key.ID)
	d.tell(api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: p.Key.ID, Reason: "connection lost"}})
	for _, t := range slices.Concat(p.tasks.computing, p.tasks.waiting) {
		if t.run.failed() {
			t.run.zombieEnded(p, 0)
			continue
		}
		d.Bindings.Ended(t.run.key, p.Key.ID)
		if other, _ := t.run.at(t.index); other == nil {
			t.run.returned(t.index)
		}
	}
	if p.Forgets {
		d.repeat(p)
	}
	d.offerAll()
	d.tellChanges()
}

// maybeStart begins with the first job once the executors are there.
func (d *Driver) maybeStart() {
	if d.started || d.Stopped || !d.registered || d.directive.Queued != nil || d.timers.head.IsSet() {
		return
	}
	wanted := max(1, len(d.directive.Executors))
	if d.wanted > 0 { // Of one that was queued it is 0 until it has registered again.
		wanted = min(wanted, d.wanted)
	}
	if d.Manager != nil {
		wanted = 1 // The others may come much later.
	}
	if len(d.executors) < wanted {
		return
	}
	now := d.plant.clock.Now()
	d.plant.clock.Set(&d.timers.head, max(now, d.Began.Add(d.App.Head.Duration())))
}

// advance starts the gaps of stages whose parents and earlier jobs are done.
func (d *Driver) advance() {
	for _, r := range d.stages.open() {
		if !r.gapSet && d.stages.submittable(r) {
			r.gapSet = true
			d.plant.clock.Set(&r.gap, d.plant.clock.Now().Add(r.spec.Gap.Duration()))
		}
	}
	d.work()
	if d.left == 0 {
		d.plant.clock.Set(&d.timers.end, d.plant.clock.Now().Add(d.App.Tail.Duration()))
	}
}

func (d *Driver) stageReady(r *stageRun) {
	if !slices.ContainsFunc(d.stages, func(o *stageRun) bool { return o.ready }) {
		tellPart(api.EventPartBegan, d)
	}
	r.ready = true
	if r.base == r {
		r.setFixedPart(d.fixedPart[r.name()])
	}
	d.work()
	weights := r.weights
	if weights == nil {
		weights = driver.Alike(r.spec.Tasks)
	}
	bound := d.Bindings.Ready(r.key, r.spec.Job, weights, nil, false, "")
	d.tell(api.Event{Type: api.EventStageReady, Stage: r.told(bound)})
	d.offerAll()
	d.tellChanges()
}

func (d *Driver) stageDone(r *stageRun) {
	r.done = true
	d.Bindings.Done(r.key)
	d.left--
	r.whole()
	done := &api.StageDone{StageKey: r.key, Tasks: r.spec.Tasks,
		RecordsRead: r.spec.Records, RecordsWritten: r.spec.Written,
		TaskCPU: units.Seconds(r.cpu), TaskTime: units.Seconds(r.cpu), LongestTask: units.Seconds(r.longest),
		FirstLaunch: r.first, LastFinish: r.last, FixedPart: r.fixedPart(), TaskCost: r.taskCost()}
	if slices.ContainsFunc(d.executors, func(p *Process) bool { return p.Machine.Rates != [2]float64{} }) {
		done.BytesRead, done.BytesRemote = int64(r.spec.Disk+r.spec.Network), new(int64(r.spec.Network))
	}
	d.tell(api.Event{Type: api.EventStageDone, Done: done})
	d.queryDone(r)
	if d.left == 0 {
		tellPart(api.EventPartOver, d)
	}
	d.advance()
	d.offerAll()
	d.tellChanges()
}

// tellPart tells of a session without an end that its stages are a part of it, with its deadline.
func tellPart(event api.EventType, d *Driver) {
	if d.App.Mode == api.ModeEndless {
		d.tell(api.Event{Type: event, Part: &api.SessionPart{At: d.Elapsed(), Name: d.App.Profile, Deadline: d.App.Deadline}})
	}
}

// queryDone tells that the SQL query of a stage that is done has ended, if no stage of it is left.
func (d *Driver) queryDone(r *stageRun) {
	execution, ok := r.query()
	if !ok || slices.ContainsFunc(d.stages, func(o *stageRun) bool {
		its, ok := o.query()
		return ok && its == execution && !o.done
	}) {
		return
	}
	d.tell(api.Event{Type: api.EventQueryEnded, Query: &api.QueryEnded{Execution: execution}})
}

func (d *Driver) finish() {
	d.Manager.count()
	d.Stopped = true
	d.Duration = d.Elapsed()
	d.tell(api.Event{Type: api.EventEnd})
	d.work()
	wait := float64(d.App.Exit) * des.Around(des.Random(d.plant.seed, "exit "+d.Submission), d.plant.cfg.ExitSpread)
	d.plant.clock.Set(&d.timers.leave, des.Later(d.plant.clock.Now(), wait))
}

// Exit is the end of the driver's process, whose last word this is.
func (d *Driver) Exit(word api.Event) {
	d.Leave()
	d.tell(word)
}

// Leave is the end of the driver's process without a word.
func (d *Driver) Leave() {
	d.Exited = true
	d.work()
}

// Abort ends the application because no executor is left, as a standalone master would.
func (d *Driver) Abort(why string) {
	d.Stop()
	d.tell(api.Event{Type: api.EventEnd, Failed: true, Reason: why})
	d.Exit(api.Event{Type: api.EventExit, Failed: true, Reason: why})
}

// Stop ends its context before its work is done.
func (d *Driver) Stop() {
	for _, t := range []*des.Timer{&d.timers.head, &d.timers.end, &d.timers.settled} {
		d.plant.clock.Cancel(t)
	}
	for _, r := range d.stages {
		d.plant.clock.Cancel(&r.gap)
	}
	d.Manager.count()
	d.Stopped = true
	d.Duration = d.Elapsed()
}

// work has the driver take its cores while it works itself: until its first stage,
// while a stage is made and none runs, and from its last one to its exit.
func (d *Driver) work() {
	if d.App.Driver == 0 {
		return
	}
	works := !d.Exited && len(d.stages.running()) == 0
	if works == d.works {
		return
	}
	d.works = works
	cores := float64(d.App.Driver)
	if !works {
		cores = -cores
	}
	d.Home.drive(cores)
}
