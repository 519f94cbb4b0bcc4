package node

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
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
	// What every tick touches comes first and together, what it mostly does not last: a
	// node's memory is cold when its tick comes, and there may be thousands in a world.

	// last is the latest tick, lastStatus and lastSave the latest effects.
	last, lastStatus, lastSave units.Instant
	ticked, reported, saved    bool
	// changed asks for a status at once; dirty says that State has changed since
	// it was saved, mustSave that it has to be saved now.
	changed, dirty, mustSave bool
	// keepEvents keeps those of New for the first call.
	keepEvents bool
	rested     int    // What Rest was after the latest tick.
	samples    uint64 // How many have come.
	capacity   capacity
	apps       []*app
	execs      []*executor // In order of Key.

	// What a call returns, and its scratch: reused from call to call.
	actions []Action
	events  []Event
	active  []*control
	groups  []supervisor.App
	stages  []supervisor.Stage
	grants  []units.Cores
	rows    []*executor
	status  api.NodeStatus

	plan     api.Plan
	transit  transit
	stranger string // The other planner that EventPlanForeign has told of.
	cfg      Config
	sup      *supervisor.Supervisor
	index    map[Key]*executor
	counters Counters
	failing  [len(actionNames)]streak
	state    State
}

// app is an application of the Plan in force.
type app struct {
	plan     *api.PlanApp
	deadline units.Instant
	controls []*control // In order of stage, attempt and executor.
}

// New returns an engine. saved is what an earlier incarnation saved last, nil if
// there is none: the engine goes on with its Plan, anchors and controllers, and
// takes the executors and quotas of the first Sample over as they are. It
// returns an error when cfg is not valid or saved is of a newer layout.
func New(cfg Config, saved *State) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.joined()
	sup, err := supervisor.New(cfg.Supervisor)
	if err != nil {
		return nil, fmt.Errorf("node configuration: %w", err)
	}
	e := &Engine{cfg: cfg, sup: sup, capacity: newCapacity(cfg), index: make(map[Key]*executor),
		status: api.NodeStatus{V: api.Version, Node: cfg.Node, Incarnation: cfg.Incarnation, Release: cfg.Release, Host: cfg.Host,
			Offered: cfg.Offered, Total: cfg.Total, Memory: cfg.Memory}}
	if saved != nil {
		if err := e.restore(saved); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Step is one tick, in the order of design section 4: samples in, controllers,
// supervisor, actions, re-synchronisation, status. It integrates the time since
// the tick before, however long. The first Step must come before the first
// Apply takes effect on running executors: until then Apply starts nothing.
func (e *Engine) Step(now units.Instant, s *Sample) []Action {
	e.begin()
	dt := e.elapsed(now)
	e.foldFailures(s.Failures)
	e.fold(now, s, dt)
	limit, perSecond := e.divide(now, true), 0.0
	if dt > 0 {
		perSecond = 1 / dt.Seconds()
	}
	for _, x := range e.execs {
		e.enforce(x, limit)
		x.sampleStages(now, perSecond)
	}
	actions := e.finish(now)
	e.rested = e.rest()
	return actions
}

// NextTick returns when Step is to be called next, after now. Ticks are at slots, the
// multiples of the interval: the first one that is at least half an interval after the
// end of the tick before, so that after a long tick a slot is skipped rather than two
// bunched. While the engine rests, the slots before its next status have no tick; once
// a call of Apply or Observe has ended the rest, the next slot has one, which
// integrates the time since the tick before.
func (e *Engine) NextTick(ended, now units.Instant) units.Instant {
	q := units.Instant(e.cfg.Interval)
	return max((ended+q/2)/q+1+units.Instant(e.rest()), now/q+1) * q
}

// rest returns how many slots after the latest tick need no tick: those before the
// next status on a node without executors that is to have none, where a tick finds
// nothing to do.
func (e *Engine) rest() int {
	if len(e.execs)+len(e.apps) > 0 || e.dirty || e.mustSave || e.changed || !e.reported {
		return 0
	}
	status := e.lastStatus.Add(e.cfg.StatusEvery).Sub(e.last)
	return max(0, int((status-1)/e.cfg.Interval))
}

// Observe takes in, between two ticks, which executors have appeared or exited
// and which actions failed, so that a change is reported at once. Nothing is
// measured or controlled.
func (e *Engine) Observe(now units.Instant, s *Sample) []Action {
	e.begin()
	if !e.ticked {
		return nil
	}
	e.foldFailures(s.Failures)
	e.foldStates(s)
	return e.finish(now)
}

// Events returns what has happened in the last call (and in New, after the
// first one). They are valid until the next call.
func (e *Engine) Events() []Event { return e.events }

// Counters returns what has been counted since New.
func (e *Engine) Counters() Counters { return e.counters }

// Capacity returns what the node could give to stages at the last tick, and
// what others used.
func (e *Engine) Capacity() (cores, others units.Cores) {
	return e.capacity.cores(), e.capacity.others
}

func (e *Engine) begin() {
	e.actions = e.actions[:0]
	if !e.keepEvents {
		e.events = e.events[:0]
	}
	e.keepEvents = false
}

func (e *Engine) event(ev Event) { e.events = append(e.events, ev) }

// elapsed returns the time since the tick before, 0 at the first one, and counts
// the slots between that were no rest.
func (e *Engine) elapsed(now units.Instant) time.Duration {
	first, dt := !e.ticked, now.Sub(e.last)
	e.ticked = true
	if first || dt <= 0 {
		e.last = max(e.last, now)
		return 0
	}
	e.last = now
	if skipped := int(math.Round(float64(dt)/float64(e.cfg.Interval))) - 1 - e.rested; skipped > 0 {
		e.counters.TicksSkipped += uint64(skipped)
		e.event(Event{Kind: EventTicksSkipped, Count: skipped})
	}
	return dt
}

// calmAfter is after how many Samples without a failure a failure is news again.
const calmAfter = 10

// streak counts failures that come again and again.
type streak struct {
	failures int
	last     uint64 // The number of the Sample that told the latest.
}

// fail takes in a failure that the Sample of that number tells and reports whether
// it is worth saying: the 1st, 2nd, 4th, 8th ... of a streak is.
func (s *streak) fail(sample uint64) bool {
	if sample-s.last > calmAfter {
		s.failures = 0
	}
	s.failures++
	s.last = sample
	return bits.OnesCount(uint(s.failures)) == 1
}

// foldFailures takes in what could not be done, and begins a new Sample.
func (e *Engine) foldFailures(failures []Failure) {
	for _, x := range e.execs {
		x.here, x.refused = false, false
	}
	e.samples++
	for _, f := range failures {
		e.counters.Failures++
		x := e.index[f.Key]
		failing := &e.failing[f.Kind]
		if x != nil {
			failing = &x.failing
		}
		if failing.fail(e.samples) {
			e.event(Event{Kind: EventActionFailed, Key: f.Key, Count: failing.failures, Detail: f.Kind.String() + ": " + f.Err})
		}
		e.foldFailure(f, x)
	}
}

func (e *Engine) foldFailure(f Failure, x *executor) {
	switch f.Kind {
	case ActSave:
		e.mustSave = true
	case ActReport:
		e.reported = false
	}
	if x == nil {
		return
	}
	switch f.Kind {
	case ActStart:
		e.exited(x, "start: "+f.Err, api.Unknown)
	case ActSetQuota:
		e.counters.QuotaFailures++
		x.refused, x.quotaKnown = true, false
	case ActSetWeight:
		x.weight = WeightUnset
	}
}

// foldStates takes in which executors are there.
func (e *Engine) foldStates(s *Sample) {
	here := 0
	for i := range s.Executors {
		es := &s.Executors[i]
		x := e.row(i, es.Key)
		if !x.here {
			here++
		}
		if e.foldState(x, es) {
			e.changed, e.dirty = true, true
		}
	}
	if here == len(e.execs) {
		return
	}
	for _, x := range e.execs {
		if !x.here && x.started && !x.launching && x.state != api.ExecutorExited {
			how := "lost: the runtime does not know it"
			if x.stopAsked > 0 {
				how = "stopped"
			}
			e.exited(x, how, api.Unknown)
		}
	}
}

// row returns the executor of a Sample's i-th entry, made when it is new.
// Samples mostly come in the same order, so the last one's rows are tried first.
func (e *Engine) row(i int, key Key) *executor {
	if i < len(e.rows) && e.rows[i].key == key {
		return e.rows[i]
	}
	x := e.ensure(key)
	e.rows = append(e.rows[:i], x)
	return x
}

// fold takes in the whole Sample.
func (e *Engine) fold(now units.Instant, s *Sample, dt time.Duration) {
	e.foldStates(s)
	var ours units.Work
	for i := range s.Executors {
		es := &s.Executors[i]
		x := e.rows[i]
		x.good = true
		e.foldUsage(x, es, now)
		paged := e.foldPage(x, &es.Page, now)
		x.refusing = !x.good
		attribute(x.records, x.atWork(), now)
		for _, c := range x.controls {
			c.spent += c.record.used
			c.meter.elsewhere.spent += c.record.used
		}
		if paged {
			e.measure(x, &es.Page)
		}
		ours += x.delta
	}
	e.capacity.observe(s.HostUsed, ours, dt)
	for _, x := range e.execs {
		e.wake(x, now)
	}
}

// ensure returns the executor of the key, made when it is new.
func (e *Engine) ensure(key Key) *executor {
	if x := e.index[key]; x != nil {
		return x
	}
	x := &executor{key: key, state: api.ExecutorStarting, code: api.Unknown, quota: units.Unlimited}
	x.slots = e.slots(0)
	at, _ := slices.BinarySearchFunc(e.execs, key, func(x *executor, k Key) int { return x.key.Compare(k) })
	e.execs = slices.Insert(e.execs, at, x)
	e.index[key] = x
	return x
}

// slots is how many tasks an executor runs side by side: what its launch says,
// 0 meaning all the cores offered.
func (e *Engine) slots(launch int) int {
	if launch > 0 {
		return launch
	}
	return int(math.Ceil(float64(e.cfg.Offered)))
}

// finish appends the actions that are due in their order and returns all.
func (e *Engine) finish(now units.Instant) []Action {
	starting, settled := false, true
	for _, x := range e.execs {
		e.weigh(x, now)
		starting = e.launch(x) || starting
		settled = settled && x.listed && (!x.launching || x.asked)
	}
	if e.mustSave || starting || (e.dirty && (!e.saved || now.Sub(e.lastSave) >= e.cfg.SaveEvery)) {
		e.save(now)
	}
	if !settled {
		e.reconcile(now)
	}
	if e.changed || !e.reported || now.Sub(e.lastStatus) >= e.cfg.StatusEvery {
		e.report(now, false)
	}
	return e.actions
}

// weigh sets x's weight if it runs.
func (e *Engine) weigh(x *executor, now units.Instant) {
	if !x.alive() || !x.here || x.handsOff {
		return
	}
	if w := e.foldWeight(x, now); w != x.weight {
		x.weight = w
		e.actions = append(e.actions, Action{Kind: ActSetWeight, Key: x.key, Weight: w})
	}
}

// launch marks x if it has to be started: each listed executor once.
func (e *Engine) launch(x *executor) bool {
	if !e.ticked || !x.listed || x.started {
		return false
	}
	x.started, x.launching = true, true
	return true
}

// reconcile appends the starts that launch marked and the stops of what the
// Plan does not list, and forgets what is gone. A node that never had a Plan
// stops nothing.
func (e *Engine) reconcile(now units.Instant) {
	if !e.ticked || e.plan.Epoch == 0 {
		return
	}
	e.execs = slices.DeleteFunc(e.execs, func(x *executor) bool {
		if !x.listed {
			return e.dismiss(x, now)
		}
		if x.launching && !x.asked {
			x.asked = true
			e.changed = true
			e.actions = append(e.actions, Action{Kind: ActStart, Key: x.key, Launch: e.launchOf(x.key.App)})
		}
		return false
	})
}

// dismiss stops an executor that the Plan does not list. It reports whether it
// is gone and all about it has been told.
func (e *Engine) dismiss(x *executor, now units.Instant) (forget bool) {
	again := x.stopAsked == 0 || now.Sub(x.stopAsked) >= stopAgain
	switch {
	case !x.here && (!x.launching || (again && x.stopAsked > 0)):
		if x.lingers(now, e.cfg.Linger) {
			return false
		}
		delete(e.index, x.key)
		e.rows = e.rows[:0]
		e.changed, e.dirty = true, true
		return true
	case again:
		x.stopAsked = now
		e.actions = append(e.actions, Action{Kind: ActStop, Key: x.key})
	}
	return false
}

func (e *Engine) launchOf(id api.AppID) *api.Launch {
	for _, a := range e.apps {
		if a.plan.ID == id {
			return &a.plan.Launch
		}
	}
	return nil
}
