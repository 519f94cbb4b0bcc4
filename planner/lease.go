package planner

import (
	"time"

	"github.com/sparkpacer/pacer/units"
)

const (
	// LeaseRenew is the time between two renewals of the lease by the planner that holds it.
	LeaseRenew = time.Second
	// LeaseHolds is how long after it has sent its newest renewal a planner says and promises
	// something: less than LeaseTime, for clocks do not run alike.
	LeaseHolds = 2500 * time.Millisecond
	// LeaseTime is how long a lease stands unrenewed before one that stands by takes it.
	LeaseTime = 3 * time.Second
	// LeaseAsk is the time between two looks of one that stands by.
	LeaseAsk = 200 * time.Millisecond
)

// Lease decides when a planner that stands by takes the lease of the one that serves. It goes by
// its own clock and by the lease's revision, which each renewal makes greater: so clocks need not
// agree. It counts a time only in which renewals could have been seen. Whether the lease is still
// the one that was seen, the store says when it is taken. The zero value has seen nothing; not
// thread-safe.
type Lease struct {
	revision uint64
	since    units.Instant // When the revision was first seen, 0 for not.
}

// Saw takes what the store has answered at now to a question of asked, and reports whether the
// lease may be taken: it was given back, nobody has ever had it, which is revision 0, or it has
// stood unrenewed for LeaseTime.
func (l *Lease) Saw(asked, now units.Instant, revision uint64, released bool) bool {
	if revision == 0 || released {
		return true
	}
	if l.since == 0 || revision != l.revision {
		l.revision, l.since = revision, now
	}
	return asked.Sub(l.since) >= LeaseTime
}

// Unseen is for how long the lease has stood unrenewed at now, in which renewals could have been
// seen, and all else that is said on that connection.
func (l *Lease) Unseen(now units.Instant) time.Duration {
	if l.since == 0 {
		return 0
	}
	return max(0, now.Sub(l.since))
}

// Missed says that the store has not answered: nor may it have answered the holder.
func (l *Lease) Missed() { l.since = 0 }

// Overheard is when a planner that stands by has last heard each node, by its own clock; not
// thread-safe. A node may be lost with the planner that served: who takes over need not wait for
// as long again to know.
type Overheard map[string]units.Instant

// Silence is what there is to hand over at now to who could have heard nodes for so long.
func (o Overheard) Silence(now units.Instant, listened time.Duration) Silence {
	s := Silence{Listened: listened, Last: make(map[string]time.Duration, len(o))}
	for node, at := range o {
		s.Last[node] = now.Sub(at)
	}
	return s
}
