package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/units"
)

// executors fills the node loop's Runtime and Quotas with an executor runtime and
// cgroups. It is safe for concurrent use.
type executors struct {
	runtime executor.Runtime
	groups  *cgroup.Hierarchy
	layout  executor.Layout
	users   *executor.Users
	command commandLine
	log     *slog.Logger
	metrics *metrics.Node
	// contained says that a container engine sets their first memory limits.
	contained bool

	mu   sync.Mutex
	held map[node.Key]*held
	// order are the held as List shows them: in the same order each time, so that
	// the engine finds each executor where it was. It is replaced, not changed. next
	// is where the one is that is most likely asked for next: a tick reads them in
	// that order.
	order       []*held
	next        int
	round       atomic.Uint64 // Of prefetch; each List begins one.
	prefetching atomic.Bool   // A prefetch goes on.
}

// held is an executor that was started or recovered, and not removed.
type held struct {
	key      node.Key
	group    *cgroup.Group
	prefetch prefetch
	// These two are the loop's.
	reads     int // Begins anywhere, so that not all are due in one tick.
	throttled time.Duration
	handle    executor.Handle
	ended     string // How it has ended, once it has.
}

// looksPerTick is about how many executors a tick has a closer look at, where it does not have one at each. It reads
// how long the quota has held them back, which statuses tell and nothing decides on. Where the kernel tells of other
// writers (cgroup.WatchQuotas) it reads the quota in force, a second look for what the kernel cannot see. With 200
// executors each has its turn after 6.5 s.
const looksPerTick = 16

// lookEvery is the number of ticks in which each of n executors has its turn.
func lookEvery(n int) int { return 1 + n/looksPerTick }

// readEvery is the number of ticks in which one of n quotas is read once. Where
// the kernel does not tell of other writers each is read in every second one.
func readEvery(n int, watched bool) int {
	if !watched {
		return min(lookEvery(n), 2)
	}
	return lookEvery(n)
}

// recover takes over the executors of an earlier node controller. An executor that cannot be taken over is told and
// left alone; a training run is nobody's any more.
func (x *executors) recover() error {
	handles, err := x.runtime.Recover()
	if err != nil {
		x.log.Warn("some executors cannot be taken over", "error", err)
	}
	for _, h := range handles {
		if h.App == executor.TrainingApp {
			if err := errors.Join(x.runtime.Stop(context.Background(), h), x.runtime.Remove(h)); err != nil {
				x.log.Warn("a training run that was left cannot be ended", "error", err)
			}
			continue
		}
		group, err := x.groups.Group(cgroup.GroupName(h.App, h.ID))
		if err != nil {
			return fmt.Errorf("recover executor %s of %s: %w", h.ID, h.App, err)
		}
		x.hold(node.Key{App: h.App, ID: h.ID}, h, group)
	}
	return x.sweep()
}

// sweep ends what an interrupted start of an executor has left: it is started again if it is
// still wanted.
func (x *executors) sweep() error {
	ctx, cancel := context.WithTimeout(context.Background(), groupLeaves)
	defer cancel()
	swept, err := executor.Sweep(ctx, x.layout, x.groups)
	for _, s := range swept {
		x.log.Warn("what an interrupted start of an executor has left was ended", "cgroup", s.Group, "processes", s.Processes)
	}
	return err
}

// Start implements node.Runtime: the group first, without a quota, then the process in it. A
// quota would make a JVM's start take several times as long (docs/spark.md, S23).
func (x *executors) Start(ctx context.Context, key node.Key, launch api.Launch, lent bool) error {
	if a := launch.Attach; a != nil {
		return api.Errorf(api.KindInvalid, "executors of %s are started by %s: a node controller with --attach finds them",
			key.App, a.Manager)
	}
	paths, err := x.layout.Paths(key.App, key.ID)
	if err != nil {
		return err
	}
	user, err := x.users.Of(key.App, launch.User)
	if err != nil {
		return err
	}
	command, err := x.command(key, launch, paths, user)
	if err != nil {
		return err
	}
	group, err := x.groups.Group(cgroup.GroupName(key.App, key.ID))
	if err != nil {
		return err
	}
	handle, err := x.start(ctx, executor.Spec{App: key.App, ID: key.ID, CommandLine: command, Group: group, User: user,
		OOM: oomScore(launch, lent)}, launch)
	if err != nil {
		return errors.Join(err, group.Remove(context.WithoutCancel(ctx)))
	}
	x.hold(key, handle, group)
	return nil
}

// Where the machine's memory ends the kernel ends processes whose memory is lent before those that are promised theirs,
// and these before the rest of the machine: drivers and daemons.
const (
	lentOOM     = 900
	promisedOOM = 300
)

// oomScore is an executor's place in that order, 0 for none: the mode of its application leaves it alone.
func oomScore(l api.Launch, lent bool) int {
	switch {
	case l.Mode.Unmanaged():
		return 0
	case lent:
		return lentOOM
	}
	return promisedOOM
}

func (x *executors) hold(key node.Key, handle executor.Handle, group *cgroup.Group) {
	x.mu.Lock()
	defer x.mu.Unlock()
	h := &held{key: key, handle: handle, group: group, reads: len(x.held)}
	x.held[key] = h
	at, _ := slices.BinarySearchFunc(x.order, key, (*held).compare)
	x.order = slices.Insert(slices.Clone(x.order), at, h)
}

func (h *held) compare(key node.Key) int { return h.key.Compare(key) }

func (x *executors) start(ctx context.Context, s executor.Spec, l api.Launch) (executor.Handle, error) {
	if !l.Mode.Unmanaged() { // A new group has neither quota nor weight of its own.
		if err := errors.Join(s.Group.SetQuota(units.Unlimited), s.Group.SetWeight(cgroup.WeightDefault)); err != nil {
			return executor.Handle{}, err
		}
	}
	if (!l.Mode.Unmanaged() || l.Bounded) && !x.contained {
		if err := s.Group.RaiseMemory(s.Memory); err != nil {
			return executor.Handle{}, err
		}
	}
	return x.runtime.Start(ctx, s)
}

// Stop implements node.Runtime.
func (x *executors) Stop(ctx context.Context, key node.Key) error {
	h := x.find(key)
	if h == nil {
		return nil
	}
	if err := x.runtime.Stop(ctx, h.handle); err != nil {
		return err
	}
	// From here on the group may be gone: List must not show the executor.
	x.mu.Lock()
	delete(x.held, key)
	if at, found := slices.BinarySearchFunc(x.order, key, (*held).compare); found {
		x.order = slices.Delete(slices.Clone(x.order), at, at+1)
	}
	x.mu.Unlock()
	return x.runtime.Remove(h.handle)
}

// kill ends the processes of all executors of an application at once.
func (x *executors) kill(ctx context.Context, app api.AppID) error {
	x.mu.Lock()
	held := slices.Clone(x.order)
	x.mu.Unlock()
	var errs []error
	for _, h := range held {
		if h.key.App == app {
			errs = append(errs, h.group.Kill(ctx))
		}
	}
	return errors.Join(errs...)
}

// idle reports whether no executor is held.
func (x *executors) idle() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.held) == 0
}

func (x *executors) find(key node.Key) *held {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.held[key]
}

// group is the executor's, nil for one that is not there.
func (x *executors) group(key node.Key) *cgroup.Group {
	if h := x.find(key); h != nil {
		return h.group
	}
	return nil
}

// List implements node.Runtime. An executor that cannot be looked at is shown as
// alive: nothing is known against it.
func (x *executors) List(into []node.Process) []node.Process {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = 0
	x.round.Add(1)
	for _, h := range x.order {
		p := node.Process{Key: h.key, PID: h.handle.PID, ExitCode: api.Unknown}
		if s, err := x.runtime.Inspect(h.handle); err == nil && s.State == api.ExecutorExited {
			p.Exited, p.Exit, p.ExitCode = true, h.exit(s, x.layout), s.ExitCode
		}
		into = append(into, p)
	}
	return into
}

// exit says how an executor has ended, and by which exception where it ended by itself: an exit
// status alone sends its user to logs on another machine.
func (h *held) exit(s executor.Status, layout executor.Layout) string {
	if h.ended == "" {
		h.ended = s.Exit
		paths, err := layout.Paths(h.key.App, h.key.ID)
		if err == nil && s.ExitCode > 0 && s.ExitCode < api.Signalled {
			if why := executor.Thrown(paths.Stderr); why != "" {
				h.ended += ": " + why
			}
		}
	}
	return h.ended
}

var errNotHeld = errors.New("the executor is not there")

// SetQuota implements node.Quotas.
func (x *executors) SetQuota(key node.Key, cores units.Cores) error {
	h := x.find(key)
	if h == nil {
		return errNotHeld
	}
	before, _ := h.group.Last()
	if err := h.group.SetQuota(cores); err != nil {
		x.metrics.WriteFailed()
		return err
	}
	if x.log.Enabled(context.Background(), slog.LevelDebug) {
		x.log.Debug("quota", "app", string(key.App), "executor", string(key.ID), "from", before, "to", cores)
	}
	return nil
}

// SetWeight implements node.Quotas.
func (x *executors) SetWeight(key node.Key, w node.Weight) error {
	if key == (node.Key{}) {
		return x.groups.SetWeight(cgroup.Weight(w))
	}
	h := x.find(key)
	if h == nil {
		return errNotHeld
	}
	if err := h.group.SetWeight(cgroup.Weight(w)); err != nil {
		x.metrics.WriteFailed()
		return err
	}
	return nil
}

// Read implements node.Quotas.
func (x *executors) Read(key node.Key, into *node.Usage) error {
	h, n := x.inTurn(key)
	if h == nil {
		return errNotHeld
	}
	h.reads++
	used, err := x.usage(h, n)
	if err != nil {
		return err
	}
	writer := ""
	quota, known := h.group.Last()
	if !known || h.reads%readEvery(n, h.group.Watched()) == 0 {
		if quota, err = h.group.Quota(); err != nil {
			return err
		}
		writer = h.group.Writer()
	}
	*into = node.Usage{CPU: used, Throttled: h.throttled, Quota: quota, Writer: writer}
	return nil
}

// usage reads what h has used, and how long it was held back if it is its turn.
func (x *executors) usage(h *held, n int) (used units.Work, err error) {
	used, ok := h.prefetch.take(x.round.Load())
	switch {
	case h.reads%lookEvery(n) == 0:
		used, h.throttled, err = h.group.Usage()
	case !ok:
		used, err = h.group.Used()
	}
	return used, err
}

// inTurn is find for a caller that asks in List's order, with how many are held.
func (x *executors) inTurn(key node.Key) (*held, int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.next < len(x.order) && x.order[x.next].key == key {
		if x.next++; x.next == 1 {
			x.startPrefetch()
		}
		return x.order[x.next-1], len(x.order)
	}
	return x.held[key], len(x.order)
}

// tickWatch measures ticks from outside the loop: one begins when the processes
// are listed and is one when the machine's usage is asked for next.
type tickWatch struct {
	node.Runtime
	clock   func() units.Instant
	last    func() units.Instant
	host    func() (units.Work, error)
	metrics *metrics.Node

	listed, began units.Instant
}

// List implements node.Runtime.
func (w *tickWatch) List(into []node.Process) []node.Process {
	w.listed = w.clock()
	return w.Runtime.List(into)
}

// hostUsed is the loop's Host port.
func (w *tickWatch) hostUsed() (units.Work, error) {
	if ended := w.last(); w.began > 0 && ended > w.began {
		w.metrics.Tick(time.Duration(ended - w.began))
	}
	w.began = w.listed
	return w.host()
}
