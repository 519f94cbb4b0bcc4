package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/units"
)

// App describes an application.
type App struct {
	Name     string
	Profile  string
	Deadline units.Seconds
	// RequireFeasible asks for a refusal of an infeasible deadline.
	RequireFeasible bool
	// Mode is spark.pacer.mode, control if it is "".
	Mode api.Mode
	// Head passes before the first stage is ready, Tail after the last one, Exit between
	// the context's stop and the driver's exit.
	Head, Tail, Exit time.Duration
	// Stages are in order of id; ids and parents are those of the slice.
	Stages []Stage
}

// Stage describes a stage.
type Stage struct {
	Job     int
	Parents []int
	Tasks   int
	// Work is what the whole stage takes.
	Work    units.Work
	Records int64
}

// Chain is an application of one stage after the other, work core-seconds each.
func Chain(name string, stages int, work units.Work) App {
	a := App{Name: name, Head: 500 * time.Millisecond, Tail: 200 * time.Millisecond}
	for i := range stages {
		s := Stage{Tasks: 40, Work: work, Records: 100_000}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		a.Stages = append(a.Stages, s)
	}
	return a
}

// Fork is an application with two branches side by side and a join.
func Fork(name string, work units.Work) App {
	a := Chain(name, 3, work)
	a.Stages[1].Parents, a.Stages[2].Parents = nil, []int{0, 1}
	return a
}

// secretVariable is where an executor finds its application's secret, as Spark's does.
const secretVariable = "_SPARK_AUTH_SECRET"

// Driver plays the driver of an application.
type Driver struct {
	env        *Env
	app        App
	submission string
	// secret is what its executors are to be started with.
	secret  string
	began   time.Time
	link    link
	cancel  context.CancelFunc
	talking sync.WaitGroup
	over    chan struct{}

	// What follows is guarded by the world's lock.
	talk      *driver.Conversation
	reply     api.RegisterReply
	refused   error
	directive api.Directive
	bindings  driver.Bindings
	processes map[api.ExecutorID]*process
	stages    []*stageRun
	started   bool // The head has passed.
	idle      time.Time
	stopped   bool // The context has.
	ended     bool
	wake      chan struct{}
}

// stageRun is a stage of a driver.
type stageRun struct {
	driver    *Driver
	key       api.StageKey
	stage     Stage
	waiting   []*task
	remaining int
	first     units.Seconds
	last      units.Seconds
	ready     bool // The planner was told.
	done      bool
}

// Submit starts a driver and returns when it is registered or refused.
func (e *Env) Submit(a App) *Driver {
	e.T.Helper()
	e.submissions++
	d := &Driver{env: e, app: a, submission: fmt.Sprintf("%s-%d", a.Name, e.submissions), secret: rand.Text(), began: time.Now(),
		over: make(chan struct{}), talk: driver.NewConversation(), processes: map[api.ExecutorID]*process{}, wake: make(chan struct{}, 1)}
	for i, s := range a.Stages {
		d.stages = append(d.stages, &stageRun{driver: d, key: api.StageKey{Stage: i}, stage: s, remaining: s.Tasks})
	}
	e.mu.Lock()
	e.mu.byURL["spark://"+d.submission] = d
	e.mu.Unlock()
	d.link = newLink(d)
	if err := d.link.asUser(); err != nil {
		e.T.Fatal(err)
	}
	registration, _ := d.talk.Next(d.now())
	if d.send(context.Background(), registration); !d.talk.Registered() {
		d.link.close()
		close(d.over)
		return d
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.talking.Go(func() { d.converse(ctx) })
	e.world.Lock()
	e.drivers = append(e.drivers, d)
	e.world.Unlock()
	return d
}

func (d *Driver) elapsed() units.Seconds { return units.FromDuration(time.Since(d.began)) }

func (d *Driver) now() units.Instant { return units.Instant(time.Since(d.began)) }

func (d *Driver) nudge() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *Driver) reconnected() {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	d.talk.Reconnected()
	d.nudge()
}

// converse sends what there is to say until the driver is over or killed.
func (d *Driver) converse(ctx context.Context) {
	for {
		d.env.world.Lock()
		r, ok := d.talk.Next(d.now())
		wake, closed := d.talk.Wake(), d.talk.Closed()
		d.env.world.Unlock()
		switch {
		case closed:
			close(d.over)
			return
		case ok:
			d.send(ctx, r)
			continue
		}
		timer := time.NewTimer(wake.Sub(d.now()))
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-d.wake:
		}
		timer.Stop()
	}
}

// send makes a request and takes its answer.
func (d *Driver) send(ctx context.Context, r driver.Request) {
	if !d.link.speaks(r) {
		d.env.world.Lock()
		defer d.env.world.Unlock()
		d.talk.Failed(d.now(), r.No)
		return
	}
	if r.Register {
		d.register(ctx, r)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, driver.Patience)
	defer cancel()
	reply, err := d.link.conn.SendEvents(ctx, api.Events{V: api.Version, AppID: r.AppID, Submission: d.submission, Events: r.Events})
	d.env.world.Lock()
	defer d.env.world.Unlock()
	switch {
	case api.KindOf(err) == api.KindNotFound:
		reply.Error = api.Errorf(api.KindNotFound, "%v", err)
	case err != nil:
		d.talk.Failed(d.now(), r.No)
		return
	}
	d.perform(d.talk.Answer(d.now(), r.No, &reply))
}

func (d *Driver) register(ctx context.Context, r driver.Request) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	reply, err := d.link.conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: d.submission, Key: d.link.secret.Hash(), Name: d.app.Name, Profile: d.app.Profile,
		SparkVersion: "4.2.0", Deadline: d.app.Deadline, Elapsed: d.elapsed(), RequireFeasible: d.app.RequireFeasible, Mode: d.app.Mode, AppID: r.AppID,
		Launch: api.Launch{DriverURL: "spark://" + d.submission, SparkVersion: "4.2.0", Heap: units.GiB, Env: map[string]string{secretVariable: d.secret}}})
	d.env.world.Lock()
	defer d.env.world.Unlock()
	var refusal *api.Error
	switch {
	case err != nil && d.talk.Registered() && errors.As(err, &refusal):
		if d.talk.Accept(d.now(), r.No, &api.RegisterReply{Error: refusal}).Leave {
			d.link.leave()
		}
		return
	case err != nil:
		d.talk.Failed(d.now(), r.No)
		if !d.talk.Registered() {
			d.refused = err
		}
		return
	}
	out := d.talk.Accept(d.now(), r.No, &reply)
	d.reply = reply
	if err := d.link.become(reply.AppID); err != nil {
		d.env.T.Error(err)
	}
	d.perform(out)
}

// hear takes a directive that was published.
func (d *Driver) hear(n api.Directive) {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	if d.talk.Heard(&n) {
		d.follow(&n)
	}
}

// perform does what an answer asks for. The world's lock is held, as for follow and say.
func (d *Driver) perform(out driver.Outcome) {
	if out.Forgot {
		d.bindings.ForgetEpoch()
	}
	if out.Directive != nil {
		d.follow(out.Directive)
	}
	if out.Forgot {
		d.talk.Recall(d.now(), d.truth())
	}
}

func (d *Driver) follow(n *api.Directive) {
	d.directive = *n
	d.bindings.Follow(n)
	d.tellChanges()
}

// say queues an event.
func (d *Driver) say(e api.Event) {
	e.At = d.elapsed()
	d.talk.Say(d.now(), e)
	d.nudge()
}

// Secret is what its executors were started with.
func (d *Driver) Secret() string { return d.secret }

// Refused is the planner's refusal, nil if there was none.
func (d *Driver) Refused() error { return d.refused }

// ID is the application's.
func (d *Driver) ID() api.AppID { return d.Reply().AppID }

// Reply is the answer to the newest registration.
func (d *Driver) Reply() api.RegisterReply {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	return d.reply
}

// Gated says whether the directive in force asks for stage-bound executors.
func (d *Driver) Gated() bool {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	return d.directive.Gated
}

// Wait returns when the application has ended and the planner knows it, at most
// an hour later, and the planner has its last figures.
func (d *Driver) Wait() api.AppDetail {
	d.env.T.Helper()
	limit := time.NewTimer(time.Hour)
	defer limit.Stop()
	select {
	case <-d.over:
	case <-limit.C:
		d.env.T.Fatalf("application %s did not end within an hour", d.app.Name)
	}
	d.env.Pass(3 * time.Second)
	d.Kill()
	return d.env.App(d.ID())
}

// Over reports whether the application has done all of its work, whether the planner
// knows it or not.
func (d *Driver) Over() bool {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	return d.ended
}

// Leave ends a driver that is over and has said its last word, and forgets it. It reports
// whether it could.
func (d *Driver) Leave() bool {
	select {
	case <-d.over:
	default:
		return false
	}
	d.talking.Wait()
	d.link.close()
	e := d.env
	e.mu.Lock()
	delete(e.mu.byURL, "spark://"+d.submission)
	e.mu.Unlock()
	e.world.Lock()
	defer e.world.Unlock()
	for _, p := range d.processes { // They go on as they would without a driver.
		p.driver = nil
		p.node.Runtime.Exit(p.handle, 0)
	}
	e.drivers = slices.DeleteFunc(e.drivers, func(other *Driver) bool { return other == d })
	return true
}

// Kill ends the driver as a crash does: its executors see it go and exit after a
// second.
func (d *Driver) Kill() {
	if d.cancel == nil {
		return
	}
	d.cancel()
	d.talking.Wait()
	d.link.close()
	d.cancel = nil
	d.env.Pass(time.Second)
	d.env.world.Lock()
	defer d.env.world.Unlock()
	d.ended = true
	for _, p := range d.processes {
		p.driver = nil
		p.node.Runtime.Exit(p.handle, 1)
	}
	d.processes = nil
}
