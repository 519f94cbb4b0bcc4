package attached

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/units"
)

// Config is what the runtime needs.
type Config struct {
	// Groups are those of the machine, and Root where they are mounted, as for cgroup.OpenOthers.
	Groups *cgroup.Others
	Root   string
	// Parent is the group below which executors get one of Pacer's whose manager has none for them
	// alone, as for cgroup.Open.
	Parent string
	// State is the directory of the records.
	State string
	// Boot names the machine's boot, CPUs is how many it has.
	Boot string
	CPUs int
	// Proc is where /proc is; "" is that.
	Proc string
}

// Runtime holds executors of other managers. It implements executor.Runtime, and is safe for
// concurrent use.
type Runtime struct {
	cfg     Config
	records records

	starting sync.Mutex // Held by Start, so that nobody is held twice.
	// seen are the executors of the machine as of at; they are Start's.
	seen []sighting
	at   time.Time

	mu   sync.Mutex
	held map[executor.Handle]*Executor
}

// Executor is one that is held.
type Executor struct {
	process *process
	id      api.ExecutorID
	// Group bounds it; nil where nothing does, and Unpaced says why.
	Group *cgroup.Adopted
	// Weight is that of its group where Pacer has made it, 0 where it is its manager's.
	Weight cgroup.Weight
	// Guaranteed is how many cores its manager weighed its group for when it was held, 0 where the group is Pacer's.
	// Unguarded says that it can use more: others have the same right to that.
	Guaranteed units.Cores
	Unguarded  bool
	// Unpaced says in one line why no quota can be written, "" where one can.
	Unpaced string
}

// sighting is an executor's process with its command line.
type sighting struct {
	pid int
	command
}

// New returns a runtime that holds nothing yet.
func New(cfg Config) (*Runtime, error) {
	cfg.Proc = cmp.Or(cfg.Proc, "/proc")
	if err := os.MkdirAll(cfg.State, 0o700); err != nil {
		return nil, fmt.Errorf("attached: %w", err)
	}
	return &Runtime{cfg: cfg, records: records(cfg.State), held: map[executor.Handle]*Executor{}}, nil
}

// CommandLine is what the command line has of the executor id of an application whose driver is at
// that URL, "" for not known. Start seeks it.
func CommandLine(a *api.Attach, id api.ExecutorID, driver string) executor.CommandLine {
	args := []string{"--app-id", a.App, "--executor-id", string(id)}
	if driver != "" {
		args = append(args, "--driver-url", driver)
	}
	return executor.CommandLine{Args: args}
}

// ofExecutor are the first arguments of a CommandLine, which name the executor; what follows is its driver's.
const ofExecutor = 4

// lookAgain is how long what was seen of the machine's processes counts: many are sought at once.
const lookAgain = 200 * time.Millisecond

// look returns the executors of the machine.
func (r *Runtime) look() ([]sighting, error) {
	if now := time.Now(); r.at.IsZero() || now.Sub(r.at) >= lookAgain {
		all, err := pids(r.cfg.Proc)
		if err != nil {
			return nil, fmt.Errorf("attached: %w", err)
		}
		r.seen, r.at = nil, now
		for _, pid := range all {
			line, err := os.ReadFile(filepath.Join(r.cfg.Proc, strconv.Itoa(pid), "cmdline"))
			if err != nil {
				continue // It has ended.
			}
			if c, is := parseCommand(line); is {
				r.seen = append(r.seen, sighting{pid, c})
			}
		}
	}
	return r.seen, nil
}

// has reports whether a command line has all pairs of args.
func (c command) has(args []string) bool {
	for i := 0; i+1 < len(args); i += 2 {
		if c.pairs[args[i]] != args[i+1] {
			return false
		}
	}
	return true
}

// Start implements executor.Runtime: it finds the process whose command line has s.Args and holds it,
// or the one that it holds already. One that is not there is api.KindNotFound; s.Group and s.User count for nothing.
func (r *Runtime) Start(_ context.Context, s executor.Spec) (executor.Handle, error) {
	if _, err := (executor.Layout{}).Paths(s.App, s.ID); err != nil {
		return executor.Handle{}, err // Its names are those of files.
	}
	r.starting.Lock()
	defer r.starting.Unlock()
	if h, held := r.holding(s.App, s.ID); held {
		return h, nil
	}
	p, c, err := r.find(s.Args)
	if err != nil {
		return executor.Handle{}, err
	}
	if of, held := r.heldFor(p); held {
		return executor.Handle{}, errors.Join(api.Errorf(api.KindTransient, "process %d is held for executor %s of %s", p.pid,
			of.ID, of.App), p.close())
	}
	h := executor.Handle{App: s.App, ID: s.ID, PID: p.pid, Started: p.Started, Boot: r.cfg.Boot}
	x, err := r.take(h, p, c)
	if err != nil {
		return executor.Handle{}, fmt.Errorf("attach executor %s of %s: %w", s.ID, s.App, errors.Join(err, p.close()))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[h] = x
	return h, nil
}

// holding is the handle by which an executor that runs is held.
func (r *Runtime) holding(app api.AppID, id api.ExecutorID) (executor.Handle, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for h := range r.held {
		if h.App == app && h.ID == id {
			return h, true
		}
	}
	return executor.Handle{}, false
}

// heldFor is the handle by which a process is held.
func (r *Runtime) heldFor(p *process) (executor.Handle, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for h := range r.held {
		if h.PID == p.pid && h.Started == p.Started {
			return h, true
		}
	}
	return executor.Handle{}, false
}

// find holds the oldest process whose command line has args.
func (r *Runtime) find(args []string) (oldest *process, c command, err error) {
	seen, err := r.look()
	if err != nil {
		return nil, command{}, err
	}
	another := ""
	for _, s := range seen {
		if !s.has(args) {
			if s.has(args[:min(len(args), ofExecutor)]) {
				another = api.Clip(s.pairs["--driver-url"], api.MostName) // Any process may show what it likes.
			}
			continue
		}
		p, err := openProcess(r.cfg.Proc, s.pid)
		if err != nil {
			continue // It has ended.
		}
		// The directory holds the process whose command line is read now.
		if line, err := p.read("cmdline"); err != nil || !hasCommand(line, args) ||
			oldest != nil && oldest.Started <= p.Started {
			_ = p.close()
			continue
		}
		if oldest != nil {
			_ = oldest.close()
		}
		oldest, c = p, s.command
	}
	if oldest == nil && another != "" {
		return nil, command{}, api.Errorf(api.KindConflict, "it is another application's: its driver is at %s", another)
	}
	if oldest == nil {
		return nil, command{}, api.Errorf(api.KindNotFound, "no process here has %v", args)
	}
	return oldest, c, nil
}

func hasCommand(line []byte, args []string) bool {
	c, is := parseCommand(line)
	return is && c.has(args)
}

// take holds what p is bounded by.
func (r *Runtime) take(h executor.Handle, p *process, c command) (*Executor, error) {
	x := &Executor{process: p, id: h.ID}
	text, err := p.read("cgroup")
	if err != nil {
		return nil, err
	}
	rec := record{Handle: h}
	m, err := r.cfg.Groups.Membership(text)
	if err == nil {
		var t cgroup.Hold
		t, err = place(r.cfg.Groups, m, c, r.cfg.Parent, cgroup.GroupName(h.App, h.ID))
		rec.Hold = &t
	}
	if err != nil {
		rec.Hold, rec.Unpaced = nil, err.Error()
	}
	return x, r.hold(x, rec, c)
}

// exclusive reports whether a container that may use so many of all CPUs, and of their time no more than
// the quota found, has these to itself, as a kubelet gives them to pods of the guaranteed class: their
// quota means nothing then.
func exclusive(cpus, all int, ceiling float64) bool {
	return cpus > 0 && cpus < all && (math.IsInf(ceiling, 1) || float64(cpus) == math.Round(ceiling))
}

// slight is how much less a weight may stand for than was asked for: it is a whole number.
const slight units.Cores = 0.002

// hold has x, whose command line is c, bounded as rec says.
func (r *Runtime) hold(x *Executor, rec record, c command) error {
	x.Unpaced = rec.Unpaced
	keep := func(t cgroup.Hold) error {
		rec.Hold = &t
		return r.records.save(rec)
	}
	if rec.Hold == nil {
		return r.records.save(rec)
	}
	t := *rec.Hold
	status, err := x.process.read("status")
	if err != nil {
		return err
	}
	_, cpus, err := parseStatus(status)
	if err == nil {
		err = keep(t)
	}
	if err != nil {
		return err
	}
	err = r.cfg.Groups.Enclose(t, func() ([]int, error) {
		if t.FromCPU == "" {
			return r.cfg.Groups.Members(t.CPU)
		}
		return containerTree(r.cfg.Proc, rec.Handle.PID)
	})
	if err == nil {
		x.Group, err = r.cfg.Groups.Adopt(t, keep)
	}
	if err == nil {
		x.Weight = t.Weight
		if t.FromCPU == "" {
			x.Guaranteed = weighedFor(r.cfg.Groups, t.CPU, r.cfg.CPUs)
		}
		x.Unguarded = x.Guaranteed < min(units.Cores(c.cores()), x.Group.Ceiling())-slight
		if t.FromCPU == "" && guaranteed(t.CPU) && exclusive(cpus, r.cfg.CPUs, float64(x.Group.Ceiling())) {
			x.Unpaced = "its pod has CPUs of its own"
		}
		return nil
	}
	if back := t.PutBack(r.cfg.Root); back != nil {
		return errors.Join(err, back)
	}
	if alive, _ := x.process.runs(); !alive {
		return errors.Join(err, r.records.remove(rec.Handle))
	}
	rec.Hold, rec.Unpaced = nil, err.Error()
	x.Unpaced = rec.Unpaced
	return r.records.save(rec)
}

// Of is what is held by h, nil for nothing.
func (r *Runtime) Of(h executor.Handle) *Executor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[h]
}

// OpenPage opens the executor's progress page; os.ErrNotExist says that there is none yet.
func (x *Executor) OpenPage() (*progress.Reader, error) { return x.process.openPage(x.id) }

// Inspect implements executor.Runtime.
func (r *Runtime) Inspect(h executor.Handle) (executor.Status, error) {
	gone := executor.Status{State: api.ExecutorExited, Exit: "ended, only its cluster manager knows how",
		ExitCode: api.Unknown}
	if h.Boot != r.cfg.Boot {
		gone.Exit = "ended with a restart of the machine"
		return gone, nil
	}
	x := r.Of(h)
	if x == nil {
		p, err := openProcess(r.cfg.Proc, h.PID)
		if err != nil {
			return gone, nil // Nobody has its id.
		}
		if x = (&Executor{process: p}); p.Started != h.Started {
			return gone, p.close()
		}
		defer p.close()
	}
	runs, err := x.process.runs()
	if err != nil || !runs {
		return gone, err
	}
	return executor.Status{State: api.ExecutorRunning, ExitCode: api.Unknown}, nil
}

// Stop implements executor.Runtime: it lets the executor go, whose process runs on, and puts back
// what was found.
func (r *Runtime) Stop(_ context.Context, h executor.Handle) error { return r.Remove(h) }

// Remove implements executor.Runtime: it is Stop.
func (r *Runtime) Remove(h executor.Handle) error {
	x := r.Of(h)
	if x == nil {
		return nil
	}
	var err error
	if x.Group != nil {
		err = x.Group.Release()
	}
	if err == nil {
		err = r.records.remove(h)
	}
	if err != nil {
		return fmt.Errorf("let executor %s of %s go: %w", h.ID, h.App, err)
	}
	r.mu.Lock()
	delete(r.held, h)
	r.mu.Unlock()
	return x.process.close()
}

// Recover implements executor.Runtime: it holds the executors again that an earlier node controller
// held, with what that had found. What has ended meanwhile it puts back and forgets.
func (r *Runtime) Recover() ([]executor.Handle, error) {
	list, err := r.records.load()
	faults := []error{err}
	var handles []executor.Handle
	for _, rec := range list {
		h := rec.Handle
		p, err := openProcess(r.cfg.Proc, h.PID)
		if err == nil && (h.Boot != r.cfg.Boot || p.Started != h.Started) {
			err = errors.Join(os.ErrProcessDone, p.close())
		}
		if err == nil {
			x := &Executor{process: p, id: h.ID}
			line, _ := p.read("cmdline") // It has ended where that cannot be read.
			c, _ := parseCommand(line)
			if err = r.hold(x, rec, c); err == nil {
				r.mu.Lock()
				r.held[h] = x
				r.mu.Unlock()
				handles = append(handles, h)
				continue
			}
			faults = append(faults, fmt.Errorf("recover executor %s of %s: %w", h.ID, h.App, errors.Join(err, p.close())))
			continue
		}
		if rec.Hold != nil && h.Boot == r.cfg.Boot {
			err = rec.Hold.PutBack(r.cfg.Root)
		} else {
			err = nil
		}
		if err == nil {
			err = r.records.remove(h)
		}
		faults = append(faults, err)
	}
	return handles, errors.Join(faults...)
}

// Close lets all executors go.
func (r *Runtime) Close() error {
	r.mu.Lock()
	var handles []executor.Handle
	for h := range r.held {
		handles = append(handles, h)
	}
	r.mu.Unlock()
	var faults []error
	for _, h := range handles {
		faults = append(faults, r.Remove(h))
	}
	return errors.Join(faults...)
}
