package sim

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Driver stands for an application's driver with the jar: one of the plant's, which speaks
// the messages of package api.
type Driver struct {
	spark *plant.Driver // Its scheduler.
	w     *World
	link  des.Link

	// heard says that the conversation is over.
	heard     bool
	refused   error
	reply     api.RegisterReply
	verdict   api.Verdict // Of the first reply.
	directive api.Directive
	talk      *driver.Conversation
	turn      des.Timer // When the conversation goes on by itself.
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
	// unlucky says that it was refused while a node gave less memory than it does in the end, or as there were fewer
	// than it asks for, or by the policy that turns down who cannot be in time.
	unlucky bool
	// result is what the planner last said about it, why where its time went by that; took is what its
	// deadline clock showed when it was last at work.
	result *api.AppDetail
	why    *api.Why
	took   units.Seconds
}

func (w *World) newDriver(a plant.App) *Driver {
	n := len(w.drivers) + 1
	d := &Driver{w: w, talk: driver.NewConversation()}
	d.spark = w.plant.NewDriver(a, uint64(n), &w.agents[(n-1)%len(w.agents)].m, d.say)
	d.turn = des.NewTimer(rankDriver, d.spark.ID, des.Call(func() { d.watch(); d.goOn() }))
	w.drivers = append(w.drivers, d)
	w.byURL[d.url()] = d
	d.link = w.net.Link()
	return d
}

// driver is the one whose executor p is.
func (w *World) driver(p *plant.Process) *Driver { return w.drivers[p.Driver.ID-1] }

func (d *Driver) url() string { return "spark://" + d.spark.Submission }

// Result is what the planner knows of the application in the end; nil if it was
// refused or never heard of.
func (d *Driver) Result() *api.AppDetail { return d.result }

// Refused is the planner's refusal, nil if there was none.
func (d *Driver) Refused() error { return d.refused }

// start is the moment of submission.
func (d *Driver) start() {
	d.spark.Start()
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
		d.heardEnd()
	}
}

// watch opens stages that get nothing to run.
func (d *Driver) watch() {
	for _, key := range d.spark.Watch() {
		d.w.history.said("driver", d.spark.App.Name,
			fmt.Sprintf("stage %d had executors and nothing running: any executor may run it", key.Stage))
	}
}

func (d *Driver) send(r driver.Request) {
	if !r.Register {
		batch := api.Events{V: api.Version, AppID: r.AppID, Submission: d.spark.Submission, Planner: r.Planner,
			Events: r.Events}
		d.ask(r.No, func(c *control, reply func(any)) { c.events(batch, reply) })
		return
	}
	launch := api.Launch{DriverURL: d.url(), SparkVersion: "4.3.0", TaskCPUs: d.spark.App.TaskCPUs,
		Cores: d.spark.App.ExecutorCores, Certainty: d.w.cfg.Certainty}
	d.spark.App.Memory.Declare(&launch)
	if !launch.OffHeapFixed {
		launch.OffHeap = d.reply.OffHeap // Its executors are started with that.
	}
	if t := d.spark.App.Attach; t != nil {
		launch.Attach = &api.Attach{Manager: api.ManagerYARN, App: "application_1", Least: t.Least, Most: t.Most}
	}
	registration := api.RegisterRequest{V: api.Version, Submission: d.spark.Submission, Name: d.spark.App.Name,
		Profile: d.spark.App.Profile, Deadline: d.spark.App.Deadline, Elapsed: d.spark.Elapsed(),
		RequireFeasible: d.spark.App.RequireFeasible, Mode: d.spark.App.Mode, Class: d.spark.App.Class,
		AppID: r.AppID, Planner: r.Planner, Executors: d.spark.Seen,
		Launch: launch}
	if d.spark.App.Nodes != (api.NodeRange{}) {
		registration.Nodes = &d.spark.App.Nodes
	}
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
			d.reply, d.planner, d.verdict = r, from, cmp.Or(d.verdict, r.Verdict)
			if d.talk.Registered() {
				d.spark.Registered(&r)
			}
		}
		if out.Fault != nil && d.talk.Closed() {
			if d.reply.AppID == "" || d.late(out.Fault) { // Such a one waits.
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
		d.w.history.said("driver", d.spark.App.Name, "the planner says: "+out.Fault.Error())
	}
	if out.Forgot {
		d.spark.Bindings.ForgetEpoch()
	}
	if out.Directive != nil {
		d.follow(out.Directive)
	}
	if out.Forgot {
		d.talk.Recall(d.w.clock.Now(), d.spark.Truth())
	}
	d.goOn()
}

// refuse is the end of an application that the planner does not take.
func (d *Driver) refuse(why error) {
	d.refused = why
	d.unlucky = api.KindOf(why) == api.KindInvalid && (givesLess(d.w.agents) || d.spark.App.Nodes.Least > 1) ||
		d.late(why)
	d.spark.Leave()
	d.w.clock.Cancel(&d.turn)
	d.w.history.said("driver", d.spark.App.Name, "refused: "+why.Error())
	d.w.pending--
}

// late reports whether that is the refusal of a deadline that cannot be kept, as the operator wants it.
func (d *Driver) late(why error) bool {
	return api.KindOf(why) == api.KindInfeasible && d.w.cfg.Planner.Queue.Late == assign.Refuse
}

// cut is the end of an application that the planner does not know any more, and will not
// take again. One whose context has stopped exits by itself.
func (d *Driver) cut(why error) {
	d.w.history.said("driver", d.spark.App.Name, "ended by its planner: "+why.Error())
	if !d.spark.Stopped {
		d.w.check.turnedAway(d, why)
		d.spark.Stop()
		d.queued(false)
		d.spark.Leave()
	}
	d.goOn()
}

// say queues an event.
func (d *Driver) say(e api.Event) {
	d.took = d.spark.Elapsed()
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
	if d.spark.Stopped {
		return
	}
	d.directive = *n
	d.queued(n.Queued != nil && n.Dead == "")
	if n.Dead != "" {
		d.w.check.aborted(d, n.Dead)
		d.queued(false)
		d.spark.Abort(n.Dead)
		return
	}
	d.spark.Follow(&d.directive)
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

// lastWords is how long after an application's end its figures are complete.
const lastWords = 3 * time.Second

// heardEnd is when the planner has heard that an application has ended. Its
// executors are stopped by then or exit with their driver.
func (d *Driver) heardEnd() {
	w := d.w
	w.clock.After(time.Second, rankDriver, d.spark.ID, func() {
		for _, a := range w.agents {
			for _, p := range a.m.Processes() {
				if p.Driver == d.spark {
					p.Kill("the driver ended", 0)
				}
			}
		}
	})
	w.clock.After(lastWords, rankDriver, d.spark.ID, d.conclude)
}

// conclude asks the planner for an application's figures, until it is there.
func (d *Driver) conclude() {
	w := d.w
	if w.control.engine == nil {
		w.clock.After(time.Second, rankDriver, d.spark.ID, d.conclude)
		return
	}
	if r, ok := w.control.query(api.VerbApp, api.ControlRequest{App: d.reply.AppID}); ok {
		d.result = r.App
		d.account()
	} else {
		d.forgotten = d.planner != w.control.name
	}
	w.pending--
}
