package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// How a driver talks. It sends a heartbeat every two seconds, the longest silence that
// package api allows; the jar sends one after a second of silence (PlannerClient.scala).
// An answer is waited for two seconds, as in the jar, which gives its first registration
// five.
const (
	heartbeat = 2 * time.Second
	patience  = 2 * time.Second
	again     = time.Second
)

// Driver stands for an application's driver with the jar: it registers, submits
// stages when what they wait for is done, binds their tasks to executors as
// StageBindings.scala does, and speaks the messages of package api.
type Driver struct {
	w          *World
	app        App
	id         uint64
	submission string
	pace       float64
	bend       float64 // Plant.Bend for its executors.
	link       link
	began      units.Instant

	// ended says that its context has stopped, exited that its process has.
	registered, started, ended, exited, heard bool
	refused                                   error
	reply                                     api.RegisterReply
	directive                                 api.Directive
	executors                                 []*process // Registered ones, in order of id.
	stages                                    []*stageRun
	left                                      int

	events   []api.Event // Not acknowledged yet.
	seq      uint64
	request  uint64 // The number of the request that is waited for; 0 for none.
	requests uint64
	beat     timer
	wait     timer
	head     timer
	end      timer
	leave    timer // After its context's stop.
	m        *machine
	works    bool          // It takes cores of m.
	settled  timer         // Tells changes that were made in passing.
	duration units.Seconds // Until its context's stop.
	// result is what the planner last said about it.
	result *api.AppDetail
}

func (w *World) newDriver(a App) *Driver {
	n := len(w.drivers) + 1
	d := &Driver{w: w, app: a, id: uint64(n), submission: fmt.Sprintf("%s-%d", a.Name, n), pace: 1, bend: w.cfg.Plant.Bend}
	if a.Pace > 0 {
		d.pace = a.Pace
	}
	d.pace *= w.cfg.Plant.runFactor(random(w.cfg.Seed, "run "+d.submission))
	for i := range a.Stages {
		d.stages = append(d.stages, newStageRun(d, i, &d.app.Stages[i]))
	}
	d.left = len(d.stages)
	d.beat = timer{rank: rankDriver, id: d.id, owner: call(d.talk)}
	d.wait = timer{rank: rankDriver, id: d.id, owner: call(func() { d.request = 0; d.send() })}
	d.head = timer{rank: rankDriver, id: d.id, owner: call(d.begin)}
	d.settled = timer{rank: rankDriver, id: d.id, owner: call(func() { d.offerAll(); d.tellChanges() })}
	d.end = timer{rank: rankDriver, id: d.id, owner: call(d.finish)}
	d.leave = timer{rank: rankDriver, id: d.id, owner: call(func() { d.exit(api.Event{Type: api.EventExit, Clean: true}) })}
	d.m = &w.agents[(n-1)%len(w.agents)].m
	w.drivers = append(w.drivers, d)
	w.byURL[d.url()] = d
	d.link = w.net.link()
	return d
}

func (d *Driver) url() string { return "spark://" + d.submission }

// Result is what the planner knows of the application in the end; nil if it was
// refused or never heard of.
func (d *Driver) Result() *api.AppDetail { return d.result }

// Refused is the planner's refusal, nil if there was none.
func (d *Driver) Refused() error { return d.refused }

func (d *Driver) elapsed() units.Seconds { return units.Seconds(seconds(d.began, d.w.now)) }

// start is the moment of submission.
func (d *Driver) start() {
	d.began = d.w.now
	d.work()
	d.register()
}

// register asks until it is answered.
func (d *Driver) register() {
	r := api.RegisterRequest{V: api.Version, Submission: d.submission, Name: d.app.Name, Profile: d.app.Profile, SparkVersion: "4.3.0",
		Deadline: d.app.Deadline, Elapsed: d.elapsed(), Mode: d.app.Mode, AppID: d.reply.AppID,
		Launch: api.Launch{DriverURL: d.url(), SparkVersion: "4.3.0", Heap: units.GiB}}
	d.ask(func(no uint64) {
		d.link.request(func(reply func(any)) { d.w.control.register(r, reply) }, func(body any) { d.answered(no, body) })
	})
}

// ask sends a request and waits for its answer for a while.
func (d *Driver) ask(send func(no uint64)) {
	d.requests++
	d.request = d.requests
	d.w.queue.set(&d.wait, d.w.now.Add(patience))
	send(d.request)
}

// answered takes the reply to request no; those that come late are taken as far as
// they still say something.
func (d *Driver) answered(no uint64, body any) {
	if no == d.request {
		d.request = 0
		d.w.queue.cancel(&d.wait)
	}
	switch r := body.(type) {
	case api.RegisterReply:
		d.accepted(r)
	case api.EventsReply:
		d.acknowledged(r)
	}
}

func (d *Driver) accepted(r api.RegisterReply) {
	switch {
	case d.refused != nil:
	case r.Error != nil && api.KindOf(r.Error) == api.KindTransient:
		d.w.queue.set(&d.wait, d.w.now.Add(again))
	case r.Error != nil && !d.registered:
		d.refused = r.Error
		d.exited = true
		d.work()
		d.w.queue.cancel(&d.wait)
		d.w.said("driver", d.app.Name, "refused: "+r.Error.Error())
		d.w.over(d)
	case r.Error != nil:
		d.w.said("driver", d.app.Name, "registration: "+r.Error.Error())
	default:
		d.reply = r
		if !d.registered {
			d.registered = true
			d.w.queue.set(&d.beat, d.w.now.Add(heartbeat))
		}
		d.obey(r.Directive)
		d.send()
	}
}

func (d *Driver) acknowledged(r api.EventsReply) {
	if r.Error != nil {
		switch {
		case api.KindOf(r.Error) == api.KindNotFound && d.request == 0 && !d.heard:
			d.w.said("driver", d.app.Name, "registers again: "+r.Error.Error())
			d.directive.Epoch = 0
			d.register()
		}
		return
	}
	d.events = slices.DeleteFunc(d.events, func(e api.Event) bool { return e.Seq <= r.AckedSeq })
	d.obey(r.Directive)
	switch {
	case d.exited && len(d.events) == 0 && !d.heard:
		d.heard = true
		d.w.queue.cancel(&d.beat)
		d.w.heardEnd(d)
	case len(d.events) > 0:
		d.send()
	}
}

// talk is the heartbeat.
func (d *Driver) talk() {
	if d.heard {
		return
	}
	d.w.queue.set(&d.beat, d.w.now.Add(heartbeat))
	d.send()
}

// send says what the planner does not know yet, one request at a time.
func (d *Driver) send() {
	if d.request != 0 || d.heard {
		return
	}
	if !d.registered {
		if d.refused == nil {
			d.register()
		}
		return
	}
	batch := api.Events{V: api.Version, AppID: d.reply.AppID, Submission: d.submission, Events: slices.Clone(d.events)}
	d.ask(func(no uint64) {
		d.link.request(func(reply func(any)) { d.w.control.events(batch, reply) }, func(body any) { d.answered(no, body) })
	})
}

// say queues an event.
func (d *Driver) say(e api.Event) {
	d.seq++
	e.Seq, e.At = d.seq, d.elapsed()
	d.events = append(d.events, e)
	d.send()
}

// obey takes a directive unless it is older than the one in force.
func (d *Driver) obey(n api.Directive) {
	if n.Epoch < d.directive.Epoch || d.ended || (n.Epoch == d.directive.Epoch && n.Epoch > 0) {
		return
	}
	was := d.directive.Gated
	d.directive = n
	if n.Dead != "" {
		d.abort(n.Dead)
		return
	}
	if d.started && was != n.Gated {
		for _, r := range d.running() {
			r.bound = nil
			r.changed = true
		}
	}
	d.settle()
	for i := range n.Shares {
		for _, r := range d.running() {
			if r.key == n.Shares[i].StageKey {
				r.handOver(&n.Shares[i])
			}
		}
	}
	d.vacate()
	d.offerAll()
	d.tellChanges()
	d.maybeStart()
}

// up registers an executor.
func (d *Driver) up(p *process) {
	if d.ended {
		return
	}
	d.executors = append(d.executors, p)
	slices.SortFunc(d.executors, func(a, b *process) int { return a.key.Compare(b.key) })
	d.say(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: p.key.ID}})
	d.settle()
	d.offerAll()
	d.tellChanges()
	d.maybeStart()
}

// lost is when the driver notices that an executor is gone.
func (d *Driver) lost(p *process) {
	if d.ended || !slices.Contains(d.executors, p) {
		return
	}
	d.executors = slices.DeleteFunc(d.executors, func(q *process) bool { return q == p })
	d.say(api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: p.key.ID, Reason: "connection lost"}})
	for _, t := range slices.Concat(p.computing, p.waiting) {
		t.run.returned(t)
	}
	for _, r := range d.running() {
		r.unbind(p)
	}
	if p.forgets {
		d.repeat(p)
	}
	for _, r := range d.running() {
		r.divide(d.capacity)
	}
	d.settle()
	d.offerAll()
	d.tellChanges()
}

// maybeStart begins with the first job once the executors are there.
func (d *Driver) maybeStart() {
	if d.started || d.ended || !d.registered || len(d.executors) < min(d.reply.Executors, max(1, len(d.directive.Executors))) || d.head.set() {
		return
	}
	d.w.queue.set(&d.head, max(d.w.now, d.began.Add(d.app.Head.Duration())))
}

func (d *Driver) begin() {
	d.started = true
	d.advance()
}

// advance starts the gaps of stages whose parents and earlier jobs are done.
func (d *Driver) advance() {
	for _, r := range d.stages {
		if !r.gapSet && d.submittable(r) {
			r.gapSet = true
			d.w.queue.set(&r.gap, d.w.now.Add(r.spec.Gap.Duration()))
		}
	}
	d.work()
	if d.left == 0 {
		d.w.queue.set(&d.end, d.w.now.Add(d.app.Tail.Duration()))
	}
}

func (d *Driver) submittable(r *stageRun) bool {
	for _, parent := range r.spec.Parents {
		if !d.stages[parent].done {
			return false
		}
	}
	for _, o := range d.stages {
		if o.spec.Job < r.spec.Job && !o.done {
			return false
		}
	}
	return true
}

// running are the stages that are ready and not done, in order of job and id.
func (d *Driver) running() []*stageRun {
	var out []*stageRun
	for _, r := range d.stages {
		if r.ready && !r.done {
			out = append(out, r)
		}
	}
	return out
}

func (d *Driver) stageReady(r *stageRun) {
	r.ready = true
	if r.base == r {
		r.setFixedPart(d.reply.FixedPart[r.name()])
	}
	d.work()
	d.settle()
	r.changed = false
	parents := r.spec.Parents
	if parents == nil {
		parents = []int{}
	}
	d.say(api.Event{Type: api.EventStageReady, Stage: &api.StageReady{StageKey: r.key, Job: r.spec.Job, Name: r.name(), Signature: r.name(),
		Parents: parents, Tasks: r.spec.Tasks, Records: r.spec.Records, Bytes: api.Unknown, Weighted: r.weights != nil, Bindings: r.bindings()}})
	d.offerAll()
	d.tellChanges()
}

func (r *stageRun) name() string {
	if r.spec.Name != "" {
		return r.spec.Name
	}
	return fmt.Sprintf("stage %d", r.key.Stage)
}

func (d *Driver) stageDone(r *stageRun) {
	r.done, r.bound, r.changed = true, nil, false
	d.left--
	d.whole(r)
	d.say(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: r.key, Tasks: r.spec.Tasks, RecordsRead: r.spec.Records,
		RecordsWritten: r.spec.Written, TaskCPU: units.Seconds(r.cpu), TaskTime: units.Seconds(r.cpu), LongestTask: units.Seconds(r.longest),
		FirstLaunch: r.first, LastFinish: r.last, FixedPart: r.fixedPart()}})
	d.advance()
	d.settle()
	d.offerAll()
	d.tellChanges()
}

func (d *Driver) finish() {
	d.ended = true
	d.duration = d.elapsed()
	d.say(api.Event{Type: api.EventEnd})
	d.work()
	wait := float64(d.app.Exit) * around(random(d.w.cfg.Seed, "exit "+d.submission), exitSpread)
	d.w.queue.set(&d.leave, after(d.w.now, wait))
}

// exitSpread is the standard deviation of the logarithm of a driver's time to exit.
const exitSpread = 0.2

// exit is the end of the driver's process, whose last word this is.
func (d *Driver) exit(word api.Event) {
	d.exited = true
	d.work()
	d.say(word)
}

// work has the driver take its cores while it works itself: until its first stage,
// while a stage is made and none runs, and from its last one to its exit.
func (d *Driver) work() {
	works := !d.exited && len(d.running()) == 0
	if d.app.Driver == 0 || works == d.works {
		return
	}
	d.works = works
	cores := float64(d.app.Driver)
	if !works {
		cores = -cores
	}
	d.m.drive(d.w.now, cores)
}

// abort ends the application because no executor is left, as a standalone master
// would.
func (d *Driver) abort(why string) {
	for _, t := range []*timer{&d.head, &d.end, &d.settled} {
		d.w.queue.cancel(t)
	}
	for _, r := range d.stages {
		d.w.queue.cancel(&r.gap)
	}
	d.ended = true
	d.duration = d.elapsed()
	d.say(api.Event{Type: api.EventEnd, Failed: true, Reason: why})
	d.exit(api.Event{Type: api.EventExit, Failed: true, Reason: why})
}

func (d *Driver) tellChanges() {
	for _, r := range d.running() {
		if r.changed {
			r.changed = false
			d.say(api.Event{Type: api.EventStageBound, Bound: &api.StageBound{StageKey: r.key, Bindings: r.bindings()}})
		}
	}
}
