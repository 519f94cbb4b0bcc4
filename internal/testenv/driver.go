package testenv

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/bus"
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

// Driver plays the driver of an application.
type Driver struct {
	env        *Env
	app        App
	submission string
	began      time.Time
	conn       *bus.Conn
	cancel     context.CancelFunc
	talking    sync.WaitGroup
	over       chan struct{}

	// What follows is guarded by the world's lock.
	reply     api.RegisterReply
	refused   error
	directive api.Directive
	processes map[api.ExecutorID]*process
	stages    []*stageRun
	started   bool // The head has passed.
	idle      time.Time
	stopped   bool // The context has.
	ended     bool
	seq       uint64
	events    []api.Event // Not acknowledged yet.
	wake      chan struct{}
}

// stageRun is a stage of a driver: nil bindings until it is ready.
type stageRun struct {
	driver    *Driver
	id        int
	stage     Stage
	bindings  []api.Binding
	remaining int
	shared    uint64 // The newest hand-over that was obeyed.
	first     units.Seconds
	last      units.Seconds
	ready     bool // The planner was told.
	done      bool
}

// Submit starts a driver and returns when it is registered or refused.
func (e *Env) Submit(a App) *Driver {
	e.T.Helper()
	e.submissions++
	d := &Driver{env: e, app: a, submission: fmt.Sprintf("%s-%d", a.Name, e.submissions), began: time.Now(),
		over: make(chan struct{}), processes: map[api.ExecutorID]*process{}, wake: make(chan struct{}, 1)}
	for i, s := range a.Stages {
		d.stages = append(d.stages, &stageRun{driver: d, id: i, stage: s, remaining: s.Tasks})
	}
	e.mu.Lock()
	e.mu.byURL["spark://"+d.submission] = d
	e.mu.Unlock()
	conn, err := e.dial(bus.Options{Role: bus.RoleApplication, Wait: true, OnUp: d.nudge})
	if err != nil {
		e.T.Fatal(err)
	}
	d.conn = conn
	reply, err := d.register(context.Background())
	if err != nil {
		d.refused = err
		conn.Close()
		close(d.over)
		return d
	}
	if err := conn.SubscribeDirective(reply.AppID, d.obey); err != nil {
		e.T.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.talking.Go(func() { d.talk(ctx) })
	e.world.Lock()
	e.drivers = append(e.drivers, d)
	e.world.Unlock()
	return d
}

func (d *Driver) register(ctx context.Context) (api.RegisterReply, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	d.env.world.Lock()
	id := d.reply.AppID
	d.env.world.Unlock()
	reply, err := d.conn.Register(ctx, api.RegisterRequest{V: api.Version, Submission: d.submission, Name: d.app.Name, Profile: d.app.Profile,
		SparkVersion: "4.2.0", Deadline: d.app.Deadline, Elapsed: d.elapsed(), RequireFeasible: d.app.RequireFeasible, Mode: d.app.Mode, AppID: id,
		Launch: api.Launch{DriverURL: "spark://" + d.submission, SparkVersion: "4.2.0", Heap: units.GiB}})
	if err != nil {
		return reply, err
	}
	d.env.world.Lock()
	d.reply = reply
	d.env.world.Unlock()
	d.obey(reply.Directive)
	return reply, nil
}

// obey takes a directive unless it is older than the one in force.
func (d *Driver) obey(n api.Directive) {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	if n.Epoch >= d.directive.Epoch {
		d.directive = n
		d.follow()
	}
}

func (d *Driver) elapsed() units.Seconds { return units.FromDuration(time.Since(d.began)) }

func (d *Driver) nudge() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// talk sends events until they are acknowledged, and a heartbeat every 2 s.
func (d *Driver) talk(ctx context.Context) {
	beat := time.NewTicker(2 * time.Second)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		case <-d.wake:
		}
		d.send(ctx)
	}
}

func (d *Driver) send(ctx context.Context) {
	d.env.world.Lock()
	batch := api.Events{V: api.Version, AppID: d.reply.AppID, Submission: d.submission, Events: slices.Clone(d.events)}
	d.env.world.Unlock()
	timeout, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	reply, err := d.conn.SendEvents(timeout, batch)
	if api.KindOf(err) == api.KindNotFound {
		_, _ = d.register(ctx)
		return
	}
	if err != nil {
		return // The next heartbeat sends them again.
	}
	d.obey(reply.Directive)
	d.env.world.Lock()
	d.events = slices.DeleteFunc(d.events, func(e api.Event) bool { return e.Seq <= reply.AckedSeq })
	heard := d.ended && len(d.events) == 0
	d.env.world.Unlock()
	if heard {
		select {
		case <-d.over:
		default:
			close(d.over)
		}
	}
}

// say queues an event. The world's lock is held.
func (d *Driver) say(e api.Event) {
	d.seq++
	e.Seq, e.At = d.seq, d.elapsed()
	d.events = append(d.events, e)
	d.nudge()
}

// Refused is the planner's refusal, nil if there was none.
func (d *Driver) Refused() error { return d.refused }

// ID is the application's.
func (d *Driver) ID() api.AppID { return d.reply.AppID }

// Reply is the answer to the registration.
func (d *Driver) Reply() api.RegisterReply { return d.reply }

// Gated says whether the directive in force asks for stage-bound executors.
func (d *Driver) Gated() bool {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	return d.directive.Gated
}

// Notice is the directive's line for the user.
func (d *Driver) Notice() string {
	d.env.world.Lock()
	defer d.env.world.Unlock()
	return d.directive.Notice
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

// Kill ends the driver as a crash does: its executors see it go and exit after a
// second.
func (d *Driver) Kill() {
	if d.cancel == nil {
		return
	}
	d.cancel()
	d.talking.Wait()
	d.conn.Close()
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
