package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	sought map[node.Key]executor.Spec
	told   map[node.Key]string // What was said of one that is sought.
	// refused are those that are other applications', with the reason.
	refused map[node.Key]string
	found   map[node.Key]*foundExecutor
	order   []*foundExecutor // As List shows them.
}

// foundExecutor is an executor that is held.
type foundExecutor struct {
	key    node.Key
	handle executor.Handle
	*attached.Executor
	// These are the loop's.
	reads int
	page  *progress.Reader
	fault string // Of its page, "" for none that lasts.
}

// attached is the directory with what was found of other managers' executors.
func (c NodeConfig) attached() string { return filepath.Join(c.State, "attached") }

// buildAttachment claims the machine's groups and holds what an earlier node controller held.
func (n *NodeDaemon) buildAttachment() error {
	boot := bootID
	if n.deps.Boot != nil {
		boot = n.deps.Boot
	}
	id, err := boot()
	if err != nil {
		return fmt.Errorf("boot id: %w", err)
	}
	groups, err := cgroup.OpenOthers(n.cfg.CgroupRoot)
	if err != nil {
		return err
	}
	n.undo.add(groups.Close)
	r, err := attached.New(attached.Config{Groups: groups, Root: n.cfg.CgroupRoot, Parent: n.cgroupParent(),
		State: n.cfg.attached(), Boot: id, CPUs: runtime.NumCPU()})
	if err != nil {
		return err
	}
	n.attach = &attachment{runtime: r, groups: n.groups, log: n.log, metrics: n.metrics,
		sought: map[node.Key]executor.Spec{}, told: map[node.Key]string{}, refused: map[node.Key]string{},
		found: map[node.Key]*foundExecutor{}}
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

// Start implements node.Runtime: it looks for the executor at once, and seek goes on.
func (a *attachment) Start(ctx context.Context, key node.Key, launch api.Launch) error {
	if launch.Attach == nil {
		return api.Errorf(api.KindInvalid, "this node finds executors of other cluster managers and starts none")
	}
	spec := executor.Spec{App: key.App, ID: key.ID,
		CommandLine: attached.CommandLine(launch.Attach, key.ID, launch.DriverURL)}
	a.mu.Lock()
	a.sought[key] = spec
	a.mu.Unlock()
	a.find(ctx, key, spec)
	return nil
}

// find holds an executor if it is there, and reports whether it is sought no more.
func (a *attachment) find(ctx context.Context, key node.Key, spec executor.Spec) bool {
	h, err := a.runtime.Start(ctx, spec)
	if err == nil {
		a.hold(key, h)
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch api.KindOf(err) {
	case api.KindNotFound:
	case api.KindConflict:
		delete(a.sought, key)
		a.refused[key] = err.Error()
		return true
	default:
		if a.told[key] != err.Error() {
			a.told[key] = err.Error()
			a.log.Warn("executor cannot be held", "app", string(key.App), "executor", string(key.ID), "error", err)
		}
	}
	return false
}

// hold shows the executor from now on.
func (a *attachment) hold(key node.Key, h executor.Handle) {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := a.runtime.Of(h)
	if x == nil || a.found[key] != nil {
		return
	}
	delete(a.sought, key)
	delete(a.told, key)
	a.found[key] = &foundExecutor{key: key, handle: h, Executor: x}
	a.sort()
	a.log.Info("executor held", "app", string(key.App), "executor", string(key.ID), "pid", h.PID,
		"guaranteed", x.Guaranteed, "unguarded", x.Unguarded, "unpaced", x.Unpaced)
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

// seekEvery is the time between two looks for executors that are sought.
const seekEvery = 250 * time.Millisecond

// seek looks for what is sought until ctx ends, and has the loop wake when some is found.
func (a *attachment) seek(ctx context.Context, wake func()) error {
	for pause(ctx, seekEvery) {
		a.mu.Lock()
		sought := maps.Clone(a.sought)
		a.mu.Unlock()
		for key, spec := range sought {
			if a.find(ctx, key, spec) {
				wake()
			}
		}
	}
	return nil
}

// Stop implements node.Runtime: the executor runs on.
func (a *attachment) Stop(ctx context.Context, key node.Key) error {
	a.mu.Lock()
	delete(a.sought, key)
	delete(a.told, key)
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
	*into = node.Usage{Quota: units.Unlimited, Found: node.Found{Unguarded: x.Unguarded, Unpaced: x.Unpaced,
		Page: x.fault}}
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
		page, err := x.OpenPage()
		if err != nil {
			if text := err.Error(); errors.Is(err, attached.ErrPage) && x.fault != text {
				x.fault = text
				a.log.Warn("progress page is refused", "app", string(key.App), "executor", string(key.ID), "error", err)
			}
			return err
		}
		x.page, x.fault = page, ""
	}
	err := x.page.Read(into)
	if err != nil && !errors.Is(err, progress.ErrEmpty) && !errors.Is(err, progress.ErrTorn) {
		_ = x.page.Close() // Another one may come in its place.
		x.page = nil
	}
	return err
}

// Forget implements node.Pages.
func (a pagesOf) Forget(node.Key) {}

// mostHosts bounds what a status tells of a machine's names.
const mostHosts = 32

// nameWithin bounds how long names are asked for.
const nameWithin = time.Second

// hostsOf are all names and addresses of this machine, host among them, and the id of its boot: those of the
// loopback only where host is one, for every machine has them.
func hostsOf(host, boot string) []string {
	all := map[string]bool{}
	if name, err := os.Hostname(); err == nil {
		all[name] = true
		short, _, _ := strings.Cut(name, ".")
		all[short] = true
	}
	local := net.ParseIP(host).IsLoopback() || host == "localhost"
	if local {
		all["localhost"] = true
	}
	ctx, cancel := context.WithTimeout(context.Background(), nameWithin)
	defer cancel()
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.IsLinkLocalUnicast() || n.IP.IsLoopback() && !local {
			continue
		}
		all[n.IP.String()] = true
		names, _ := net.DefaultResolver.LookupAddr(ctx, n.IP.String())
		for _, name := range names {
			all[strings.TrimSuffix(name, ".")] = true
		}
	}
	for _, always := range []string{"", host, boot} {
		delete(all, always)
	}
	list := slices.Sorted(maps.Keys(all))
	list = append(list[:min(len(list), mostHosts-2)], host, boot)
	slices.Sort(list)
	return list
}
