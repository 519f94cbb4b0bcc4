package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/driver"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Chain is an application of one stage after the other, work core-seconds each.
func Chain(name string, stages int, work units.Work) plant.App {
	a := plant.App{Name: name, Head: 0.5, Tail: 0.2}
	for i := range stages {
		s := plant.Stage{Tasks: 40, Work: work, Records: 100_000, Written: 100_000}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		a.Stages = append(a.Stages, s)
	}
	return a
}

// Fork is an application with two branches side by side and a join.
func Fork(name string, work units.Work) plant.App {
	a := Chain(name, 3, work)
	a.Stages[1].Parents, a.Stages[2].Parents = nil, []int{0, 1}
	return a
}

// secretVariable is where an executor finds its application's secret, as Spark's does.
const secretVariable = "_SPARK_AUTH_SECRET"

// Driver is a driver of the plant that speaks the real protocol.
type Driver struct {
	env *Env
	// secret is what its executors are to be started with.
	secret  string
	link    link
	cancel  context.CancelFunc
	talking sync.WaitGroup
	over    chan struct{}
	wake    chan struct{}

	// What follows is guarded by the world's lock.
	spark   *plant.Driver
	talk    *driver.Conversation
	reply   api.RegisterReply
	refused error
	gated   bool
}

// Submit starts a driver and returns when it is registered or refused.
func (e *Env) Submit(a plant.App) *Driver {
	e.T.Helper()
	e.submissions++
	d := &Driver{env: e, secret: rand.Text(), over: make(chan struct{}), talk: driver.NewConversation(),
		wake: make(chan struct{}, 1)}
	e.move(func() {
		d.spark = e.plant.NewDriver(a, uint64(e.submissions), nil, d.say)
		d.spark.Start()
	})
	e.mu.Lock()
	e.mu.byURL[d.url()] = d
	e.mu.Unlock()
	d.link = newLink(d)
	if err := d.link.asUser(); err != nil {
		e.T.Fatal(err)
	}
	registration, _ := d.talk.Next(e.now())
	if d.send(context.Background(), registration); !d.talk.Registered() {
		d.link.close()
		close(d.over)
		return d
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.talking.Go(func() { d.converse(ctx) })
	e.move(func() { e.drivers = append(e.drivers, d) })
	return d
}

func (d *Driver) url() string { return "spark://" + d.spark.Submission }

func (d *Driver) nudge() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *Driver) reconnected() {
	d.env.move(func() {
		d.talk.Reconnected()
		d.nudge()
	})
}

// converse sends what there is to say until the driver is over or killed.
func (d *Driver) converse(ctx context.Context) {
	for {
		var r driver.Request
		var ok, closed bool
		var wake units.Instant
		d.env.move(func() {
			r, ok = d.talk.Next(d.env.now())
			wake, closed = d.talk.Wake(), d.talk.Closed()
		})
		switch {
		case closed:
			close(d.over)
			return
		case ok:
			d.send(ctx, r)
			continue
		}
		timer := time.NewTimer(wake.Sub(d.env.now()))
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
		d.env.move(func() { d.talk.Failed(d.env.now(), r.No) })
		return
	}
	if r.Register {
		d.register(ctx, r)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, driver.Patience)
	defer cancel()
	reply, err := d.link.conn.SendEvents(ctx, api.Events{V: api.Version, AppID: r.AppID,
		Submission: d.spark.Submission, Events: r.Events})
	d.env.move(func() {
		switch {
		case api.KindOf(err) == api.KindNotFound:
			reply.Error = api.Errorf(api.KindNotFound, "%v", err)
		case err != nil:
			d.talk.Failed(d.env.now(), r.No)
			return
		}
		d.perform(d.talk.Answer(d.env.now(), r.No, &reply))
	})
}

func (d *Driver) register(ctx context.Context, r driver.Request) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	a := &d.spark.App
	reply, err := d.link.conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: d.spark.Submission,
		Key: d.link.secret.Key(), Name: a.Name, Profile: a.Profile,
		RequireFeasible: a.RequireFeasible, Mode: a.Mode, AppID: r.AppID,
		Deadline: a.Deadline, Elapsed: units.Seconds(des.Seconds(d.spark.Began, d.env.now())),
		Launch: api.Launch{DriverURL: d.url(), SparkVersion: "4.2.0", Heap: units.GiB,
			Env: map[string]string{secretVariable: d.secret}}})
	d.env.move(func() { d.registered(r, reply, err) })
}

// registered takes what has come of a registration. The world's lock is held, as for perform,
// follow and say.
func (d *Driver) registered(r driver.Request, reply api.RegisterReply, err error) {
	now := d.env.now()
	var refusal *api.Error
	switch {
	case err != nil && d.talk.Registered() && errors.As(err, &refusal):
		if d.talk.Accept(now, r.No, &api.RegisterReply{Error: refusal}).Leave {
			d.link.leave()
		}
		return
	case err != nil:
		d.talk.Failed(now, r.No)
		if !d.talk.Registered() {
			d.refused = err
		}
		return
	}
	out := d.talk.Accept(now, r.No, &reply)
	d.reply = reply
	d.spark.Registered(&reply)
	if err := d.link.become(reply.AppID); err != nil {
		d.env.T.Error(err)
	}
	d.perform(out)
}

// hear takes a directive that was published.
func (d *Driver) hear(n api.Directive) {
	d.env.move(func() {
		if d.talk.Heard(&n) {
			d.follow(&n)
		}
	})
}

// perform does what an answer asks for.
func (d *Driver) perform(out driver.Outcome) {
	if out.Forgot {
		d.spark.Bindings.ForgetEpoch()
	}
	if out.Directive != nil {
		d.follow(out.Directive)
	}
	if out.Forgot {
		d.talk.Recall(d.env.now(), d.spark.Truth())
	}
}

func (d *Driver) follow(n *api.Directive) {
	d.gated = n.Gated
	if n.Dead != "" && !d.spark.Stopped {
		d.spark.Abort(n.Dead)
		return
	}
	d.spark.Follow(n)
}

// say queues an event.
func (d *Driver) say(e api.Event) {
	d.talk.Say(d.env.now(), e)
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
	return d.gated
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
		d.env.T.Fatalf("application %s did not end within an hour", d.spark.App.Name)
	}
	d.env.Pass(3 * time.Second)
	d.Kill()
	return d.env.App(d.ID())
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
	delete(e.mu.byURL, d.url())
	e.mu.Unlock()
	e.move(func() {
		d.quit(0)
		e.drivers = slices.DeleteFunc(e.drivers, func(other *Driver) bool { return other == d })
	})
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
	d.env.move(func() { d.quit(1) })
}

// quit ends it with its executors, which exit with that status.
func (d *Driver) quit(code int) {
	if !d.spark.Stopped {
		d.spark.Stop()
	}
	d.spark.Leave()
	for _, m := range d.env.machines {
		for _, p := range m.executors {
			if p.jvm.Driver == d.spark {
				p.node.Runtime.Exit(p.handle, code)
			}
		}
	}
}
