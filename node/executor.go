package node

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// drift is the difference between the quota written and the quota read that
// is the kernel's rounding; more is somebody else's doing.
const drift = units.Cores(0.005)

// room is what an executor has room for: slots as its launch says, of which its tasks take as many as
// they use cores. So atOnce of them run side by side, each of which says that it uses taskCores.
type room struct {
	slots, atOnce int
	taskCores     units.Cores
}

// executor is what the engine knows of one executor.
type executor struct {
	key  Key
	room room
	// unmanaged says that its application's mode lets nothing be written for it but its part of a
	// cap: quota is then what would be in force.
	unmanaged bool
	// shares says that its application comes after those with a deadline that can be
	// kept, part is its class's part of what they leave.
	shares, hasDeadline bool
	part                float64
	cap                 capped
	// divided says that it had its part in the last division. free says that it has no quota: it asks for more than there
	// is, and nobody but those who share could have what a quota would withhold, or weights divide. Then place is its own,
	// else 0 for the normal one.
	divided, free bool
	place         Weight
	life          life
	seen          seen
	memory        holding

	// quota is what is in force as far as is known; remainder what rounding it
	// to the quantum has withheld.
	quota      units.Cores
	quotaKnown bool
	remainder  units.Cores
	owner      owner
	weight     Weight
	busy       units.Instant
	// failing are its failed actions; refused says that the newest Sample
	// carried a failed quota write.
	failing failureStreak
	refused bool

	records []*record
	// controls are the targets of the Plan for it; ctl is the one in force.
	controls []*control
	ctl      *control
	// charged is the record to which quota writes are counted.
	charged *record
}

// capped is what an executor has of the most that its application gets here.
type capped struct {
	// any says that there is such a cap.
	any bool
	// part is its part of that, also of what is kept for a driver; 0 without, or where a target
	// holds it.
	part units.Cores
	// inForce is the quota of one whose mode lets nothing else be written.
	inForce units.Cores
}

// life is how far an executor's process is.
type life struct {
	state api.ExecutorState
	exit  string
	code  int
	pid   int
	// listed says that the Plan lists it, started that a Start was asked for (or
	// that it was found running), launching that the Start's outcome is not known.
	listed, started, launching bool
	// asked says that the Start was emitted.
	asked bool
	// withheld says that the Plan lacks secrets to start it.
	withheld bool
	// sampled says that a Sample of this incarnation has shown it; here that the
	// newest one did.
	sampled, here bool
	stopAsked     units.Instant
	// attached says that another manager has started it: it was found, or is sought.
	attached bool
	found    Found
	// refused says that it exited for being another application's.
	refused bool
	// component is what runs in the place of an executor, nil for an executor.
	component *api.Component
}

// isComponent reports whether x runs in the place of an executor.
func (x *executor) isComponent() bool { return x.key.ID.Component() }

// seen is what Samples have shown of an executor.
type seen struct {
	cpu, delta units.Work
	cpuKnown   bool
	throttled  time.Duration
	// pageAt is when its newest page was written, stale that it is too old.
	pageAt units.Instant
	stale  bool
	// usageAt is when what its group used was last read; good says that nothing of
	// the newest Sample was refused, refusing that something of the last one was.
	usageAt        units.Instant
	good, refusing bool
	// baseline says that it was at work before anybody watched: its first
	// readings are marks, not work done.
	baseline bool
	// fresh says that its first page came in this tick.
	fresh bool
	heap  heapWatch
}

// record returns the record of the stage, made when it is new.
func (x *executor) record(key api.StageKey) *record {
	for _, r := range x.records {
		if r.key == key {
			return r
		}
	}
	if len(x.records) >= maxRecords {
		x.forget()
	}
	r := &record{key: key}
	x.records = append(x.records, r)
	return r
}

// forget drops the record that has not changed for longest, of those that
// nothing needs any more.
func (x *executor) forget() {
	oldest := -1
	for i, r := range x.records {
		needed := r.running > 0 || slices.ContainsFunc(x.controls, func(c *control) bool { return c.record == r })
		if !needed && (oldest < 0 || r.changed < x.records[oldest].changed) {
			oldest = i
		}
	}
	if oldest >= 0 {
		x.records = slices.Delete(x.records, oldest, oldest+1)
	}
}

// look takes in what was found of x, and reports whether that is news.
func (x *executor) look(f Found) bool {
	if f == x.life.found {
		return false
	}
	x.life.found = f
	x.unmanaged = x.unmanaged || f.Unpaced != ""
	return true
}

// alive reports whether its process runs as far as is known.
func (x *executor) alive() bool { return x.life.sampled && x.life.state != api.ExecutorExited }

// lingers reports whether what it did for a stage is still to be reported.
func (x *executor) lingers(now units.Instant, linger time.Duration) bool {
	return slices.ContainsFunc(x.records, func(r *record) bool { return r.changed > 0 && now.Sub(r.changed) <= linger })
}

// written is the quota in force as far as is known.
func (x *executor) written() units.Cores {
	if x.unmanaged {
		return x.cap.inForce
	}
	return x.quota
}

// running is the number of its running tasks.
func (x *executor) running() int {
	n := 0
	for _, r := range x.records {
		n += r.running
	}
	return n
}

// worked reports whether one of its tasks runs, or has since the tick before now: tasks of a short query seldom run at
// the moment of a tick.
func (x *executor) worked(now units.Instant) bool {
	return slices.ContainsFunc(x.records, func(r *record) bool { return r.running > 0 || r.active > 0 && r.active == now })
}

// target returns x's control of the stage, nil if there is none.
func (x *executor) target(key api.StageKey) *control {
	for _, c := range x.controls {
		if c.target.StageKey == key {
			return c
		}
	}
	return nil
}

// choose returns the target of x that counts: the newest one that is not done,
// should a Plan carry the end of a stage and the start of the next.
func (x *executor) choose() *control {
	for i := len(x.controls) - 1; i >= 0; i-- {
		c := x.controls[i]
		if c.ready = c.runnable(); c.ready > 0 {
			return c
		}
	}
	if len(x.controls) == 0 {
		return nil
	}
	return x.controls[len(x.controls)-1]
}

// staleness says what about x was last seen longer ago than stale, "" for nothing.
func (x *executor) staleness(now units.Instant, stale time.Duration) string {
	if age := now.Sub(x.seen.pageAt); age > stale {
		return units.FromDuration(age).String() + " old"
	}
	if age := now.Sub(x.seen.usageAt); age > stale {
		if x.seen.usageAt == 0 {
			return "its CPU time was never read"
		}
		return "its CPU time was read " + units.FromDuration(age).String() + " ago"
	}
	return ""
}

// known reports whether what runs on x is known: it is here, and has a page that is not stale.
func (x *executor) known(now units.Instant, stale time.Duration) bool {
	return x.alive() && x.life.here && x.seen.pageAt > 0 && x.staleness(now, stale) == ""
}

// atWork is the part of this tick's CPU time that may belong to stages. In the
// tick of the first page that is what tasks report: the rest went into the start
// of the JVM, and a start never counts against a stage.
func (x *executor) atWork() units.Work {
	if !x.seen.fresh {
		return x.seen.delta
	}
	x.seen.fresh = false
	var reported units.Work
	for _, r := range x.records {
		reported += r.pageDelta
	}
	return min(x.seen.delta, reported)
}

// sample keeps what this tick, of 1/perSecond seconds, looked like for every
// stage at work on x.
func (x *executor) sample(now units.Instant, perSecond float64) {
	if !x.life.here {
		return
	}
	for _, r := range x.records {
		var c *control
		if x.ctl != nil && x.ctl.record == r {
			c = x.ctl
		}
		if c == nil && r.used <= 0 && r.running == 0 {
			continue
		}
		s := r.sample(now)
		*s = api.StageSample{Grant: api.Unknown, Running: r.running, Used: units.Cores(float64(r.used) * perSecond)}
		if c != nil {
			c.sample(r, s, now)
		}
	}
}

// describe fills s, which is zero. A page that is older than stale is too old.
func (x *executor) describe(s *api.ExecutorStatus, now units.Instant, stale time.Duration) {
	s.App, s.ID, s.State, s.PID, s.CPU = x.key.App, x.key.ID, x.life.state, x.life.pid, x.seen.cpu
	s.Stale = x.life.state == api.ExecutorRunning && !x.isComponent() && now.Sub(x.seen.pageAt) > stale
	s.Quota, s.Throttled = api.Unknown, units.FromDuration(x.seen.throttled)
	s.Waiting = x.memory.waits && !x.life.started
	if x.life.state == api.ExecutorExited {
		s.Exit, s.ExitCode, s.Refused = x.life.exit, x.life.code, x.life.refused
	} else if quota := x.written(); x.quotaKnown && !quota.IsUnlimited() {
		s.Quota = quota
	}
	f := &x.life.found
	s.Ceiling, s.Unguarded, s.Unpaced = f.Ceiling, f.Unguarded, cmp.Or(f.Unpaced, f.Page)
	if x.memory.news(now, x.life.state == api.ExecutorExited) {
		s.Memory = x.memory.describe()
	}
	s.Lent, s.Taken = x.memory.loan.lent, x.memory.loan.taken
}
