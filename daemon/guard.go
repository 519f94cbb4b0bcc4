package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/sparkpacer/pacer/node"
)

// GuardCommand is the hidden sub-command of every binary that runs a node
// controller: main calls Guard when it is the first argument.
const GuardCommand = "guard-quotas"

const (
	// guardAgain is how long a guard that ended unasked is waited for before the
	// next one is started.
	guardAgain = time.Second
	// guardLeaves bounds how long a node controller waits for its guard's end.
	guardLeaves = 5 * time.Second
	// stoppedLine is what a node controller that has lifted its quotas tells its
	// guard.
	stoppedLine = "stopped\n"
)

// guardRequest is what a guard has to know: its first line on guardPipe.
type guardRequest struct {
	Node string `json:"node"`
	PID  int    `json:"pid"`
	// NodeLock is the file that a node controller locks for its life, GuardLock
	// the one that a guard does.
	NodeLock  string `json:"node_lock"`
	GuardLock string `json:"guard_lock"`
	Root      string `json:"cgroup_root"`
	Parent    string `json:"cgroup_parent"`
	// Attached is the directory with what the node controller has found of other managers' executors.
	Attached string        `json:"attached"`
	Wait     time.Duration `json:"wait"`
	// Second says that the other guard is the one that tells of a successor.
	Second bool `json:"second,omitempty"`
}

// guardLocks are the files that the guards of a node controller lock: two watch it, each for
// itself, so that one is left when the node controller and the other are killed in one moment.
var guardLocks = [...]string{"guard.lock", "guard-2.lock"}

// NewService is NewNode for a service, whose stop may be a restart: it leaves quotas to its guards.
func NewService(cfg NodeConfig) (*NodeDaemon, error) { return newNode(cfg, node.Keep) }

// guards are a node controller's guards.
type guards []*guard

// newGuards starts the guards of a node controller.
func newGuards(cfg NodeConfig, parent string, log *slog.Logger) guards {
	var all guards
	for i, lock := range guardLocks {
		all = append(all, newGuard(cfg, guardRequest{
			Node: cfg.Name, PID: os.Getpid(), NodeLock: filepath.Join(cfg.State, "node.lock"),
			GuardLock: filepath.Join(cfg.State, lock),
			Root:      cfg.CgroupRoot, Parent: parent, Attached: cfg.attached(), Wait: cfg.Guard, Second: i > 0,
		}, log))
	}
	return all
}

// quotasLifted takes in that no quota is left behind.
func (all guards) quotasLifted() {
	for _, g := range all {
		g.quotasLifted()
	}
}

// close lets all guards go.
func (all guards) close() error {
	var faults []error
	for _, g := range all {
		faults = append(faults, g.close())
	}
	return errors.Join(faults...)
}

// guard is one of a node controller's guard processes as the node controller sees it: it
// starts one, replaces one that ends, and tells it when it is not needed any
// more. The guard holds the other end of a pipe that the kernel closes however
// this process ends.
type guard struct {
	binary  string
	state   string
	request guardRequest
	log     *slog.Logger

	mu    sync.Mutex
	line  *os.File      // Nil without a guard.
	ended chan struct{} // Closed at the guard's end; nil when none was started.
	// lifted says that this node controller leaves no quota behind.
	lifted bool
}

// newGuard starts a guard of a node controller. That none could be started is
// said and tried again by keep: control does not depend on it.
func newGuard(cfg NodeConfig, r guardRequest, log *slog.Logger) *guard {
	g := &guard{binary: cfg.GuardBinary, state: cfg.State, log: log, request: r}
	g.spawn()
	return g
}

func (g *guard) spawn() {
	if err := g.start(); err != nil {
		g.log.Warn("the guard process cannot be started: trying again", "error", err)
	}
}

// start runs the guard in a session of its own, with a log file for its streams.
func (g *guard) start() error {
	request, err := json.Marshal(g.request)
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	log, err := os.OpenFile(filepath.Join(g.state, "guard.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	child, err := os.StartProcess(g.binary, []string{"pacer", GuardCommand}, &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=1", "GOGC=10"}, Files: []*os.File{null, log, log, in},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return errors.Join(err, out.Close())
	}
	// The request is smaller than the pipe, so this never waits for the guard.
	if _, err := out.Write(append(request, '\n')); err != nil {
		g.log.Warn("the guard process does not listen", "error", err)
	}
	ended := make(chan struct{})
	g.mu.Lock()
	g.line, g.ended = out, ended
	g.mu.Unlock()
	go func() {
		defer close(ended)
		_, _ = child.Wait()
	}()
	return nil
}

// keep starts another guard whenever there is none, until ctx ends.
func (g *guard) keep(ctx context.Context) error {
	for {
		g.mu.Lock()
		line, ended := g.line, g.ended
		g.mu.Unlock()
		if ended != nil {
			select {
			case <-ctx.Done():
				return nil
			case <-ended:
				g.log.Warn("the guard process ended: starting another", "log", filepath.Join(g.state, "guard.log"))
				_ = line.Close()
			}
		}
		g.mu.Lock()
		g.line, g.ended = nil, nil
		g.mu.Unlock()
		if !pause(ctx, guardAgain) {
			return nil
		}
		g.spawn()
	}
}

// quotasLifted takes in that no quota is left behind.
func (g *guard) quotasLifted() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lifted = true
}

// close lets the guard go: at once after quotasLifted; otherwise it is left to wait
// for a successor, as if this process had died.
func (g *guard) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.line == nil {
		return nil
	}
	var err error
	if g.lifted {
		_, err = g.line.WriteString(stoppedLine)
	}
	err = errors.Join(err, g.line.Close())
	if g.lifted {
		select {
		case <-g.ended:
		case <-time.After(guardLeaves):
			err = errors.Join(err, fmt.Errorf("the guard process did not end within %v", guardLeaves))
		}
	}
	g.line = nil
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil // It has ended already.
	}
	return err
}
