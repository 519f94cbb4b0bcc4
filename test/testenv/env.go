package testenv

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/daemon"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/bus/bustest"
	"github.com/sparkpacer/pacer/infra/store"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Env is the world of one test. Its methods are for the test's goroutine.
type Env struct {
	T *testing.T
	// Log gets what the daemons log; by default they log nothing.
	Log *slog.Logger
	// Planner changes the planner's configuration before it starts.
	Planner func(*daemon.PlannerConfig)
	// Node changes the configuration of each node before it starts.
	Node func(*daemon.NodeConfig)

	dir    string
	start  time.Time
	ended  chan struct{}
	steady sync.WaitGroup

	planner *running
	nodes   map[string]*Node
	drivers []*Driver
	// submissions counts them, the refused ones included.
	submissions int
	// machines, plant and clock are guarded by world, too.
	machines []*machine
	plant    *plant.Plant
	clock    des.Clock

	mu struct {
		sync.Mutex
		server *bus.Server // nil while no planner runs
		byURL  map[string]*Driver
	}
	// world guards machines, executors and drivers' schedulers.
	world sync.Mutex
}

// Run runs test in a world of its own, in virtual time, and ends all that test
// left running.
func Run(t *testing.T, test func(e *Env)) {
	t.Helper()
	dir := t.TempDir()
	bustest.Bubble(t, func(t *testing.T) { run(t, dir, test) })
}

// RunReal is Run in real time: what the process uses meanwhile is what daemons use.
func RunReal(t *testing.T, test func(e *Env)) {
	t.Helper()
	run(t, t.TempDir(), test)
}

func run(t *testing.T, dir string, test func(e *Env)) {
	e := &Env{T: t, dir: dir, start: time.Now(), ended: make(chan struct{}), nodes: map[string]*Node{}}
	e.mu.byURL = map[string]*Driver{}
	e.plant = plant.New(plant.Config{Start: StartWork, Dispatch: plant.Default().Dispatch}, &e.clock, 1)
	e.plant.Exited = e.exited
	e.steady.Go(e.turn)
	defer e.close()
	test(e)
}

// Dir has the states of all daemons, in directories "planner" and "node-NAME".
func (e *Env) Dir() string { return e.dir }

func (e *Env) close() {
	for _, d := range e.drivers {
		d.Kill()
	}
	for _, n := range e.nodes {
		n.Stop()
	}
	e.StopPlanner()
	close(e.ended)
	e.steady.Wait()
	for _, m := range e.machines {
		m.close()
	}
	// BuntDB's goroutines see within a second that their databases are closed,
	// and a bubble must not end before its goroutines.
	e.Pass(2 * time.Second)
}

// step is after how long the plant looks at the groups' files again; it is off the daemons'
// slots by offset, so that nobody reads what is being written.
const (
	step   = 20 * time.Millisecond
	offset = 3 * time.Millisecond
)

// turn moves the world until the test ends.
func (e *Env) turn() {
	e.Pass(offset)
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-e.ended:
			return
		case <-ticker.C:
		}
		publish := n%5 == 0
		e.move(func() {
			for _, m := range e.machines {
				m.step(publish)
			}
			for _, d := range e.drivers {
				if publish {
					d.spark.Watch()
				}
			}
		})
	}
}

// now is the time of the plant's clock, which may not have come so far.
func (e *Env) now() units.Instant { return units.Instant(time.Since(e.start)) }

// move has f happen in the plant at this moment.
func (e *Env) move(f func()) {
	e.world.Lock()
	defer e.world.Unlock()
	if err := e.clock.Pass(e.now()); err != nil {
		e.T.Error(err)
	}
	f()
}

// Pass lets virtual time pass.
func (e *Env) Pass(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// Until lets time pass until what holds, at most ten minutes.
func (e *Env) Until(what string, holds func() bool) {
	e.T.Helper()
	for range 6000 {
		if holds() {
			return
		}
		e.Pass(100 * time.Millisecond)
	}
	e.T.Fatalf("ten minutes passed without: %s", what)
}

// Clock is CLOCK_MONOTONIC of all machines: it goes on through restarts.
func (e *Env) Clock() units.Instant { return units.Instant(time.Hour) + e.now() }

// running is a daemon that runs.
type running struct {
	stop  context.CancelFunc
	ended chan error
}

// launch runs a daemon and waits until its ready function was called, if there is
// something to wait on.
func (e *Env) launch(what string, run func(context.Context) error, ready <-chan string) *running {
	e.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{stop: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- run(ctx) }()
	if ready == nil {
		return r
	}
	select {
	case line := <-ready:
		if !strings.Contains(line, "ready") {
			e.T.Errorf("%s says %q, want a line with ready", what, line)
		}
	case err := <-r.ended:
		cancel()
		e.T.Fatalf("%s ended before it was ready: %v", what, err)
	}
	return r
}

// end stops a daemon, which has to take less than 5 s.
func (e *Env) end(what string, r *running) {
	e.T.Helper()
	began := time.Now()
	r.stop()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	select {
	case err := <-r.ended:
		if err != nil {
			e.T.Errorf("%s ended with %v", what, err)
		}
	case <-limit.C:
		e.T.Errorf("%s does not stop", what)
	}
	if took := time.Since(began); took >= 5*time.Second {
		e.T.Errorf("%s took %v to stop", what, took)
	}
}

// StartPlanner starts the planner, with the state of the one before.
func (e *Env) StartPlanner() {
	e.T.Helper()
	ready := make(chan string, 1)
	cfg := daemon.DefaultPlannerConfig()
	cfg.Listen, cfg.HTTP, cfg.State, cfg.Logger = "", "", filepath.Join(e.dir, "planner"), e.Log
	cfg.Owners = e.owners()
	cfg.Sync = store.SyncNever // Killing is simulated, machines do not crash here.
	cfg.Ready = func(line string) { ready <- line }
	if e.Planner != nil {
		e.Planner(&cfg)
	}
	p, err := daemon.NewPlanner(cfg)
	if err != nil {
		e.T.Fatal(err)
	}
	e.mu.Lock()
	e.mu.server = p.Bus()
	e.mu.Unlock()
	e.planner = e.launch("planner", p.Run, ready)
}

// StopPlanner stops the planner; connections to it are lost.
func (e *Env) StopPlanner() {
	e.T.Helper()
	if e.planner == nil {
		return
	}
	e.mu.Lock()
	e.mu.server = nil
	e.mu.Unlock()
	e.end("planner", e.planner)
	e.planner = nil
}

// ForgetPlanner removes the state of a planner that is stopped.
func (e *Env) ForgetPlanner() {
	e.T.Helper()
	if err := os.RemoveAll(filepath.Join(e.dir, "planner")); err != nil {
		e.T.Fatal(err)
	}
}

// pipe connects to the planner that runs now.
func (e *Env) pipe() (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mu.server == nil {
		return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	}
	conn, err := e.mu.server.Pipe()
	if err != nil {
		return nil, err
	}
	return bustest.Buffered(conn), nil
}

func (e *Env) dial(o bus.Options) (*bus.Conn, error) {
	o.Dialer = e.pipe
	return bus.Dial(o)
}

// user is the login of the world's only user, who runs it.
const user = "tester"

// owners are who runs the daemons.
func (e *Env) owners() []daemon.Owner {
	return []daemon.Owner{{Name: user, UID: os.Geteuid(), GID: os.Getegid(), Dir: filepath.Join(e.dir, "credentials")}}
}

// asUser is dial with the user's credential, which the planner has written.
func (e *Env) asUser(o bus.Options) (*bus.Conn, error) {
	path := bus.CredentialPath(e.owners()[0].Dir, bus.DefaultAddress)
	own, err := bus.LoadCredential(path, api.PrincipalUser)
	if err != nil {
		return nil, err
	}
	o.Credential = own
	return e.dial(o)
}

// Ask sends a control request, as the command line does.
func (e *Env) Ask(verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	return e.askBy(e.asUser, verb, r)
}

// AskAs is Ask with the credential of somebody else.
func (e *Env) AskAs(c bus.Credential, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	return e.askBy(func(o bus.Options) (*bus.Conn, error) {
		o.Credential = c
		return e.dial(o)
	}, verb, r)
}

func (e *Env) askBy(dial func(bus.Options) (*bus.Conn, error), verb api.Verb, r api.ControlRequest) (api.ControlReply,
	error) {
	conn, err := dial(bus.Options{})
	if err != nil {
		return api.ControlReply{}, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return conn.Control(ctx, verb, r)
}

// App is what `pacer apps show` would print.
func (e *Env) App(id api.AppID) api.AppDetail {
	e.T.Helper()
	r, err := e.Ask(api.VerbApp, api.ControlRequest{App: id})
	if err != nil {
		e.T.Fatal(err)
	}
	return *r.App
}
