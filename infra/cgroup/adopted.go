package cgroup

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Adopted is a group whose quota Pacer owns while it holds it, between nothing and the quota
// found, which is its ceiling. A quota that its manager writes meanwhile is the new ceiling. It is safe for concurrent
// use.
type Adopted struct {
	others *Others
	keep   func(Hold) error
	from   string // Where its processes were, "" where they are still.

	mu    sync.Mutex
	files controls
	hold  Hold
	above units.Cores // Cores that groups above allow, or the part of them that was divided.
	// lowered is the quota of Pacer's that is in force; units.Unlimited while what was found is.
	lowered units.Cores
	// watched says that the kernel tells of other writers, touched that one may have written since
	// the quota was read, by writer.
	watched, touched bool
	writer           string
	buf              [1024]byte
}

// sameQuota is how close to the ceiling a quota is that ceiling.
const sameQuota = units.Cores(0.001)

// Adopt holds the group of t. keep is called with what is to be put back before anything is
// written, at once and whenever that changes; what it cannot keep is not written.
func (o *Others) Adopt(t Hold, keep func(Hold) error) (*Adopted, error) {
	files, err := o.h.open(filepath.Join(o.h.roots[0], t.CPU), filepath.Join(o.h.roots[len(o.h.roots)-1], t.Acct))
	if err != nil {
		return nil, err
	}
	a := &Adopted{others: o, keep: keep, from: t.FromCPU, files: files, hold: t, above: o.above(t),
		lowered: units.Unlimited}
	if o.watch != nil {
		a.watched = o.watch.mark(files.quotaFiles(), a) == nil
	}
	if err = a.sync(); err == nil {
		err = keep(a.hold)
	}
	if err == nil {
		err = o.join(a)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// sync reads what is in force. A quota that its manager has written is the new ceiling.
func (a *Adopted) sync() error {
	a.touched = false // A write after this one is seen by the next.
	us, period, err := a.files.readQuota(a.buf[:])
	if err != nil {
		a.touched = true
		return err
	}
	next, whole := a.hold.seen(us, period)
	if next != a.hold {
		err := a.keep(next)
		if err == nil && !whole { // Of a manager that writes its quota alone the period is Pacer's.
			err = a.files.put(a.buf[:], next.Quota, next.Period)
		}
		if err != nil {
			a.touched = true
			return err
		}
		if a.hold, whole = next, true; next.FromCPU == "" {
			a.above = a.others.above(next)
		}
	}
	if a.lowered = units.Unlimited; !whole {
		a.lowered = cores(us, period)
	}
	return nil
}

// look is sync where the quota may have changed.
func (a *Adopted) look() error {
	if a.watched && !a.touched {
		return nil
	}
	return a.sync()
}

// Ceiling is the most that the group may have: the quota found, or that of a group above it;
// units.Unlimited for none.
func (a *Adopted) Ceiling() units.Cores {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.most()
}

func (a *Adopted) most() units.Cores { return min(a.hold.ceiling(), a.above) }

// SetQuota limits the group to quota cores on average. From its ceiling on, units.Unlimited
// included, it has what was found again, to the letter. NaN and negative quotas are errors and
// change nothing.
func (a *Adopted) SetQuota(quota units.Cores) error {
	if !quota.IsUnlimited() {
		if err := units.Finite("quota", quota); err != nil {
			return fmt.Errorf("cgroup: %s: %w", a.hold.CPU, err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.look(); err != nil {
		return err
	}
	most, us := a.most(), ownQuota(quota)
	switch {
	case quota < most-sameQuota && cores(us, ownPeriod) < most:
		return a.write(us, ownPeriod)
	case a.hold.FromCPU != "" && !a.above.IsUnlimited():
		return a.write(ownQuota(a.above), ownPeriod) // Where it was this bound it.
	}
	return a.write(a.hold.Quota, a.hold.Period)
}

// write sets what is to be in force unless it is.
func (a *Adopted) write(us, period int64) error {
	next := units.Unlimited
	if period == ownPeriod {
		next = cores(us, period)
	}
	if next == a.lowered {
		return nil
	}
	if err := a.files.put(a.buf[:], us, period); err != nil {
		a.touched = true
		return err
	}
	a.lowered = next
	return nil
}

// ownQuota is a quota of Pacer's in us, next to c.
func ownQuota(c units.Cores) int64 {
	hundreds := math.Round((min(float64(c), 1e6)*ownPeriod - ownDigits) / 100)
	return 100*int64(max(10, hundreds)) + ownDigits
}

// Quota reads what Pacer's quota in force is: units.Unlimited while the group has what was found.
func (a *Adopted) Quota() (units.Cores, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.sync(); err != nil {
		return 0, err
	}
	return a.inForce(), nil
}

// Last returns what Quota would without a system call; false when that is not known, because a
// write failed, because somebody else is known to have written, or because nobody would tell.
func (a *Adopted) Last() (units.Cores, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inForce(), a.watched && !a.touched
}

// inForce is Pacer's quota; what bounded moved processes where they were counts as none.
func (a *Adopted) inForce() units.Cores {
	if a.lowered >= a.most()-sameQuota {
		return units.Unlimited
	}
	return a.lowered
}

// Usage is Group.Usage.
func (a *Adopted) Usage() (used units.Work, throttled time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.files.usage(a.buf[:])
}

// Writer is Group.Writer.
func (a *Adopted) Writer() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.writer
}

// touch takes in that somebody else has written the quota.
func (a *Adopted) touch(writer string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.touched, a.writer = true, writer
}

// Release puts back what was found (Hold.PutBack) and lets the group go. Its processes run on.
func (a *Adopted) Release() error {
	err := a.Close()
	err = errors.Join(err, a.hold.PutBack(a.others.h.root))
	a.others.rest(a.from)
	return err
}

// Close lets the group go as it is.
func (a *Adopted) Close() error {
	if a.others.watch != nil {
		a.others.watch.forget(a)
	}
	a.others.leave(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.files.close()
}
