package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/units"
)

// Period is the CFS period of every group of Pacer's, the kernel's default. Work is
// spread a little more evenly with a shorter one (docs/spark.md, S45), which fills
// caches anew more often. Figures are in docs/decisions/012.
const Period = 100 * time.Millisecond

// MinQuota is the smallest quota that the kernel takes, 1 ms per period.
const MinQuota units.Cores = 0.01

// Group is one executor's group. It is safe for concurrent use. SetQuota, Usage
// and Quota work on open files and do not allocate.
type Group struct {
	h    *Hierarchy
	name string
	// dir is the directory's name below the parent, cpu and acct are its paths.
	dir, cpu, acct string

	mu    sync.Mutex
	files controls
	// inForce is the quota in us per Period as last written or read back;
	// unknownQuota makes the next SetQuota write whatever it is.
	inForce int64
	// ours says that the group's period is Period. A group that never had a quota
	// gets it with its first one: making a group writes nothing.
	ours   bool
	within within
	memory memory
	weight Weight
	// watched says that the kernel tells of other writers, touched that the quota
	// was written since it was read, by writer.
	watched, touched bool
	writer           string
	// buf comes last: what a tick looks at lies together.
	buf [1024]byte
}

const (
	noQuota      int64 = -1
	unknownQuota int64 = 0
)

func openGroup(h *Hierarchy, name string) (*Group, error) {
	dir := h.dirName(name)
	g := &Group{h: h, name: name, dir: dir, cpu: filepath.Join(h.cpu, dir), acct: filepath.Join(h.acct, dir),
		within: within{lowest: units.Unlimited}}
	for _, dir := range []string{g.cpu, g.acct} {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("cgroup: %w", err)
		}
	}
	if err := g.openMemory(); err != nil {
		return nil, err
	}
	if !h.kernel {
		if err := makeProcs(g.JoinFiles()); err != nil {
			return nil, err
		}
	}
	var err error
	if g.files, err = h.open(g.cpu, g.acct); err != nil {
		return nil, err
	}
	err = g.openInside()
	if err == nil {
		err = g.takeOver()
	}
	if err != nil {
		return nil, errors.Join(err, g.closeFiles())
	}
	return g, nil
}

// takeOver reads the quota in force and, if there is one on another period,
// writes the same number of cores on ours.
func (g *Group) takeOver() error {
	quota, period, err := g.files.readQuota(g.buf[:])
	if err != nil {
		return err
	}
	if err := g.within.read(g.buf[:]); err != nil {
		return err
	}
	g.ours = period == Period.Microseconds()
	if g.ours || quota == noQuota {
		g.inForce = quota
		return nil
	}
	return g.SetQuota(cores(quota, period))
}

// Name returns the group's name below the parent.
func (g *Group) Name() string { return g.name }

// SetQuota limits the group to quota cores on average over each Period;
// units.Unlimited lifts the limit. Less than MinQuota counts as MinQuota. It
// writes only what differs from the quota in force as this Group knows it, and
// lifts a lower one inside (LookInside). NaN and negative quotas are errors and
// change nothing.
func (g *Group) SetQuota(quota units.Cores) error {
	us := noQuota
	if !quota.IsUnlimited() {
		if err := units.Finite("quota", quota); err != nil {
			return fmt.Errorf("cgroup: %s: %w", g.name, err)
		}
		us = microseconds(quota)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bound() {
		if err := g.within.lift(g.buf[:0]); err != nil {
			return err
		}
	}
	if us == g.inForce && !g.touched {
		return nil
	}
	if err := g.write(us); err != nil {
		g.inForce = unknownQuota
		return err
	}
	g.inForce = us
	return nil
}

func (g *Group) writeOwn(us int64) error {
	if !g.ours {
		if err := g.files.writePeriod(g.buf[:0]); err != nil {
			return err
		}
		g.ours = true
	}
	return g.files.writeQuota(g.buf[:0], us)
}

// Quota reads the quota that is in force, whoever wrote it, the group's own or a
// lower one inside: units.Unlimited for none. After a change by somebody else the next SetQuota writes again.
func (g *Group) Quota() (units.Cores, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.touched = false // A write after this one is seen by the next.
	us, period, err := g.files.readQuota(g.buf[:])
	if err != nil {
		return 0, err
	}
	g.inForce, g.ours = us, period == Period.Microseconds()
	if !g.ours && us != noQuota {
		g.inForce = unknownQuota
	}
	if err := g.within.read(g.buf[:]); err != nil {
		return 0, err
	}
	return min(cores(us, period), g.within.lowest), nil
}

// Last returns the quota in force as this Group knows it, without a system call:
// what the last SetQuota or Quota left. It is false when a write failed since, or
// when somebody else is known to have written (WatchQuotas).
func (g *Group) Last() (units.Cores, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return min(cores(g.inForce, Period.Microseconds()), g.within.lowest), g.inForce != unknownQuota && !g.touched
}

// SetWeight sets the group's share among its siblings when CPU is short. It
// writes only a weight that differs from the last one written.
func (g *Group) SetWeight(w Weight) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w == g.weight {
		return nil
	}
	if err := g.h.setWeight(g.cpu, w); err != nil {
		return err
	}
	g.weight = w
	return g.h.drivers.weigh(g.h, g.name, w)
}

// Usage returns the CPU time that the group has used since it was made, and how
// long its quota has held it back since then, summed over CPUs.
func (g *Group) Usage() (used units.Work, throttled time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.files.usage(g.buf[:])
}

// Used is Usage without the time held back, which in v1 is another file to read.
func (g *Group) Used() (units.Work, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.files.used(g.buf[:])
}

// Procs returns the process ids in the group and in the groups inside it, as a
// container engine makes them.
func (g *Group) Procs() ([]int, error) {
	var pids []int
	for _, dir := range append([]string{g.cpu}, inside(g.cpu)...) {
		data, err := os.ReadFile(filepath.Join(dir, procsFile))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cgroup: %w", err)
		}
		for _, field := range strings.Fields(string(data)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("cgroup: %s/%s: process id %q", dir, procsFile, field)
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// JoinFiles returns the files that a process has to write its id into to become
// a member: one per tree.
func (g *Group) JoinFiles() []string {
	files := []string{filepath.Join(g.cpu, procsFile)}
	if g.acct != g.cpu {
		files = append(files, filepath.Join(g.acct, procsFile))
	}
	if g.memory.own && g.memory.dir != g.cpu {
		files = append(files, filepath.Join(g.memory.dir, procsFile))
	}
	return files
}

// Remove kills what is left in the group and removes it. Removing a group that
// is gone already is no error. The Group must not be used after that.
func (g *Group) Remove(ctx context.Context) error {
	if err := g.Kill(ctx); err != nil {
		return err
	}
	g.h.forget(g)
	errs := []error{g.closeFiles()}
	errs = append(errs, removeTree(ctx, g.cpu, g.h.kernel))
	if g.acct != g.cpu {
		errs = append(errs, removeTree(ctx, g.acct, g.h.kernel))
	}
	errs = append(errs, g.removeMemory(ctx), g.h.shields.sum())
	g.h.sweep(filepath.Join(g.h.parent, g.dir))
	return errors.Join(errs...)
}

// Close closes the group's files and leaves the group and its quota as they are.
func (g *Group) Close() error {
	g.h.forget(g)
	return g.closeFiles()
}

func (g *Group) closeFiles() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return errors.Join(g.files.close(), g.within.close(), g.memory.shortage.close())
}

func (h *Hierarchy) forget(g *Group) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups[g.name] == g {
		delete(h.groups, g.name)
	}
	if h.watch != nil {
		h.watch.forget(g)
	}
	_ = h.drivers.weigh(h, g.name, 0) // The others' next weights make it good.
}

// microseconds converts a finite quota to us per Period.
func microseconds(quota units.Cores) int64 {
	return int64(float64(max(quota, MinQuota))*float64(Period.Microseconds()) + 0.5)
}

// cores is the inverse for any period.
func cores(us, period int64) units.Cores {
	if us < 0 || period <= 0 {
		return units.Unlimited
	}
	return units.Cores(float64(us) / float64(period))
}
