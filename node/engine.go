package node

import (
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// Engine is a node controller's mind: it takes Plans and Samples and returns
// what has to be done. It is synchronous, reads no clock and is not safe for
// concurrent use; Loop is its shell. The same Config, State, Plans and Samples
// give the same Actions.
type Engine struct {
	// last is the latest tick, lastSave the latest save.
	last, lastSave units.Instant
	ticked, saved  bool
	idle           int // Value of idleSlots after the latest tick.

	roster   roster
	division division
	pool     pool
	reporter reporter
	transit  transit
	stranger string             // The other planner that EventPlanForeign has told of.
	refused  string             // Why the latest Plan was refused, "" where it was not.
	faulty   map[api.AppID]bool // Applications that were left out of the latest Plan.
	state    State              // Of the latest save, used again.
}

// New returns an engine. saved is what an earlier incarnation saved last, nil if there is none. The engine goes on with
// its Plan, anchors and controllers, and takes the executors and quotas of the first Sample over as they are. It
// returns an error when cfg is not valid or saved is of another layout.
func New(cfg Config, saved *State) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.joined()
	sup, err := supervisor.New(cfg.Supervisor)
	if err != nil {
		return nil, fmt.Errorf("node configuration: %w", err)
	}
	e := &Engine{
		roster:   roster{cfg: cfg, index: make(map[Key]*executor), weights: weights{by: &cfg.Sharing.Weights}},
		division: division{sup: sup, cfg: cfg.Supervisor, rules: cfg.Sharing, capacity: newCapacity(cfg)},
		pool:     newPool(&cfg),
		reporter: newReporter(&cfg),
	}
	if saved != nil {
		if err := e.roster.restore(saved); err != nil {
			return nil, err
		}
		e.follow(saved.Plan.Division)
	}
	return e, nil
}

// Step is one tick: samples in, controllers, supervisor, quotas, starts and stops,
// status. It integrates the time since the tick before, however long. The first Step
// must come before the first Apply takes effect on running executors: until then Apply
// starts nothing.
func (e *Engine) Step(now units.Instant, s *Sample) []Action {
	r := &e.roster
	r.out.begin()
	dt := e.elapsed(now)
	r.foldFailures(s.Failures)
	e.division.capacity.observe(s.HostUsed, r.fold(now, s), dt)
	r.orphans.pass(r, now, s.Deaf)
	tellShortages(r, &e.division, dt)
	r.weights.crowd(r.execs, &e.division.capacity, now)
	for _, x := range r.execs {
		r.wake(x, now)
	}
	e.division.divide(r, now, true)
	e.pool.step(r, s, now)
	perSecond := 0.0
	if dt > 0 {
		perSecond = 1 / dt.Seconds()
	}
	for _, x := range r.execs {
		r.enforce(x, e.division.capacity.all())
		x.sample(now, perSecond)
	}
	actions := e.finish(now)
	e.idle = e.idleSlots()
	return actions
}

// NextTick returns when Step is to be called next, after now. Ticks are at slots, the multiples of the interval. The
// next one is the first one that is at least half an interval after the end of the tick before, so that after a long
// tick a slot is skipped rather than two bunched. While the engine is idle, the slots before its next status have no
// tick. Once a call of Apply or Observe has ended that, the next slot has one, which integrates the time since the tick
// before.
func (e *Engine) NextTick(ended, now units.Instant) units.Instant {
	q := units.Instant(e.roster.cfg.Interval)
	return max((ended+q/2)/q+1+units.Instant(e.idleSlots()), now/q+1) * q
}

// idleSlots returns how many slots after the latest tick need no tick: those before the
// next status on a node without executors that is to have none, where a tick finds
// nothing to do.
func (e *Engine) idleSlots() int {
	r := &e.roster
	if len(r.execs)+len(r.apps) > 0 || r.out.dirty || r.out.mustSave || r.out.changed || !e.reporter.ever {
		return 0
	}
	status := e.reporter.last.Add(r.cfg.StatusEvery).Sub(e.last)
	return max(0, int((status-1)/r.cfg.Interval))
}

// Observe takes in, between two ticks, which executors have appeared or exited
// and which actions failed, so that a change is reported at once. No meter or controller steps.
func (e *Engine) Observe(now units.Instant, s *Sample) []Action {
	e.roster.out.begin()
	if !e.ticked {
		return nil
	}
	e.roster.foldFailures(s.Failures)
	e.roster.foldStates(s)
	return e.finish(now)
}

// Events returns what has happened in the last call (and in New, after the
// first one). They are valid until the next call.
func (e *Engine) Events() []Event { return e.roster.out.events }

// Counters returns what has been counted since New.
func (e *Engine) Counters() Counters { return e.roster.out.counters }

// Capacity returns what the node could give to stages at the last tick, and
// what others used.
func (e *Engine) Capacity() (cores, others units.Cores) {
	return e.division.capacity.cores(), e.division.capacity.others
}

// Resident memory is read each residentEvery, and each lendLook where memory is lent.
const lendLook, residentEvery = 5 * time.Second, time.Minute

// ReadsMemory is how often what executors have resident is to be read.
func (e *Engine) ReadsMemory() time.Duration {
	if e.roster.plan.Lend.By == "" {
		return residentEvery
	}
	return min(lendLook, e.roster.plan.Lend.Every.Duration())
}

// Status returns what a NodeStatus would say now, as a copy that the caller may
// keep: for the hello to a planner. It takes nothing away from the next report.
func (e *Engine) Status(now units.Instant) api.NodeStatus {
	e.reporter.fill(&e.roster, e.division.capacity.others, now, false)
	e.reporter.status.Fit()
	return e.reporter.status.Clone()
}

// elapsed returns the time since the tick before, 0 at the first one, and counts
// the slots between that were not idle.
func (e *Engine) elapsed(now units.Instant) time.Duration {
	first, dt := !e.ticked, now.Sub(e.last)
	e.ticked = true
	if first || dt <= 0 {
		e.last = max(e.last, now)
		return 0
	}
	e.last = now
	if skipped := int(math.Round(float64(dt)/float64(e.roster.cfg.Interval))) - 1 - e.idle; skipped > 0 {
		e.roster.out.counters.TicksSkipped += uint64(skipped)
		e.roster.out.event(Event{Kind: EventTicksSkipped, Count: skipped})
	}
	return dt
}

// finish appends the actions that are due in their order and returns all. A Plan that
// comes before the first tick starts and stops nothing yet.
func (e *Engine) finish(now units.Instant) []Action {
	r := &e.roster
	e.pool.admit(r)
	starting, settled := false, true
	r.weights.weighEach(r.execs, now, &r.out)
	for _, x := range r.execs {
		starting = (e.ticked && r.launch(x)) || starting
		settled = settled && x.life.listed && !x.memory.loan.taken && (!x.life.launching || x.life.asked)
	}
	r.weights.weighAll(r.execs, now, &r.out)
	if r.out.mustSave || starting || (r.out.dirty && (!e.saved || now.Sub(e.lastSave) >= r.cfg.SaveEvery)) {
		e.save(now)
	}
	if e.ticked && !settled {
		r.reconcile(now)
	}
	if e.reporter.due(r, now) {
		e.reporter.report(r, e.division.capacity.others, now, false)
	}
	return r.out.actions
}

// save appends a Save of all there is to remember.
func (e *Engine) save(now units.Instant) {
	e.roster.save(&e.state)
	e.lastSave, e.saved, e.roster.out.dirty, e.roster.out.mustSave = now, true, false, false
	e.roster.out.act(Action{Kind: ActSave, State: &e.state})
}
