package cgroup

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sparkpacer/pacer/units"
)

// within are the groups that a container engine has made inside a Group. A quota
// there, as docker update writes it, binds like the Group's own: what is in force
// is the lower one. Its caller holds the Group's lock.
type within struct {
	groups []controls
	// lowest is the lowest of their quotas as last read or written.
	lowest units.Cores
}

// LookInside takes in the groups that a container engine has made inside g since
// g was opened, as far as they can be written. From then on Quota and Last count
// their quotas, SetQuota lifts one that is in force, and WatchQuotas hears of its
// writers; in v1 MemoryKills knows of a container also when its group is gone.
func (g *Group) LookInside() error {
	if err := g.openInside(); err != nil {
		return err
	}
	g.h.mu.Lock()
	watch := g.h.watch
	g.h.mu.Unlock()
	if watch != nil {
		_ = watch.add(g) // See Group.Watched.
	}
	// In v2 the group itself counts what is inside.
	if dirs := g.limited(); g.h.version == V1 && g.h.kernel && len(dirs) > 0 && dirs[0] != g.memory.dir {
		g.memory.shortage.watch(dirs[0])
	}
	_, err := g.Quota() // After the mark, so that no write is missed.
	return err
}

func (g *Group) openInside() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.within.close(); err != nil {
		return err
	}
	for _, dir := range inside(g.cpu) {
		c, err := g.h.openQuota(dir)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) || isGone(err) {
			continue // It went away, has no cpu controller, or is not ours to write.
		}
		if err != nil {
			return err
		}
		g.within.groups = append(g.within.groups, c)
	}
	return nil
}

// read reads the lowest quota and forgets groups that are gone.
func (w *within) read(buf []byte) error {
	w.lowest = units.Unlimited
	kept := w.groups[:0]
	for _, c := range w.groups {
		us, period, err := c.readQuota(buf)
		if errors.Is(err, ErrGone) {
			_ = c.close() // Its files are gone too.
			continue
		}
		if err != nil {
			return err
		}
		kept = append(kept, c)
		w.lowest = min(w.lowest, cores(us, period))
	}
	w.groups = kept
	return nil
}

// lift takes all their quotas away.
func (w *within) lift(buf []byte) error {
	for _, c := range w.groups {
		if err := c.writeQuota(buf, noQuota); err != nil && !errors.Is(err, ErrGone) {
			return err
		}
	}
	w.lowest = units.Unlimited
	return nil
}

func (w *within) close() error {
	var errs []error
	for _, c := range w.groups {
		errs = append(errs, c.close())
	}
	w.groups, w.lowest = nil, units.Unlimited
	return errors.Join(errs...)
}

// bound reports whether a quota inside is in force and not the group's own.
func (g *Group) bound() bool {
	return !g.within.lowest.IsUnlimited() && (g.inForce == unknownQuota ||
		g.within.lowest <= cores(g.inForce, Period.Microseconds()))
}

// write sets the group's own quota. The kernel of v1 refuses one that is below a
// quota inside, of which nobody may have heard yet: that one is lifted then.
func (g *Group) write(us int64) error {
	err := g.writeOwn(us)
	if errors.Is(err, unix.EINVAL) && len(g.within.groups) > 0 {
		if err := g.within.lift(g.buf[:0]); err != nil {
			return err
		}
		err = g.writeOwn(us)
	}
	return err
}
