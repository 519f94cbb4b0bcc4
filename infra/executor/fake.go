package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
)

// FakeProgram is what an executor of the fake runtime does: the first argument
// of its command line. Any other command line behaves as FakeRuns.
const (
	// FakeRuns runs until it is stopped and ends at SIGTERM.
	FakeRuns = "fake:runs"
	// FakeExits ends at once; the second argument is its exit status, one digit.
	FakeExits = "fake:exits"
	// FakeDeaf does not react to SIGTERM.
	FakeDeaf = "fake:deaf"
	// FakeMissing cannot be executed.
	FakeMissing = "fake:missing"
)

// Fake is a Runtime without processes. Its executors make the same files and
// have the same life as real ones. It is safe for concurrent use.
type Fake struct {
	layout Layout
	groups *cgroup.Hierarchy
	world  *world
	// own holds the executors that this runtime started: only their parent is
	// told how they ended.
	own map[Handle]bool

	// OnStart is called with each executor that starts, before Start returns: a
	// test lets it play its part from there, on its page and in its group.
	OnStart func(Spec, Handle)
}

// world is what outlives a runtime.
type world struct {
	mu      sync.Mutex
	lastPID int
	running map[Handle]Spec
	ended   map[Handle]Status
	refusal error
}

// NewFake returns a runtime with no executors. It removes their groups from
// groups, which is meant to be a tree of ordinary files.
func NewFake(layout Layout, groups *cgroup.Hierarchy) *Fake {
	return &Fake{layout: layout, groups: groups, own: map[Handle]bool{},
		world: &world{lastPID: 1000, running: map[Handle]Spec{}, ended: map[Handle]Status{}}}
}

// Restart returns the runtime of the next node controller on the same machine,
// with its own view of the groups: the executors run on, f must not be used any
// more.
func (f *Fake) Restart(groups *cgroup.Hierarchy) *Fake {
	return &Fake{layout: f.layout, groups: groups, own: map[Handle]bool{}, world: f.world, OnStart: f.OnStart}
}

// Refuse makes every start fail with err until it is called with nil.
func (f *Fake) Refuse(err error) {
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	f.world.refusal = err
}

// Exit ends a running executor by itself, with an exit status.
func (f *Fake) Exit(h Handle, code int) {
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	f.world.end(h, Status{State: api.ExecutorExited, Exit: fmt.Sprintf("exit status %d", code), ExitCode: code})
}

func (w *world) end(h Handle, s Status) {
	if _, ok := w.running[h]; ok {
		delete(w.running, h)
		w.ended[h] = s
	}
}

// Start implements Runtime.
func (f *Fake) Start(ctx context.Context, s Spec) (Handle, error) {
	paths, err := f.layout.Paths(s.App, s.ID)
	if err != nil {
		return Handle{}, err
	}
	h, err := f.start(ctx, s, paths)
	if err != nil {
		return Handle{}, fmt.Errorf("start executor %s of %s: %w", s.ID, s.App, err)
	}
	if f.OnStart != nil {
		f.OnStart(s, h)
	}
	return h, nil
}

func (f *Fake) start(ctx context.Context, s Spec, paths Paths) (Handle, error) {
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	if len(s.Args) == 0 || s.Group == nil {
		return Handle{}, errors.New("no command or no group")
	}
	if _, err := readHandle(paths.Handle); err == nil {
		return Handle{}, api.Errorf(api.KindConflict, "it was started already")
	}
	if err := paths.prepare(s.User); err != nil {
		return Handle{}, err
	}
	f.world.lastPID++
	h := Handle{App: s.App, ID: s.ID, PID: f.world.lastPID, Started: uint64(f.world.lastPID), Boot: "fake"}
	if err := errors.Join(ctx.Err(), f.world.refusal, f.execute(s, h, paths)); err != nil {
		return Handle{}, errors.Join(err, paths.clean())
	}
	return h, nil
}

func (f *Fake) execute(s Spec, h Handle, paths Paths) error {
	stdout, stderr, err := paths.openLogs(s.User)
	if err != nil {
		return err
	}
	defer stdout.Close()
	defer stderr.Close()
	if s.Args[0] == FakeMissing {
		return fmt.Errorf("user %s: exec %s: no such file or directory", s.User.Name, s.Args[0])
	}
	if _, err := fmt.Fprintln(stderr, strings.Join(s.Args, " ")); err != nil {
		return err
	}
	f.world.running[h], f.own[h] = s, true
	if s.Args[0] == FakeExits && len(s.Args) > 1 && len(s.Args[1]) == 1 {
		code := int(s.Args[1][0] - '0')
		f.world.end(h, Status{State: api.ExecutorExited, Exit: fmt.Sprintf("exit status %d", code), ExitCode: code})
	}
	return paths.save(h)
}

// Inspect implements Runtime.
func (f *Fake) Inspect(h Handle) (Status, error) {
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	if _, ok := f.world.running[h]; ok {
		return Status{State: api.ExecutorRunning, ExitCode: api.Unknown}, nil
	}
	if s, ok := f.world.ended[h]; ok && f.own[h] {
		return s, nil
	}
	return Status{State: api.ExecutorExited, Exit: "ended while no node controller ran", ExitCode: api.Unknown}, nil
}

// Stop implements Runtime.
func (f *Fake) Stop(_ context.Context, h Handle) error {
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	s := f.world.running[h]
	signal := 15
	if len(s.Args) > 0 && s.Args[0] == FakeDeaf {
		signal = 9
	}
	f.world.end(h, killedBy(signal))
	return nil
}

// Recover implements Runtime.
func (f *Fake) Recover() ([]Handle, error) { return f.layout.handles() }

// Remove implements Runtime.
func (f *Fake) Remove(h Handle) error {
	paths, err := f.layout.Paths(h.App, h.ID)
	if err != nil {
		return err
	}
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	if _, ok := f.world.running[h]; ok {
		return api.Errorf(api.KindConflict, "executor %s of %s still runs", h.ID, h.App)
	}
	group, err := f.groups.Group(cgroup.GroupName(h.App, h.ID))
	if err != nil {
		return err
	}
	delete(f.world.ended, h)
	delete(f.own, h)
	return errors.Join(group.Remove(context.Background()), paths.clean())
}
