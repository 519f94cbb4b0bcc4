package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
	"github.com/sparkpacer/pacer/infra/executor/attached"
	"github.com/sparkpacer/pacer/infra/metrics"
	"github.com/sparkpacer/pacer/infra/progress"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// attachment fills the node loop's Runtime, Quotas and Pages on a node that finds executors of other
// cluster managers: to start one is to seek it, to stop it is to let it go. It is safe for concurrent
// use; quotas and pages are the loop's to read.
type attachment struct {
	runtime *attached.Runtime
	groups  *cgroup.Hierarchy // Pacer's own, where executors are whose manager has no group for them.
	log     *slog.Logger
	metrics *metrics.Node

	mu     sync.Mutex
	sought map[node.Key]*search
	// refused are those that are other applications', with the reason.
	refused map[node.Key]string
	found   map[node.Key]*foundExecutor
	order   []*foundExecutor // As List shows them.
	// gone are those let go whose pages the loop may still read.
	gone map[node.Key][]*foundExecutor
}

// search is an executor that is sought.
type search struct {
	executor.Spec
	// told is what was said of it, doubted since when what has its command line shows that it is another's.
	told    string
	doubted time.Time
	again   backoff
}

// backoff says when something is tried again: after twice as long each time.
type backoff struct {
	wait time.Duration
	next time.Time
}

// due reports whether it is tried now, and puts off the next time.
func (b *backoff) due(now time.Time, first, most time.Duration) bool {
	if now.Before(b.next) {
		return false
	}
	b.wait = min(max(2*b.wait, first), most)
	b.next = now.Add(b.wait)
	return true
}

// The times between two looks for an executor, and for its page.
const (
	seekEvery = 250 * time.Millisecond
	pageEvery = time.Second
	seekLast  = 16 * time.Second
)

// mostSought is how many executors of one application are sought at once: a machine has no more.
const mostSought = 1024

// doubtFor is how long an executor is sought though what has its command line shows another application's secret, or
// names another driver: anybody may show that, and its own process may have yet to come.
const doubtFor = 5 * time.Second

// foundExecutor is an executor that is held.
type foundExecutor struct {
	key    node.Key
	handle executor.Handle
	*attached.Executor
	// These are the loop's.
	reads int
	page  *progress.Reader

	// opened is a page that waits for the loop, wanted says that the loop has none.
	opened atomic.Pointer[progress.Reader]
	wanted atomic.Bool
	fault  atomic.Pointer[string] // Of its page, nil for none that lasts.
	again  backoff                // Seek's.
}

// attached is the directory with what was found of other managers' executors.
func (c NodeConfig) attached() string { return filepath.Join(c.State, "attached") }

// buildAttachment claims the machine's groups and holds what an earlier node controller held.
func (n *NodeDaemon) buildAttachment() error {
	id, err := n.deps.Boot()
	if err != nil {
		return fmt.Errorf("boot id: %w", err)
	}
	groups, err := cgroup.OpenOthers(n.cfg.CgroupRoot)
	if err != nil {
		return err
	}
	n.undo.add(groups.Close)
	if err := groups.Blind(); err != nil {
		n.log.Warn("executors in containers are only observed", "error", err)
	}
	r, err := attached.New(attached.Config{Groups: groups, Root: n.cfg.CgroupRoot, Parent: n.cgroupParent(),
		State: n.cfg.attached(), Boot: id, CPUs: runtime.NumCPU()})
	if err != nil {
		return err
	}
	n.attach = newAttachment(r, n.groups, n.log, n.metrics)
	n.undo.add(n.attach.letGo)
	handles, err := r.Recover()
	if err != nil {
		n.log.Warn("some executors cannot be held again", "error", err)
	}
	for _, h := range handles {
		n.attach.hold(node.Key{App: h.App, ID: h.ID}, h)
	}
	return nil
}

func newAttachment(r *attached.Runtime, groups *cgroup.Hierarchy, log *slog.Logger, m *metrics.Node) *attachment {
	return &attachment{runtime: r, groups: groups, log: log, metrics: m, sought: map[node.Key]*search{},
		refused: map[node.Key]string{}, found: map[node.Key]*foundExecutor{}, gone: map[node.Key][]*foundExecutor{}}
}

// Start implements node.Runtime: it looks for the executor at once, and seek goes on.
func (a *attachment) Start(ctx context.Context, key node.Key, launch api.Launch, _ bool) error {
	if launch.Attach == nil {
		return api.Errorf(api.KindInvalid, "this node finds executors of other cluster managers and starts none")
	}
	s := &search{Spec: executor.Spec{App: key.App, ID: key.ID, Attach: launch.Attach,
		CommandLine: attached.CommandLine(launch.Attach, key.ID, launch.DriverURL)}}
	s.again.due(time.Now(), seekEvery, seekLast)
	a.mu.Lock()
	of := 0
	for other := range a.sought {
		if other.App == key.App && other != key {
			of++
		}
	}
	if of < mostSought {
		a.sought[key] = s
	}
	a.mu.Unlock()
	if of >= mostSought {
		return api.Errorf(api.KindInvalid,
			"%d executors of %s are sought on this machine already, the most of one application", of, key.App)
	}
	a.find(ctx, key, s)
	return nil
}

// find holds an executor if it is there, and reports whether it is sought no more.
func (a *attachment) find(ctx context.Context, key node.Key, s *search) bool {
	h, err := a.runtime.Start(ctx, s.Spec)
	if err == nil {
		a.hold(key, h)
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sought[key] != s {
		return false // It is not sought any more.
	}
	kind := api.KindOf(err)
	switch {
	case kind != api.KindConflict:
		s.doubted = time.Time{}
	case s.doubted.IsZero():
		s.doubted = time.Now()
	}
	switch {
	case kind == api.KindInvalid, kind == api.KindConflict && time.Since(s.doubted) >= doubtFor:
		delete(a.sought, key)
		a.refused[key] = err.Error()
		return true
	case kind == api.KindNotFound, kind == api.KindConflict, s.told == err.Error():
	default:
		s.told = err.Error()
		a.log.Warn("executor cannot be held", "app", string(key.App), "executor", string(key.ID), "error", err)
	}
	return false
}

// hold shows the executor from now on.
func (a *attachment) hold(key node.Key, h executor.Handle) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.runtime.Of(h)
	delete(a.sought, key)
	if x == nil || a.found[key] != nil {
		return
	}
	f := &foundExecutor{key: key, handle: h, Executor: x}
	f.opened.Store(x.Page)
	f.wanted.Store(x.Page == nil)
	a.found[key] = f
	a.sort()
	a.log.Info("executor held", "app", string(key.App), "executor", string(key.ID), "pid", h.PID,
		"guaranteed", x.Guaranteed, "unguarded", x.Unguarded, "unpaced", x.Unpaced)
	if x.Group != nil && x.Weight == 0 && x.Group.Ceiling() < x.Cores {
		a.log.Warn("the limit of its container is below its cores: it is planned with the limit", "app", string(key.App),
			"executor", string(key.ID), "limit", x.Group.Ceiling(), "cores", x.Cores)
	}
}

// sort puts what is found in order, and has Pacer's group weigh as much as those in it: against the
// rest of the machine they have what their threads had.
func (a *attachment) sort() {
	all := cgroup.Weight(0)
	for _, x := range a.found {
		all += x.Weight
	}
	if all > 0 {
		if err := a.groups.SetWeight(all / cgroup.Weight(runtime.NumCPU())); err != nil {
			a.log.Warn("the weight of executors that were moved cannot be set", "error", err)
		}
	}
	a.order = slices.SortedFunc(maps.Values(a.found), func(x, y *foundExecutor) int { return x.key.Compare(y.key) })
}

// seek looks for what is sought until ctx ends, and has the loop wake when some is found. It opens the pages that the
// loop lacks: what it looks at is a process's to choose, and the loop waits for none.
func (a *attachment) seek(ctx context.Context, wake func()) error {
	for pause(ctx, seekEvery) {
		a.mu.Lock()
		sought, found := maps.Clone(a.sought), slices.Clone(a.order)
		a.mu.Unlock()
		now := time.Now()
		for key, s := range sought {
			if s.again.due(now, seekEvery, seekLast) && a.find(ctx, key, s) {
				wake()
			}
		}
		for _, x := range found {
			if x.wanted.Load() && x.again.due(now, pageEvery, seekLast) {
				a.open(x)
			}
		}
	}
	return nil
}

// open opens x's page for the loop.
func (a *attachment) open(x *foundExecutor) {
	page, err := x.OpenPage()
	if err == nil {
		x.fault.Store(nil)
		x.wanted.Store(false)
		if old := x.opened.Swap(page); old != nil {
			_ = old.Close()
		}
		return
	}
	text := err.Error()
	if had := x.fault.Load(); (had == nil || *had != text) && !errors.Is(err, os.ErrNotExist) {
		x.fault.Store(&text)
		a.log.Warn("progress page is refused", "app", string(x.key.App), "executor", string(x.key.ID), "error", err)
	}
}

// Stop implements node.Runtime: the executor runs on.
func (a *attachment) Stop(ctx context.Context, key node.Key) error {
	a.mu.Lock()
	delete(a.sought, key)
	delete(a.refused, key)
	x := a.found[key]
	a.mu.Unlock()
	if x == nil {
		return nil
	}
	if err := a.runtime.Stop(ctx, x.handle); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.found, key)
	a.gone[key] = append(a.gone[key], x)
	a.sort()
	return nil
}

// letGo lets all executors go.
func (a *attachment) letGo() error { return a.runtime.Close() }

// List implements node.Runtime.
func (a *attachment) List(into []node.Process) []node.Process {
	a.mu.Lock()
	order := a.order
	for _, key := range slices.SortedFunc(maps.Keys(a.refused), node.Key.Compare) {
		into = append(into, node.Process{Key: key, Exited: true, Exit: a.refused[key], ExitCode: api.Unknown, Refused: true})
	}
	a.mu.Unlock()
	for _, x := range order {
		p := node.Process{Key: x.key, PID: x.handle.PID, ExitCode: api.Unknown}
		if s, err := a.runtime.Inspect(x.handle); err == nil && s.State == api.ExecutorExited {
			p.Exited, p.Exit, p.ExitCode = true, s.Exit, s.ExitCode
		}
		into = append(into, p)
	}
	return into
}

func (a *attachment) get(key node.Key) *foundExecutor {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found[key]
}

// SetQuota implements node.Quotas.
func (a *attachment) SetQuota(key node.Key, cores units.Cores) error {
	x := a.get(key)
	if x == nil || x.Group == nil || x.Unpaced != "" {
		return errNotHeld
	}
	if err := x.Group.SetQuota(cores); err != nil {
		a.metrics.WriteFailed()
		return err
	}
	return nil
}

// SetWeight implements node.Quotas: weights are the managers'.
func (a *attachment) SetWeight(node.Key, node.Weight) error { return nil }

// readQuotaEvery is the number of ticks in which a quota is read once whose writers the kernel tells of.
const readQuotaEvery = 16

// Read implements node.Quotas.
func (a *attachment) Read(key node.Key, into *node.Usage) error {
	x := a.get(key)
	if x == nil {
		return errNotHeld
	}
	x.reads++
	*into = node.Usage{Quota: units.Unlimited, Found: node.Found{Unguarded: x.Unguarded, Unpaced: x.Unpaced}}
	if fault := x.fault.Load(); fault != nil {
		into.Page = api.Clip(*fault, api.MostName)
	}
	if x.Group == nil {
		return nil
	}
	var err error
	if into.CPU, into.Throttled, err = x.Group.Usage(); err != nil {
		return err
	}
	quota, known := x.Group.Last()
	if !known || x.reads%readQuotaEvery == 0 {
		if quota, err = x.Group.Quota(); err != nil {
			return err
		}
		into.Writer = x.Group.Writer()
	}
	into.Quota = quota
	if most := x.Group.Ceiling(); !most.IsUnlimited() {
		into.Ceiling = most
	}
	return nil
}

// pagesOf is an attachment as node.Pages.
type pagesOf struct{ *attachment }

// Read implements node.Pages.
func (a pagesOf) Read(key node.Key, into *meter.Page) error {
	x := a.get(key)
	if x == nil {
		return errNotHeld
	}
	if x.page == nil {
		if x.page = x.opened.Swap(nil); x.page == nil {
			return errNoPage
		}
	}
	err := x.page.Read(into)
	if err != nil && !errors.Is(err, progress.ErrEmpty) && !errors.Is(err, progress.ErrTorn) {
		_ = x.page.Close() // Another one may come in its place.
		x.page = nil
		x.wanted.Store(true)
	}
	return err
}

// errNoPage says that an executor's page is not open yet.
var errNoPage = errors.New("no progress page is open")

// Forget implements node.Pages.
func (a pagesOf) Forget(key node.Key) {
	a.mu.Lock()
	gone := a.gone[key]
	delete(a.gone, key)
	a.mu.Unlock()
	for _, x := range gone {
		for _, page := range []*progress.Reader{x.page, x.opened.Swap(nil)} {
			if page != nil {
				_ = page.Close()
			}
		}
		x.page = nil
	}
}
