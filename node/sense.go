package node

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// foldFailures takes in what could not be done, and begins a new Sample.
func (r *roster) foldFailures(failures []Failure) {
	for _, x := range r.execs {
		x.life.here, x.refused = false, false
	}
	r.samples++
	for _, f := range failures {
		r.out.counters.Failures++
		x := r.index[f.Key]
		failing := &r.failing[f.Kind]
		if x != nil {
			failing = &x.failing
		}
		if failing.fail(r.samples) {
			r.out.event(Event{Kind: EventActionFailed, Key: f.Key, Count: failing.failures, Detail: f.Kind.String() + ": " +
				f.Err})
		}
		r.foldFailure(f, x)
	}
}

func (r *roster) foldFailure(f Failure, x *executor) {
	switch f.Kind {
	case ActSave:
		r.out.mustSave = true
	case ActReport:
		r.out.changed = true
	}
	if x == nil {
		if f.Kind == ActSetWeight {
			r.weights.all = sharing.Unset
		}
		return
	}
	switch f.Kind {
	case ActStart:
		r.exited(x, "start: "+f.Err, api.Unknown)
	case ActSetQuota:
		r.out.counters.QuotaFailures++
		x.refused, x.quotaKnown = true, false
	case ActSetWeight:
		x.weight = sharing.Unset
	case ActShieldMemory:
		x.memory.shield = shield{}
	}
}

// foldStates takes in which executors are there.
func (r *roster) foldStates(s *Sample) {
	here := 0
	for i := range s.Executors {
		es := &s.Executors[i]
		x := r.row(i, es.Key)
		if !x.life.here {
			here++
		}
		if r.foldState(x, es) {
			r.out.changed, r.out.dirty = true, true
		}
	}
	if here == len(r.execs) {
		return
	}
	for _, x := range r.execs {
		if !x.life.here && x.life.started && !x.life.launching && x.life.state != api.ExecutorExited {
			how := "lost: the runtime does not know it"
			if x.life.stopAsked > 0 {
				how = "stopped"
				if x.memory.loan.taken {
					how = "the memory that it was lent was taken back"
				}
			}
			r.exited(x, how, api.Unknown)
		}
	}
}

// fold takes in the whole Sample but for the machine's use, and returns what executors
// have used since the one before.
func (r *roster) fold(now units.Instant, s *Sample) (used usage) {
	r.foldStates(s)
	for i := range s.Executors {
		es := &s.Executors[i]
		x := r.rows[i]
		x.seen.good = true
		starts := x.life.state == api.ExecutorStarting
		r.foldUsage(x, es, now)
		paged := r.foldPage(x, &es.Page, now)
		x.seen.refusing = !x.seen.good
		attribute(x.records, x.atWork(), now)
		for _, c := range x.controls {
			c.spent += c.record.used
			c.meter.Spend(c.record.used)
		}
		if paged {
			r.measure(x, &es.Page)
		}
		switch {
		case x.isComponent(): // The machine's use has it, as it has that of a driver elsewhere on it.
		case x.unmanaged:
			used.watched += x.seen.delta
		case !starts || !r.beside(x.key.App):
			used.ours += x.seen.delta
		}
	}
	return used
}

// beside reports whether another application had its part in the last division.
func (r *roster) beside(id api.AppID) bool {
	return slices.ContainsFunc(r.execs, func(x *executor) bool { return x.divided && x.key.App != id })
}

// foldState takes in whether the process lives. It reports a change.
func (r *roster) foldState(x *executor, s *ExecutorSample) (changed bool) {
	x.life.here = true
	x.life.pid, x.life.refused = s.PID, s.Refused
	if !x.life.sampled {
		x.life.sampled = true
		changed = true
		if kind := EventExecutorRecovered; (r.cfg.attaches() || !x.life.launching) && !s.Exited {
			if x.life.launching {
				kind = EventExecutorFound
			}
			r.out.event(Event{Kind: kind, Key: x.key})
			x.seen.baseline = !x.seen.cpuKnown
		}
		x.life.launching, x.life.started = false, true
	}
	switch {
	case s.Exited && x.life.state != api.ExecutorExited:
		r.exited(x, s.Exit, s.ExitCode)
		changed = true
	case x.isComponent() && x.life.state == api.ExecutorStarting:
		x.life.state = api.ExecutorRunning // It has no page that would tell.
		changed = true
		r.out.event(Event{Kind: EventExecutorRunning, Key: x.key})
	}
	return changed
}

// foldUsage takes in what the executor's group has used and what is in force.
func (r *roster) foldUsage(x *executor, s *ExecutorSample, now units.Instant) {
	x.seen.delta = 0
	if !s.Measured {
		return
	}
	if x.look(s.Found) {
		r.out.changed, r.out.dirty = true, true
	}
	if s.Quota >= 0 {
		r.foldQuota(x, s.Quota, s.Writer) // It holds x whatever x has used.
	}
	if x.life.attached && s.CPU >= 0 && s.CPU < x.seen.cpu {
		x.seen.cpu = s.CPU // It was let go, and where it is counted now began with nothing.
	}
	if err := x.usageFault(s); err != nil {
		r.refuse(x, err)
		if s.CPU >= 0 && s.CPU < x.seen.cpu {
			x.seen.cpu = s.CPU // The mark for the next one.
		}
		return
	}
	if !x.seen.baseline || x.seen.cpuKnown {
		x.seen.delta = s.CPU - x.seen.cpu
	}
	x.seen.cpu, x.seen.cpuKnown, x.seen.throttled, x.seen.usageAt = s.CPU, true, s.Throttled, now
	if x.seen.delta > 0 {
		r.out.dirty = true
	}
}

// foldQuota takes in the quota in force where it is not the one written: a
// conflict, unless nothing was known of it (a restart, a failed write), when it is
// taken over.
func (r *roster) foldQuota(x *executor, inForce units.Cores, writer string) {
	if x.unmanaged {
		x.quotaKnown = true
		if x.cap.any && math.Abs(float64(x.cap.inForce-inForce)) > float64(drift) {
			x.cap.inForce = inForce // A restart, a failed write or another writer: it is written again.
		}
		return
	}
	known := x.quotaKnown
	same := x.quota == inForce || math.Abs(float64(x.quota-inForce)) <= float64(drift)
	x.quotaKnown = true
	if known && same {
		x.owner.confirm()
		return
	}
	x.quota, x.remainder = inForce, 0
	switch {
	case known && x.life.attached:
		return // Its manager's quota is its new ceiling, and control goes on below that.
	case known:
		r.contest(x, writer)
		return
	}
	if x.owner.yields && !same {
		x.owner = owner{} // A writer to which an earlier engine yielded is gone.
	}
	if x.ctl != nil && (x.refused || !inForce.IsUnlimited()) {
		x.ctl.resync = true
		if !x.refused {
			r.out.event(Event{Kind: EventQuotaTaken, Key: x.key, Detail: inForce.String() + " cores"})
		}
	}
}

// contest takes in that x's quota is somebody else's value.
func (r *roster) contest(x *executor, writer string) {
	r.out.counters.Conflicts++
	news, resync := x.owner.contest(r.cfg.Conflict, x.ctl.aimsAt())
	if news {
		r.out.event(x.contested(writer, r.cfg.Conflict))
	}
	if x.owner.yields {
		r.out.mustSave = true
	}
	if resync && x.ctl != nil {
		x.ctl.resync = true // A quota that is in force for that long is theirs.
	}
}

func (x *executor) contested(writer string, how Conflict) Event {
	ev := Event{Kind: EventQuotaConflict, Key: x.key}
	if x.ctl != nil {
		ev = x.ctl.event(EventQuotaConflict, "")
	}
	writer = cmp.Or(writer, "somebody else")
	then := "writing ours again"
	if how == Yield {
		then = "leaving it until the stage ends"
	}
	ev.Detail = fmt.Sprintf("%s cores written by %s: %s", x.quota, writer, then)
	return ev
}

// foldPage takes in a newer page, and reports whether it is one.
func (r *roster) foldPage(x *executor, p *meter.Page, now units.Instant) bool {
	for _, record := range x.records {
		record.pageDelta = 0
	}
	if p.Generation == 0 || p.At == x.seen.pageAt || x.life.state == api.ExecutorExited {
		return false
	}
	err := p.Fault(now, r.cfg.Interval)
	if p.At < x.seen.pageAt {
		err = fmt.Errorf("its page is %v older than the one before", x.seen.pageAt.Sub(p.At))
	}
	if err != nil {
		r.refuse(x, err)
		return false
	}
	if x.life.state == api.ExecutorStarting {
		x.life.state = api.ExecutorRunning
		x.seen.fresh = !x.seen.baseline
		r.out.changed, r.out.dirty = true, true
		r.out.event(Event{Kind: EventExecutorRunning, Key: x.key})
	}
	x.seen.pageAt = p.At
	for _, record := range x.records {
		record.running = 0 // A stage that left the page runs nothing.
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		x.record(s.Key).see(s, now, x.seen.baseline)
	}
	x.seen.baseline = false
	x.foldHeap(p)
	return true
}

// foldHeap takes in what a newer page tells of x's heap, after its stages.
func (x *executor) foldHeap(p *meter.Page) {
	look, tells := x.seen.heap.look(p, x.memory.heap, x.running())
	for _, record := range x.records {
		if tells && record.running > 0 {
			record.heap.add(look)
		}
	}
}

// measure has the meters of x's targets see a page that was taken in.
func (r *roster) measure(x *executor, p *meter.Page) {
	for i := range p.Stages {
		s := &p.Stages[i]
		for _, c := range x.controls {
			if c.target.StageKey != s.Key {
				continue
			}
			if why := c.meter.Observe(&c.target, s, p.Tasks, c.record.pageDelta); why != "" {
				c.resync = true
				r.out.event(c.event(EventResynchronised, why))
			}
		}
	}
}

// usageFault says what makes a reading of x's group impossible, nil if it can be
// used. A counter that has fallen belongs to another group than the one before.
func (x *executor) usageFault(s *ExecutorSample) error {
	cpu, quota := float64(s.CPU), float64(s.Quota)
	switch {
	case !(cpu >= 0 && cpu <= api.MostAmount):
		return fmt.Errorf("its CPU time is %v s", cpu)
	case !(quota >= 0):
		return fmt.Errorf("its quota is %v cores", quota)
	case x.seen.cpuKnown && s.CPU < x.seen.cpu:
		return fmt.Errorf("its CPU time fell from %v to %v s", float64(x.seen.cpu), cpu)
	}
	return nil
}

// refuse counts a sample that cannot be used and tells the first of a row.
func (r *roster) refuse(x *executor, err error) {
	r.out.counters.SamplesRefused++
	if !x.seen.refusing {
		x.seen.refusing = true
		r.out.event(Event{Kind: EventSampleRefused, Key: x.key, Detail: err.Error()})
	}
	x.seen.good = false
}
