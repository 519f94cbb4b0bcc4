package attached

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
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
	// Proc is where /proc is; "" is that. Clock tells the time; nil is time.Now.
	Proc  string
	Clock func() time.Time
}

// Runtime holds executors of other managers. It implements executor.Runtime, and is safe for
// concurrent use.
type Runtime struct {
	cfg     Config
	records records

	starting sync.Mutex // Held by Start, so that nobody is held twice.
	// seen are the executors of the machine as of at; they are Start's.
	seen    []sighting
	next    time.Time
	glances map[identity]*glance

	mu   sync.Mutex
	held map[executor.Handle]*Executor
}

// Executor is one that is held.
type Executor struct {
	process *process
	id      api.ExecutorID
	proof   proof
	// Page is its progress page, open since it was found; nil of one that was recovered. It is the caller's.
	Page *progress.Reader
	// Group bounds it; nil where nothing does, and Unpaced says why.
	Group *cgroup.Adopted
	// Weight is that of its group where Pacer has made it, 0 where it is its manager's.
	Weight cgroup.Weight
	// Cores are its tasks of one core that run side by side.
	Cores units.Cores
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
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if err := os.MkdirAll(cfg.State, 0o700); err != nil {
		return nil, fmt.Errorf("attached: %w", err)
	}
	return &Runtime{cfg: cfg, records: records(cfg.State), held: map[executor.Handle]*Executor{},
		glances: map[identity]*glance{}}, nil
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

// lookAgain is how long what was seen of the machine's processes counts, at least: many are sought at once. Looking
// takes no more than one part of lookPart of the time.
const (
	lookAgain = 200 * time.Millisecond
	lookPart  = 20
)

// look returns the executors of the machine.
func (r *Runtime) look() ([]sighting, error) {
	if now := r.cfg.Clock(); !now.Before(r.next) {
		all, err := pids(r.cfg.Proc)
		if err != nil {
			return nil, fmt.Errorf("attached: %w", err)
		}
		r.seen = nil
		there := map[int]bool{}
		for _, pid := range all {
			line, err := readBounded(r.cfg.Proc, pid, "cmdline")
			if err != nil {
				continue // It has ended.
			}
			if c, is := parseCommand(line); is {
				r.seen, there[pid] = append(r.seen, sighting{pid, c}), true
			}
		}
		maps.DeleteFunc(r.glances, func(who identity, _ *glance) bool { return !there[who.pid] })
		after := r.cfg.Clock()
		r.next = after.Add(max(lookAgain, lookPart*after.Sub(now)))
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

// Start implements executor.Runtime: it finds the process whose command line has s.Args and whose page shows the secret
// of s.Attach, and holds it, or the one that it holds already. A process that is not there, or has no page yet, is
// api.KindNotFound. A process that shows something else is api.KindConflict; s.Group and s.User count for nothing.
func (r *Runtime) Start(_ context.Context, s executor.Spec) (executor.Handle, error) {
	if _, err := (executor.Layout{}).Paths(s.App, s.ID); err != nil {
		return executor.Handle{}, err // Its names are those of files.
	}
	r.starting.Lock()
	defer r.starting.Unlock()
	if h, held := r.holding(s.App, s.ID); held {
		return h, nil
	}
	x, c, err := r.find(s)
	if err != nil {
		return executor.Handle{}, err
	}
	p := x.process
	if of, held := r.heldFor(p); held {
		return executor.Handle{}, errors.Join(api.Errorf(api.KindTransient, "process %d is held for executor %s of %s", p.pid,
			of.ID, of.App), x.Page.Close(), p.close())
	}
	h := executor.Handle{App: s.App, ID: s.ID, PID: p.pid, Started: p.Started, Boot: r.cfg.Boot}
	if err := r.take(h, x, c); err != nil {
		return executor.Handle{}, fmt.Errorf("attach executor %s of %s: %w", s.ID, s.App,
			errors.Join(err, x.Page.Close(), p.close()))
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

// find holds the process whose command line has s.Args and whose page shows the secret of s.Attach. Command lines, ids
// and the driver's address are known to anybody, so that they say only where to look.
func (r *Runtime) find(s executor.Spec) (*Executor, command, error) {
	if s.Attach == nil || s.Attach.Secret == "" {
		return nil, command{}, api.Errorf(api.KindInvalid,
			"its driver has told no secret to know it by: its pacer jar is of another release")
	}
	seen, err := r.look()
	if err != nil {
		return nil, command{}, err
	}
	var another, unproven error
	for _, of := range seen {
		if !of.has(s.Args) {
			if another == nil && of.has(s.Args[:min(len(s.Args), ofExecutor)]) {
				another = api.Errorf(api.KindConflict, "it is another application's: its driver is at %s",
					api.Clip(of.pairs["--driver-url"], api.MostToken))
			}
			continue
		}
		x, err := r.proven(of.pid, s)
		switch {
		case err == nil:
			return x, of.command, nil
		case unproven == nil || api.KindOf(unproven) == api.KindConflict:
			unproven = err // An error of a process that may yet show what it is.
		}
	}
	if err := cmp.Or(unproven, another); err != nil {
		return nil, command{}, err
	}
	return nil, command{}, api.Errorf(api.KindNotFound, "no process here has %v", s.Args)
}

// proven holds a process that is the executor of s.
func (r *Runtime) proven(pid int, s executor.Spec) (*Executor, error) {
	p, err := openProcess(r.cfg.Proc, pid)
	if err != nil {
		return nil, api.Errorf(api.KindNotFound, "process %d has ended", pid)
	}
	x := &Executor{process: p, id: s.ID}
	// The directory holds the process whose command line is read now.
	if line, readErr := p.read("cmdline"); readErr != nil || !hasCommand(line, s.Args) {
		err = api.Errorf(api.KindNotFound, "process %d is another one now", pid)
	}
	if err == nil {
		x.proof, err = p.proofOf(s.Attach, s.ID)
	}
	if err == nil {
		x.Page, err = r.prove(p, s.ID, x.proof)
	}
	switch {
	case err == nil:
		return x, nil
	case errors.Is(err, os.ErrNotExist):
		err = api.Errorf(api.KindNotFound, "process %d shows no progress page yet", pid)
	}
	_ = p.close()
	return nil, err
}

func hasCommand(line []byte, args []string) bool {
	c, is := parseCommand(line)
	return is && c.has(args)
}

// take holds what x, whose command line is c, is bounded by.
func (r *Runtime) take(h executor.Handle, x *Executor, c command) error {
	text, err := r.cfg.Groups.Read(func() ([]byte, error) { return x.process.read("cgroup") })
	if err != nil {
		return err
	}
	rec := record{Handle: h, Proof: x.proof[:]}
	m, err := r.cfg.Groups.Membership(text)
	if err == nil {
		var t cgroup.Hold
		t, err = place(r.cfg.Groups, m, c, r.cfg.Parent, cgroup.GroupName(h.App, h.ID),
			managed(r.cfg.Groups, r.cfg.Proc, h.PID, m))
		t.Weight = min(t.Weight, cgroup.Weight(r.cfg.CPUs)) // Its cores are what its command line says.
		rec.Hold = &t
	}
	if err != nil {
		rec.Hold, rec.Unpaced = nil, err.Error()
	}
	return r.hold(x, rec, c)
}

// exclusive reports whether a container that may use so many of all CPUs, and of their time no more than the quota
// found, has these to itself. A kubelet gives them to pods of the guaranteed class: their quota means nothing then.
func exclusive(cpus, all int, ceiling float64) bool {
	return cpus > 0 && cpus < all && (math.IsInf(ceiling, 1) || float64(cpus) == math.Round(ceiling))
}

// slight is how much less a weight may stand for than was asked for: it is a whole number.
const slight units.Cores = 0.002

// hold has x, whose command line is c, bounded as rec says.
func (r *Runtime) hold(x *Executor, rec record, c command) error {
	x.Unpaced, x.Cores = rec.Unpaced, units.Cores(c.cores())
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
		x.Unguarded = x.Guaranteed < min(x.Cores, x.Group.Ceiling())-slight
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

// OpenPage opens the executor's progress page, which shows what it has to; os.ErrNotExist says that there is none yet.
// It is not for the loop of the node: it looks at what the process has made.
func (x *Executor) OpenPage() (*progress.Reader, error) {
	page, _, err := x.process.openProven(x.id, x.proof)
	return page, err
}

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
			return gone, nil // No process has its id.
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
// held, with what that had found. It puts back and forgets an executor that has ended meanwhile.
func (r *Runtime) Recover() ([]executor.Handle, error) {
	list, err := r.records.load()
	faults := []error{err}
	var handles []executor.Handle
	for _, rec := range list {
		h := rec.Handle
		p, err := openProcess(r.cfg.Proc, h.PID)
		if err == nil && (h.Boot != r.cfg.Boot || p.Started != h.Started || len(rec.Proof) != len(proof{})) {
			err = errors.Join(os.ErrProcessDone, p.close()) // Or it was held by a release that asked for no proof.
		}
		if err == nil {
			x := &Executor{process: p, id: h.ID, proof: proof(rec.Proof)}
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
	handles := slices.Collect(maps.Keys(r.held))
	r.mu.Unlock()
	var faults []error
	for _, h := range handles {
		faults = append(faults, r.Remove(h))
	}
	return errors.Join(faults...)
}
