package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/memory/forecast"
	"github.com/sparkpacer/pacer/units"
)

const (
	// leastGrowth is how much an executor's memory grows at least where it cannot grow to
	// its share yet: each move has its cost.
	leastGrowth = 64 * units.MiB
	// owesWithin is how long an executor may owe memory before that is told: tasks give
	// it back when they next ask for some.
	owesWithin = 10 * time.Second
)

// pool divides the node's memory among its executors (package memory) and sees to it that never more is given than
// there is. An executor that is to have less is told at once, one that is to have more when the others have given it
// back, and an executor starts when there is room for it. Memory that is not acknowledged counts as used.
type pool struct {
	memory units.Bytes // Of the node; 0 is not known, and nothing moves.
	// apps are those that shares were made for, next those of this tick.
	apps, next []memory.App
	shares     []memory.Share
	// lendable is what executors leave of their claims, less what is kept.
	lendable units.Bytes
	// short says that it was told that executors need more than there is.
	short bool
}

// newPool returns the pool of a node; the memory of executors that it finds is their manager's.
func newPool(cfg *Config) pool {
	if cfg.attaches() {
		return pool{}
	}
	return pool{memory: cfg.Memory}
}

// step takes in a Sample, whose rows r has, and moves memory.
func (p *pool) step(r *roster, s *Sample, now units.Instant) {
	if p.memory <= 0 {
		return
	}
	for i := range s.Executors {
		x, es := r.rows[i], &s.Executors[i]
		page := &es.Page.Memory
		if es.Page.Generation == 0 || !x.seen.good {
			page = nil
		}
		x.memory.observe(es.Memory, page)
	}
	p.lend(r, now)
	p.divide(r)
	free := p.memory
	for _, x := range r.execs {
		if holds(x) {
			free -= x.memory.used()
		}
	}
	for _, x := range r.execs {
		if x.life.here && x.alive() && !x.unmanaged && !x.memory.unknown() {
			free = p.move(r, x, now, free)
		}
	}
}

// lend takes samples of what executors use, by which the planner lends what they leave, and takes a lent executor's
// memory back where all use nearly all there is.
func (p *pool) lend(r *roster, now units.Instant) {
	p.lendable = 0
	by, err := forecast.Named(r.plan.Lend.By)
	if err != nil {
		for _, x := range r.execs {
			x.memory.loan.series, x.memory.loan.spare = nil, 0
		}
		return // The node lends nothing, or goes by a forecast that only another release knows.
	}
	var resident, used, spare units.Bytes
	var last *executor
	taking := false
	for _, x := range r.execs {
		h := &x.memory
		if !holds(x) {
			continue
		}
		used += h.used()
		resident += h.seen.Resident
		if x.life.here && x.alive() && !x.unmanaged && !h.unknown() &&
			h.loan.sample(by, h.heap+h.overhead+h.floor, h.seen.Resident, r.plan.Lend.Every.Duration(), now) {
			h.toldAt, r.out.dirty = 0, true
		}
		spare += h.loan.spare
		taking = taking || h.loan.taken
		if h.loan.lent && x.life.here {
			last = x
		}
	}
	kept := units.Bytes(keptPart * float64(p.memory))
	p.lendable = max(0, spare-kept)
	if last != nil && !taking && used > p.memory && resident > p.memory-kept {
		last.memory.loan.taken, last.memory.loan.at, r.out.changed = true, now, true
		r.out.event(Event{Kind: EventMemoryTaken, Key: last.key,
			Detail: fmt.Sprintf("executors use %v of %v, and more is claimed than there is", resident, p.memory)})
	}
}

// present reports whether x takes part in the division: it runs, is being started or is to run. An executor whose loan
// was taken back before it was started is never to run.
func present(x *executor) bool {
	listed := x.life.listed && (x.life.started || !x.memory.loan.taken)
	return x.life.state != api.ExecutorExited && (listed || x.life.here || x.life.launching && x.life.asked)
}

// holds reports whether x has memory: it runs or is being started.
func holds(x *executor) bool { return present(x) && (x.life.started || x.life.here) }

// divide decides on everybody's share. Shares are made again when somebody comes, goes or is
// fixed: a tick in which nothing has changed allocates nothing.
func (p *pool) divide(r *roster) {
	p.next = p.next[:0]
	sharing := -1 // The newest of them that shares.
	for _, x := range r.execs {
		if !present(x) {
			continue
		}
		h := &x.memory
		a := memory.App{ID: x.key.App, Executors: 1, Heap: h.heap, Overhead: h.overhead, Weight: h.weight, Floor: h.floor}
		if h.fixed() || !x.life.listed {
			a.Fixed, a.OffHeap = true, h.reserved
		} else {
			if sharing >= 0 && p.next[sharing].ID == a.ID {
				p.next[sharing].Executors++ // They are started alike, and in order of application.
				h.part = sharing
				continue
			}
			sharing = len(p.next)
		}
		h.part = len(p.next)
		p.next = append(p.next, a)
	}
	if !slices.Equal(p.next, p.apps) {
		p.apps, p.next = p.next, p.apps
		p.share(r)
	}
	for _, x := range r.execs {
		if present(x) {
			x.memory.share = p.shares[x.memory.part].PerExecutor
		}
	}
}

// share makes the shares of apps, and tells when not even the least fits, once.
func (p *pool) share(r *roster) {
	var err error
	p.shares, err = memory.Shares(p.memory, p.apps, p.shares[:0])
	lent := slices.ContainsFunc(r.execs, func(x *executor) bool { return present(x) && x.memory.loan.lent })
	if short := err != nil && !lent; short != p.short {
		p.short = short
		if short {
			r.out.event(Event{Kind: EventMemoryShort, Detail: err.Error()})
		}
	}
}

// move brings x's memory closer to its share, of what is free as far as it grows, and its
// limit to what it has. It returns what is left free.
func (p *pool) move(r *roster, x *executor, now units.Instant, free units.Bytes) units.Bytes {
	h := &x.memory
	if h.moves() {
		switch wanted := h.wanted(); {
		case h.share < wanted:
			p.wish(r, x, h.share, 0, now)
		case h.share > wanted && !h.owes():
			room := max(0, free) + h.used() - (h.heap + h.overhead + wanted) // Its limit may not be lowered yet.
			grown := min(h.share, wanted+room/units.MiB*units.MiB)
			if grown > wanted && (grown == h.share || grown-wanted >= leastGrowth) {
				before, limit := h.used(), units.Bytes(0)
				if h.seen.Limit > 0 {
					limit = h.heap + h.overhead + grown
				}
				h.reserved = grown
				p.wish(r, x, grown, limit, now)
				return free - (h.used() - before)
			}
		}
	}
	if limit := h.heap + h.overhead + h.reserved; h.seen.Limit > 0 && h.seen.Limit > limit {
		r.out.act(Action{Kind: ActSetMemoryLimit, Key: x.key, Limit: limit})
	}
	p.shield(r, x)
	if h.overdue(now, owesWithin) {
		r.out.event(Event{Kind: EventMemoryOwed, Key: x.key,
			Detail: fmt.Sprintf("%v wanted, %v in force, %v in use by tasks", h.wanted(), h.page.InForce, h.page.Execution)})
	}
	return free
}

// shield has the kernel protect all that x was given, or take it first, where it has a limit.
func (p *pool) shield(r *roster, x *executor) {
	h := &x.memory
	now := shield{h.heap + h.overhead + h.reserved, h.yields}
	if h.seen.Limit == 0 || h.shield == now {
		return
	}
	h.shield = now
	r.out.act(Action{Kind: ActShieldMemory, Key: x.key, Memory: now.size, Yields: now.yields})
}

func (p *pool) wish(r *roster, x *executor, wanted, limit units.Bytes, now units.Instant) {
	x.memory.wished, x.memory.slow = now, false
	r.out.act(Action{Kind: ActWantMemory, Key: x.key, Memory: wanted, Limit: limit})
}

// admit decides which of the executors that are to start have to wait for others to shrink, or to be stopped.
// Where waiting would not help, since more was planned than there is, nobody waits. An executor that the Plan does not
// have was not planned: it is told of, and goes in its time.
func (p *pool) admit(r *roster) {
	if p.memory <= 0 || !slices.ContainsFunc(r.execs, toStart) {
		return
	}
	// own is of those that are promised their memory: they have it whatever others leave.
	all, own := account{room: p.memory + p.lendable}, account{room: p.memory}
	for _, x := range r.execs {
		h := &x.memory
		if holds(x) {
			all.used += h.used()
			if !h.loan.lent {
				own.used += h.used()
			}
			all.frees = all.frees || h.loan.taken
		}
		// An executor that is being stopped gives its memory back.
		if _, orphan := r.orphans[x.key.App]; present(x) && x.life.listed && !h.loan.taken && !orphan {
			all.least += h.least()
			if !h.loan.lent {
				own.least += h.least()
			}
		}
	}
	for _, x := range r.execs {
		if !toStart(x) {
			continue
		}
		need, lent := x.memory.used(), x.memory.loan.lent
		if x.memory.waits = all.short(need, lent) || !lent && own.short(need, false); x.memory.waits {
			continue
		}
		if all.used += need; !lent {
			own.used += need
		}
	}
}

// account is what executors use of so much room, and take of it once they have shrunk; frees says that one of them is
// being stopped.
type account struct {
	used, least, room units.Bytes
	frees             bool
}

// short reports whether one that needs so much is to wait: in any case, or where that helps.
func (a *account) short(need units.Bytes, anyway bool) bool {
	return a.used+need > a.room && (anyway || a.frees || a.least <= a.room)
}

// toStart reports whether x is to be started and was not yet.
func toStart(x *executor) bool { return present(x) && x.life.listed && !x.life.started }
