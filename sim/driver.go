package sim

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// Driver stands for an application's driver with the jar: it registers, submits
// stages when what they wait for is done, starts their tasks where driver.Bindings
// admits them, and speaks the messages of package api.
type Driver struct {
	w          *World
	app        App
	id         uint64
	submission string
	pace       float64
	bend       float64 // Plant.Bend for its executors.
	link       des.Link
	began      units.Instant

	// ended says that its context has stopped, exited that its process has, heard that
	// the conversation is over.
	started, ended, exited, heard bool
	refused                       error
	reply                         api.RegisterReply
	directive                     api.Directive
	talk                          *driver.Conversation
	bindings                      driver.Bindings
	executors                     []*process // Registered ones, in order of id.
	stages                        []*stageRun
	left                          int

	turn  des.Timer // When the conversation goes on by itself.
	head  des.Timer
	end   des.Timer
	leave des.Timer // After its context's stop.
	// planner is the store of the planner that took it last, or closed the conversation;
	// forgotten says that this store is lost, with what there was to say of it. killed is
	// when its executors were killed.
	planner   string
	forgotten bool
	killed    []units.Instant
	// waits is since when it is queued, 0 while it is not, waited how long it was; unwanted
	// says that its user ended it.
	waits    units.Instant
	waited   units.Seconds
	unwanted bool
	// unlucky says that it was refused while a node gave less memory than it does in the end.
	unlucky  bool
	seen     int // The greatest number of an executor that has registered.
	m        *machine
	works    bool          // It takes cores of m.
	settled  des.Timer     // Tells changes that were made in passing.
	duration units.Seconds // Until its context's stop.
	// result is what the planner last said about it.
	result *api.AppDetail
}

func (w *World) newDriver(a App) *Driver {
	n := len(w.drivers) + 1
	d := &Driver{w: w, app: a, id: uint64(n), submission: fmt.Sprintf("%s-%d", a.Name, n), pace: 1, bend: w.cfg.Plant.Bend,
		talk: driver.NewConversation()}
	if a.Pace > 0 {
		d.pace = a.Pace
	}
	d.pace *= w.cfg.Plant.runFactor(des.Random(w.cfg.Seed, "run "+d.submission))
	for i := range a.Stages {
		d.stages = append(d.stages, newStageRun(d, i, &d.app.Stages[i]))
	}
	d.left = len(d.stages)
	d.turn = des.NewTimer(rankDriver, d.id, des.Call(func() { d.watch(); d.goOn() }))
	d.head = des.NewTimer(rankDriver, d.id, des.Call(d.begin))
	d.settled = des.NewTimer(rankDriver, d.id, des.Call(func() { d.offerAll(); d.tellChanges() }))
	d.end = des.NewTimer(rankDriver, d.id, des.Call(d.finish))
	d.leave = des.NewTimer(rankDriver, d.id, des.Call(func() { d.exit(api.Event{Type: api.EventExit, Clean: true}) }))
	d.m = &w.agents[(n-1)%len(w.agents)].m
	w.drivers = append(w.drivers, d)
	w.byURL[d.url()] = d
	d.link = w.net.Link()
	return d
}

func (d *Driver) url() string { return "spark://" + d.submission }

// Result is what the planner knows of the application in the end; nil if it was
// refused or never heard of.
func (d *Driver) Result() *api.AppDetail { return d.result }

// Refused is the planner's refusal, nil if there was none.
func (d *Driver) Refused() error { return d.refused }

func (d *Driver) elapsed() units.Seconds { return units.Seconds(des.Seconds(d.began, d.w.clock.Now())) }

// start is the moment of submission.
func (d *Driver) start() {
	d.began = d.w.clock.Now()
	d.work()
	d.goOn()
}

// goOn sends what there is to say, and comes back when there may be more.
func (d *Driver) goOn() {
	if r, ok := d.talk.Next(d.w.clock.Now()); ok {
		d.send(r)
	}
	switch at := d.talk.Wake(); {
	case at != driver.Never:
		d.w.clock.Set(&d.turn, at)
	default:
		d.w.clock.Cancel(&d.turn)
	}
	if d.talk.Closed() && d.refused == nil && !d.heard {
		d.heard = true
		d.w.heardEnd(d)
	}
}

// watch opens stages that get nothing to run.
func (d *Driver) watch() {
	opened := d.bindings.Watch(d.w.clock.Now())
	for _, key := range opened {
		d.w.said("driver", d.app.Name, fmt.Sprintf("stage %d had executors and nothing running: any executor may run it", key.Stage))
	}
	if len(opened) > 0 {
		d.offerAll()
	}
}

func (d *Driver) send(r driver.Request) {
	if !r.Register {
		batch := api.Events{V: api.Version, AppID: r.AppID, Submission: d.submission, Planner: r.Planner, Events: r.Events}
		d.ask(r.No, func(c *control, reply func(any)) { c.events(batch, reply) })
		return
	}
	launch := api.Launch{DriverURL: d.url(), SparkVersion: "4.3.0", TaskCPUs: d.app.TaskCPUs}
	d.app.Memory.declare(&launch)
	if !launch.OffHeapFixed {
		launch.OffHeap = d.reply.OffHeap // Its executors are started with that.
	}
	registration := api.RegisterRequest{V: api.Version, Submission: d.submission, Name: d.app.Name, Profile: d.app.Profile, SparkVersion: "4.3.0",
		Deadline: d.app.Deadline, Elapsed: d.elapsed(), Mode: d.app.Mode, Class: d.app.Class, AppID: r.AppID, Planner: r.Planner, Executors: d.seen,
		Launch: launch}
	d.ask(r.No, func(c *control, reply func(any)) { c.register(registration, reply) })
}

// ask sends request no to whoever serves.
func (d *Driver) ask(no uint64, serve func(c *control, reply func(any))) {
	type answer struct {
		from string
		body any
	}
	d.link.Request(func(reply func(any)) {
		d.w.planners(func(c *control) { serve(c, func(body any) { reply(answer{c.name, body}) }) })
	}, func(body any) {
		if a, ok := body.(answer); ok {
			d.answered(no, a.from, a.body)
		}
	})
}

// answered takes the reply to request no of the planner with that store.
func (d *Driver) answered(no uint64, from string, body any) {
	if d.talk.Closed() {
		return
	}
	var out driver.Outcome
	switch r := body.(type) {
	case api.RegisterReply:
		if out = d.talk.Accept(d.w.clock.Now(), no, &r); out.Fault == nil {
			d.reply, d.planner = r, from
		}
		if out.Fault != nil && d.talk.Closed() {
			if d.reply.AppID == "" {
				d.refuse(out.Fault)
			} else {
				d.cut(out.Fault)
			}
			return
		}
	case api.EventsReply:
		if out = d.talk.Answer(d.w.clock.Now(), no, &r); d.talk.Closed() && r.Error == nil {
			d.planner = from
		}
	}
	if out.Fault != nil {
		d.w.said("driver", d.app.Name, "the planner says: "+out.Fault.Error())
	}
	if out.Forgot {
		d.bindings.ForgetEpoch()
	}
	if out.Directive != nil {
		d.follow(out.Directive)
	}
	if out.Forgot {
		d.talk.Recall(d.w.clock.Now(), d.truth())
	}
	d.goOn()
}

// refuse is the end of an application that the planner does not take.
func (d *Driver) refuse(why error) {
	d.refused, d.unlucky = why, api.KindOf(why) == api.KindInvalid && d.w.givesLess()
	d.exited = true
	d.work()
	d.w.clock.Cancel(&d.turn)
	d.w.said("driver", d.app.Name, "refused: "+why.Error())
	d.w.over(d)
}

// cut is the end of an application that the planner does not know any more, and will not
// take again. One whose context has stopped exits by itself.
func (d *Driver) cut(why error) {
	d.w.said("driver", d.app.Name, "ended by its planner: "+why.Error())
	if !d.ended {
		d.w.check.turnedAway(d, why)
		d.stop()
		d.exited = true
		d.work()
	}
	d.goOn()
}

// truth is what a planner that has forgotten everything has to be told.
func (d *Driver) truth() []api.Event {
	var out []api.Event
	for _, p := range d.executors {
		out = append(out, api.Event{At: d.elapsed(), Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: p.key.ID}})
	}
	for _, r := range d.running() {
		out = append(out, api.Event{At: d.elapsed(), Type: api.EventStageReady, Stage: r.told(d.bindings.Current(r.key))})
	}
	return out
}

// say queues an event.
func (d *Driver) say(e api.Event) {
	e.At = d.elapsed()
	d.talk.Say(d.w.clock.Now(), e)
	d.goOn()
}

// hear takes a directive that was published.
func (d *Driver) hear(n *api.Directive) {
	if d.talk.Heard(n) {
		d.follow(n)
	}
}

// follow takes a directive that is newer than the one in force.
func (d *Driver) follow(n *api.Directive) {
	if d.ended {
		return
	}
	d.directive = *n
	d.queued(n.Queued != nil && n.Dead == "")
	if n.Dead != "" {
		d.abort(n.Dead)
		return
	}
	d.bindings.Follow(&d.directive)
	d.decommission()
	d.offerAll()
	d.tellChanges()
	d.maybeStart()
}

// queued notes whether it waits in the queue.
func (d *Driver) queued(waits bool) {
	switch {
	case waits && d.waits == 0:
		d.waits = d.w.clock.Now()
	case !waits && d.waits > 0:
		d.waited += units.Seconds(des.Seconds(d.waits, d.w.clock.Now()))
		d.waits = 0
	}
}

// up registers an executor.
func (d *Driver) up(p *process) {
	if d.ended {
		return
	}
	if slices.ContainsFunc(d.executors, func(q *process) bool { return q.key.ID == p.key.ID }) {
		// Spark takes no second one of an id, and that ends itself.
		p.kill(d.w.clock.Now(), "exit status 1", 1)
		return
	}
	number, _ := strconv.Atoi(string(p.key.ID))
	d.seen = max(d.seen, number)
	d.executors = append(d.executors, p)
	slices.SortFunc(d.executors, func(a, b *process) int { return a.key.Compare(b.key) })
	d.bindings.ExecutorUp(p.key.ID, p.m.name)
	d.say(api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: p.key.ID}})
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
	d.bindings.ExecutorGone(p.key.ID)
	d.say(api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: p.key.ID, Reason: "connection lost"}})
	for _, t := range slices.Concat(p.computing, p.waiting) {
		d.bindings.Ended(t.run.key, p.key.ID)
		t.run.returned(t.index)
	}
	if p.forgets {
		d.repeat(p)
	}
	d.offerAll()
	d.tellChanges()
}

// maybeStart begins with the first job once the executors are there.
func (d *Driver) maybeStart() {
	if d.started || d.ended || !d.talk.Registered() || d.directive.Queued != nil || d.head.IsSet() {
		return
	}
	wanted := max(1, len(d.directive.Executors))
	if d.reply.Executors > 0 { // Of one that was queued it is 0 until it has registered again.
		wanted = min(wanted, d.reply.Executors)
	}
	if len(d.executors) < wanted {
		return
	}
	d.w.clock.Set(&d.head, max(d.w.clock.Now(), d.began.Add(d.app.Head.Duration())))
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
			d.w.clock.Set(&r.gap, d.w.clock.Now().Add(r.spec.Gap.Duration()))
		}
	}
	d.work()
	if d.left == 0 {
		d.w.clock.Set(&d.end, d.w.clock.Now().Add(d.app.Tail.Duration()))
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
	weights := r.weights
	if weights == nil {
		weights = driver.Alike(r.spec.Tasks)
	}
	bound := d.bindings.Ready(r.key, r.spec.Job, weights, nil, false)
	d.say(api.Event{Type: api.EventStageReady, Stage: r.told(bound)})
	d.offerAll()
	d.tellChanges()
}

// told is what the planner is told of a stage that is bound so.
func (r *stageRun) told(bound []api.Binding) *api.StageReady {
	parents := r.spec.Parents
	if parents == nil {
		parents = []int{}
	}
	return &api.StageReady{StageKey: r.key, Job: r.spec.Job, Name: r.name(), Signature: r.name(), Parents: parents,
		Tasks: r.spec.Tasks, Records: r.spec.Records, Bytes: api.Unknown, Weighted: r.weights != nil, Bindings: bound}
}

func (r *stageRun) name() string {
	if r.spec.Name != "" {
		return r.spec.Name
	}
	return fmt.Sprintf("stage %d", r.key.Stage)
}

func (d *Driver) stageDone(r *stageRun) {
	r.done = true
	d.bindings.Done(r.key)
	d.left--
	d.whole(r)
	d.say(api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: r.key, Tasks: r.spec.Tasks, RecordsRead: r.spec.Records,
		RecordsWritten: r.spec.Written, TaskCPU: units.Seconds(r.cpu), TaskTime: units.Seconds(r.cpu), LongestTask: units.Seconds(r.longest),
		FirstLaunch: r.first, LastFinish: r.last, FixedPart: r.fixedPart(), TaskCost: r.taskCost()}})
	d.advance()
	d.offerAll()
	d.tellChanges()
}

func (d *Driver) finish() {
	d.ended = true
	d.duration = d.elapsed()
	d.say(api.Event{Type: api.EventEnd})
	d.work()
	wait := float64(d.app.Exit) * des.Around(des.Random(d.w.cfg.Seed, "exit "+d.submission), exitSpread)
	d.w.clock.Set(&d.leave, des.Later(d.w.clock.Now(), wait))
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
	d.m.drive(d.w.clock.Now(), cores)
}

// abort ends the application because no executor is left, as a standalone master
// would.
func (d *Driver) abort(why string) {
	d.w.check.aborted(d, why)
	d.stop()
	d.say(api.Event{Type: api.EventEnd, Failed: true, Reason: why})
	d.exit(api.Event{Type: api.EventExit, Failed: true, Reason: why})
}

// stop ends its context before its work is done.
func (d *Driver) stop() {
	for _, t := range []*des.Timer{&d.head, &d.end, &d.settled} {
		d.w.clock.Cancel(t)
	}
	for _, r := range d.stages {
		d.w.clock.Cancel(&r.gap)
	}
	d.ended = true
	d.duration = d.elapsed()
	d.queued(false)
}

func (d *Driver) tellChanges() {
	for _, changed := range d.bindings.TakeChanges() {
		d.say(api.Event{Type: api.EventStageBound, Bound: &changed})
	}
}
