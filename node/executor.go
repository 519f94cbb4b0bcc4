package node

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const (
	// stopAgain is when a stop that had no effect is asked for again.
	stopAgain = 10 * time.Second
	// restBeforeLow is how long an executor without a stage keeps its normal
	// weight: the next stage usually comes at once.
	restBeforeLow = 2 * time.Second
	// drift is the difference between the quota written and the quota read that
	// is the kernel's rounding; more is somebody else's doing.
	drift = units.Cores(0.005)
)

// executor is what the engine knows of one executor.
type executor struct {
	key   Key
	slots int
	state api.ExecutorState
	exit  string
	code  int
	pid   int

	// listed says that the Plan lists it, started that a Start was asked for (or
	// that it was found running), launching that the Start's outcome is not known.
	listed, started, launching bool
	// asked says that the Start was emitted.
	asked bool
	// handsOff says that its application's mode lets nothing be written for it:
	// quota is then what would be in force.
	handsOff bool
	// sampled says that a Sample of this incarnation has shown it; here that the
	// newest one did.
	sampled, here bool
	stopAsked     units.Instant

	cpu, delta units.Work
	cpuKnown   bool
	throttled  time.Duration

	// quota is what is in force as far as is known; remainder what rounding it
	// to the quantum has withheld.
	quota      units.Cores
	quotaKnown bool
	remainder  units.Cores
	conflict   conflict
	weight     Weight
	busy       units.Instant
	// failing are its failed actions; refused says that the newest Sample
	// carried a failed quota write.
	failing streak
	refused bool

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

	records []*record
	// controls are the targets of the Plan for it; ctl is the one in force.
	controls []*control
	ctl      *control
	// charged is the record to which quota writes are counted.
	charged *record
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

// alive reports whether its process runs as far as is known.
func (x *executor) alive() bool { return x.sampled && x.state != api.ExecutorExited }

// lingers reports whether what it did for a stage is still to be reported.
func (x *executor) lingers(now units.Instant, linger time.Duration) bool {
	return slices.ContainsFunc(x.records, func(r *record) bool { return r.changed > 0 && now.Sub(r.changed) <= linger })
}

// running is the number of its running tasks.
func (x *executor) running() int {
	n := 0
	for _, r := range x.records {
		n += r.running
	}
	return n
}

// foldState takes in whether the process lives. It reports a change.
func (e *Engine) foldState(x *executor, s *ExecutorSample) (changed bool) {
	x.here = true
	x.pid = s.PID
	if !x.sampled {
		x.sampled = true
		changed = true
		if !x.launching && !s.Exited {
			e.event(Event{Kind: EventExecutorRecovered, Key: x.key})
			x.baseline = !x.cpuKnown
		}
		x.launching, x.started = false, true
	}
	if s.Exited && x.state != api.ExecutorExited {
		e.exited(x, s.Exit, s.ExitCode)
		changed = true
	}
	return changed
}

// exited marks x as gone and takes its stages out of control.
func (e *Engine) exited(x *executor, how string, code int) {
	x.state, x.exit, x.code = api.ExecutorExited, how, code
	x.launching = false
	for _, r := range x.records {
		r.running = 0
	}
	for _, c := range x.controls {
		e.unbind(c, "the executor exited")
	}
	x.controls, x.ctl = nil, nil
	e.event(Event{Kind: EventExecutorExited, Key: x.key, Detail: how})
	e.changed, e.dirty = true, true
}

// foldUsage takes in what the executor's group has used and what is in force.
func (e *Engine) foldUsage(x *executor, s *ExecutorSample, now units.Instant) {
	x.delta = 0
	if !s.Measured {
		return
	}
	if err := x.usageFault(s); err != nil {
		e.refuse(x, err)
		if s.CPU >= 0 && s.CPU < x.cpu {
			x.cpu = s.CPU // The mark for the next one.
		}
		return
	}
	if !x.baseline || x.cpuKnown {
		x.delta = s.CPU - x.cpu
	}
	x.cpu, x.cpuKnown, x.throttled, x.usageAt = s.CPU, true, s.Throttled, now
	if x.delta > 0 {
		e.dirty = true
	}
	e.foldQuota(x, s.Quota, s.Writer)
}

// atWork is the part of this tick's CPU time that may belong to stages. In the
// tick of the first page that is what tasks report: the rest went into the start
// of the JVM, and a start never counts against a stage.
func (x *executor) atWork() units.Work {
	if !x.fresh {
		return x.delta
	}
	x.fresh = false
	var reported units.Work
	for _, r := range x.records {
		reported += r.pageDelta
	}
	return min(x.delta, reported)
}

// foldQuota takes in the quota in force where it is not the one written: a
// conflict, unless nothing was known of it (a restart, a failed write), when it is
// taken over.
func (e *Engine) foldQuota(x *executor, inForce units.Cores, writer string) {
	if x.handsOff {
		x.quotaKnown = true
		return
	}
	known := x.quotaKnown
	same := x.quota == inForce || math.Abs(float64(x.quota-inForce)) <= float64(drift)
	x.quotaKnown = true
	if known && same {
		x.conflict.rest()
		return
	}
	x.quota, x.remainder = inForce, 0
	if known {
		e.contest(x, writer)
		return
	}
	if x.conflict.yields && !same {
		x.conflict = conflict{} // What an earlier engine yielded to is gone.
	}
	if x.ctl != nil && (x.refused || !inForce.IsUnlimited()) {
		x.ctl.resync = true
		if !x.refused {
			e.event(Event{Kind: EventQuotaTaken, Key: x.key, Detail: inForce.String() + " cores"})
		}
	}
}

// foldPage takes in a newer page, and reports whether it is one.
func (e *Engine) foldPage(x *executor, p *Page, now units.Instant) bool {
	for _, r := range x.records {
		r.pageDelta = 0
	}
	if p.Generation == 0 || p.At == x.pageAt || x.state == api.ExecutorExited {
		return false
	}
	err := p.fault(now, e.cfg.Interval)
	if p.At < x.pageAt {
		err = fmt.Errorf("its page is %v older than the one before", x.pageAt.Sub(p.At))
	}
	if err != nil {
		e.refuse(x, err)
		return false
	}
	if x.state == api.ExecutorStarting {
		x.state = api.ExecutorRunning
		x.fresh = !x.baseline
		e.changed, e.dirty = true, true
		e.event(Event{Kind: EventExecutorRunning, Key: x.key})
	}
	x.pageAt = p.At
	for _, r := range x.records {
		r.running = 0 // A stage that left the page runs nothing.
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		x.record(s.Key).see(s, now, x.baseline)
	}
	x.baseline = false
	return true
}

// measure has the meters of x's targets see a page that was taken in.
func (e *Engine) measure(x *executor, p *Page) {
	for i := range p.Stages {
		s := &p.Stages[i]
		for _, c := range x.controls {
			if c.target.StageKey != s.Key {
				continue
			}
			if why := c.meter.observe(&c.target, s, p.Tasks, c.record.pageDelta); why != "" {
				c.resync = true
				e.event(c.event(EventResynchronised, why))
			}
		}
	}
}

// foldWeight decides the weight: low for an executor that has neither a target
// nor running tasks, and has had none for a while; and for one that is stopped: its
// driver may be about to exit, with a deadline to keep.
func (e *Engine) foldWeight(x *executor, now units.Instant) Weight {
	if !x.listed {
		return WeightLow
	}
	if len(x.controls) > 0 || x.running() > 0 {
		x.busy = now
		return WeightNormal
	}
	if x.busy > 0 && x.weight == WeightNormal && now.Sub(x.busy) < restBeforeLow {
		return WeightNormal
	}
	return WeightLow
}
