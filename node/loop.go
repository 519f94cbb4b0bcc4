package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/async"
	"github.com/sparkpacer/pacer/units"
)

// stopWithin bounds how long executors are given to stop when the loop ends.
const stopWithin = 4 * time.Second

// Loop is the one goroutine around an Engine. Offer, Wake, Status, Configure and LastTick
// may be called from any goroutine.
type Loop struct {
	engine *Engine
	ports  Ports
	ending Ending
	every  time.Duration

	plans chan api.Plan // Of one, newest wins.
	wakes chan struct{} // Of one.
	asks  chan chan api.NodeStatus
	turns chan configuring
	ended chan struct{}
	last  atomic.Int64

	// Work that takes long, and how it has ended.
	jobs     async.Jobs[Key]
	saves    *async.Latest[State]
	reports  *async.Latest[api.NodeStatus]
	outcomes async.Results[outcome]

	// The rest belongs to Run's goroutine.
	saved     async.Ticket // Of the latest save.
	processes []Process
	sample    Sample
	usage     Usage
	failures  []Failure
	stopping  context.Context
	late      bool
}

// outcome is how an action that took long has ended; err is nil when it did what it should.
type outcome struct {
	kind ActionKind
	key  Key
	err  error
}

// configuring is another configuration, and who waits for what becomes of it.
type configuring struct {
	cfg  Config
	done chan error
}

// NewLoop returns a loop that has not started. ending says what becomes of the
// executors when Run's context ends.
func NewLoop(engine *Engine, ports Ports, ending Ending) *Loop {
	l := &Loop{
		engine: engine, ports: ports, ending: ending, every: engine.roster.cfg.Interval,
		plans: make(chan api.Plan, 1), wakes: make(chan struct{}, 1),
		asks: make(chan chan api.NodeStatus), turns: make(chan configuring), ended: make(chan struct{}),
	}
	l.saves = async.NewLatest(func(s *State) { l.keepOutcome(ActSave, ports.Store.SaveState(s)) }, (*State).copyFrom)
	l.reports = async.NewLatest(func(s *api.NodeStatus) {
		l.keepOutcome(ActReport, ports.Status.PublishStatus(s))
	}, (*api.NodeStatus).CopyFrom)
	return l
}

// Offer hands a Plan to the loop, which applies it at once. It never blocks; of
// two of one planner that wait the one with the greater epoch wins, of two planners'
// the later one: a planner whose Plan is not followed sends it again.
func (l *Loop) Offer(p api.Plan) {
	for {
		select {
		case l.plans <- p:
			return
		default:
		}
		select {
		case waiting := <-l.plans:
			if waiting.Planner == p.Planner && waiting.Epoch > p.Epoch {
				p = waiting
			}
		default:
		}
	}
}

// Wake tells the loop that an executor has changed state. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wakes <- struct{}{}:
	default:
	}
}

// LastTick is when the last tick ended, on Ports.Clock; 0 before the first. A
// loop whose last tick is several intervals old is stalled.
func (l *Loop) LastTick() units.Instant { return units.Instant(l.last.Load()) }

// Status returns what a NodeStatus would say now: for the hello to a planner.
func (l *Loop) Status(ctx context.Context) (api.NodeStatus, error) {
	answer := make(chan api.NodeStatus, 1)
	select {
	case l.asks <- answer:
		return <-answer, nil
	case <-l.ended:
		return api.NodeStatus{}, errors.New("node status: the loop has ended")
	case <-ctx.Done():
		return api.NodeStatus{}, fmt.Errorf("node status: %w", ctx.Err())
	}
}

// Configure has the engine go by another configuration (Engine.Configure) and returns what is
// wrong with it.
func (l *Loop) Configure(ctx context.Context, cfg Config) error {
	c := configuring{cfg: cfg, done: make(chan error, 1)}
	select {
	case l.turns <- c:
		return <-c.done
	case <-l.ended:
		return errors.New("node configuration: the loop has ended")
	case <-ctx.Done():
		return fmt.Errorf("node configuration: %w", ctx.Err())
	}
}

// Run works until ctx ends, then carries out the engine's last actions, waits
// for all it has started and returns what of that failed. It may be called once.
func (l *Loop) Run(ctx context.Context) error {
	defer close(l.ended)
	stopping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	l.stopping = stopping

	l.tick(ctx)
	ended := l.ports.Clock()
	slot := l.engine.NextTick(ended, ended)
	timer := time.NewTimer(slot.Sub(ended))
	defer timer.Stop()
	for {
		now := l.ports.Clock()
		if at := l.engine.NextTick(ended, now); at < slot {
			slot = at // A Plan or an executor has ended the idle time.
			timer.Reset(slot.Sub(now))
		}
		select {
		case <-ctx.Done():
			return l.shutdown(ctx, cancel)
		case <-timer.C:
			l.slot(ctx, slot)
			ended = l.ports.Clock()
			slot = l.engine.NextTick(ended, ended)
			timer.Reset(slot.Sub(ended))
		case p := <-l.plans:
			now := l.ports.Clock()
			actions := l.engine.Apply(now, p)
			l.told(Call{Kind: CallApply, Now: now, Plan: &p, Actions: actions})
			l.perform(ctx, actions)
		case <-l.wakes:
			l.readProcesses()
			now := l.ports.Clock()
			actions := l.engine.Observe(now, &l.sample)
			l.told(Call{Kind: CallObserve, Now: now, Sample: &l.sample, Actions: actions})
			l.perform(ctx, actions)
		case c := <-l.turns:
			now := l.ports.Clock()
			actions, err := l.engine.Configure(now, c.cfg)
			if err == nil {
				l.told(Call{Kind: CallConfigure, Now: now, Config: &c.cfg, Actions: actions})
			}
			l.perform(ctx, actions)
			c.done <- err
		case answer := <-l.asks:
			now := l.ports.Clock()
			status := l.engine.Status(now)
			l.told(Call{Kind: CallStatus, Now: now})
			answer <- status
		}
	}
}

// told tells of a call of the engine, whose events it adds; a status has none.
func (l *Loop) told(c Call) {
	if l.ports.Calls == nil {
		return
	}
	if c.Kind != CallStatus {
		c.Events = l.engine.Events()
	}
	l.ports.Calls(c)
}

// slot ticks unless it comes more than half an interval late; the engine counts
// what is skipped and the next tick integrates it. Two slots in a row are not
// skipped: a machine that is always late is still controlled.
func (l *Loop) slot(ctx context.Context, slot units.Instant) {
	l.late = !l.late && l.ports.Clock().Sub(slot) > l.every/2
	if !l.late {
		l.tick(ctx)
	}
}

func (l *Loop) tick(ctx context.Context) {
	l.readProcesses()
	l.readGroups()
	now := l.ports.Clock()
	actions := l.engine.Step(now, &l.sample)
	l.told(Call{Kind: CallStep, Now: now, Sample: &l.sample, Actions: actions})
	l.perform(ctx, actions)
	l.last.Store(int64(l.ports.Clock()))
}

// readProcesses fills the sample with who is there and what has failed.
func (l *Loop) readProcesses() {
	for _, r := range l.outcomes.Take() {
		if r.err != nil {
			l.fail(r.kind, r.key, r.err)
		} else if r.kind == ActStop {
			l.ports.Pages.Forget(r.key)
		}
	}
	l.sample.Failures = append(l.sample.Failures[:0], l.failures...)
	l.failures = l.failures[:0]

	l.processes = l.ports.Runtime.List(l.processes[:0])
	// Growing keeps the pages' slices of the entries that are there.
	n := len(l.processes)
	for cap(l.sample.Executors) < n {
		l.sample.Executors = append(l.sample.Executors[:cap(l.sample.Executors)], ExecutorSample{})
	}
	l.sample.Executors = l.sample.Executors[:n]
	for i, p := range l.processes {
		s := &l.sample.Executors[i]
		s.Key, s.PID, s.Exited, s.Exit, s.ExitCode, s.Refused = p.Key, p.PID, p.Exited, p.Exit, p.ExitCode, p.Refused
		s.Measured = false
	}
}

// readGroups completes the sample with what a tick needs.
func (l *Loop) readGroups() {
	l.sample.HostUsed, l.sample.Deaf = 0, l.ports.Deaf != nil && l.ports.Deaf()
	if l.ports.Host != nil {
		if used, err := l.ports.Host(); err == nil {
			l.sample.HostUsed = used
		}
	}
	for i := range l.sample.Executors {
		s := &l.sample.Executors[i]
		if l.ports.Memory != nil {
			if err := l.ports.Memory.ReadMemory(s.Key, l.engine.ReadsMemory(), &s.Memory); err != nil && !s.Exited {
				l.fail(ActMeasure, s.Key, err)
			}
		}
		if err := l.ports.Quotas.Read(s.Key, &l.usage); err == nil {
			s.Measured, s.CPU, s.Throttled, s.Quota, s.Writer, s.Found = true, l.usage.CPU, l.usage.Throttled,
				l.usage.Quota, l.usage.Writer, l.usage.Found
		} else if !s.Exited {
			l.fail(ActMeasure, s.Key, err)
		}
		if err := l.ports.Pages.Read(s.Key, &s.Page); err != nil {
			s.Page.Generation = 0
		}
	}
}

// fail keeps a failure for the next sample.
func (l *Loop) fail(kind ActionKind, key Key, err error) {
	l.failures = append(l.failures, Failure{Kind: kind, Key: key, Err: err.Error()})
}

// perform tells the events of the engine's last call and carries out its
// actions in their order.
func (l *Loop) perform(ctx context.Context, actions []Action) {
	if l.ports.Events != nil {
		for _, e := range l.engine.Events() {
			l.ports.Events(e)
		}
	}
	for i := range actions {
		a := &actions[i]
		if err := l.act(ctx, a); err != nil {
			l.fail(a.Kind, a.Key, err)
		}
	}
}

func (l *Loop) act(ctx context.Context, a *Action) error {
	switch a.Kind {
	case ActSetQuota:
		return l.ports.Quotas.SetQuota(a.Key, a.Cores)
	case ActSetWeight:
		return l.ports.Quotas.SetWeight(a.Key, a.Weight)
	case ActWantMemory:
		return l.ports.Memory.Want(a.Key, a.Memory, a.Limit)
	case ActSetMemoryLimit:
		return l.ports.Memory.Limit(a.Key, a.Limit)
	case ActShieldMemory:
		return l.ports.Memory.Shield(a.Key, a.Memory, a.Yields)
	case ActSave:
		l.saved = l.saves.Offer(a.State)
	case ActReport:
		l.reports.Offer(a.Status)
	case ActStart:
		// An executor that runs must be remembered: a start waits for the save, a tick never does.
		key, launch, lent, component, saved := a.Key, *a.Launch, a.Lent, a.Component, l.saved
		l.job(ActStart, key, func() error {
			l.saves.Await(saved)
			if component == nil {
				return l.ports.Runtime.Start(ctx, key, launch, lent)
			}
			if l.ports.Components == nil {
				return api.Errorf(api.KindInvalid, "this node starts no drivers")
			}
			return l.ports.Components.StartComponent(ctx, key, launch, *component)
		})
	case ActStop:
		key := a.Key
		l.job(ActStop, key, func() error { return l.ports.Runtime.Stop(l.stopping, key) })
	}
	return nil
}

// keepOutcome keeps how a save or a report has ended for the next sample, if it failed.
func (l *Loop) keepOutcome(kind ActionKind, err error) {
	if err != nil {
		l.outcomes.Add(outcome{kind: kind, err: err})
	}
}

// job runs f beside the loop and wakes the loop when it is done.
func (l *Loop) job(kind ActionKind, key Key, f func() error) {
	l.jobs.Run(key, func() {
		l.outcomes.Add(outcome{kind, key, f()})
		l.Wake()
	})
}

// shutdown ends the loop's work within stopWithin.
func (l *Loop) shutdown(ctx context.Context, cancel context.CancelFunc) error {
	l.failures = l.failures[:0]
	l.failed(ActStop) // Of earlier failures only executors that are left running matter.
	now := l.ports.Clock()
	actions := l.engine.Shutdown(now, l.ending)
	l.told(Call{Kind: CallShutdown, Now: now, Ending: l.ending, Actions: actions})
	l.perform(ctx, actions)
	limit := time.AfterFunc(stopWithin, cancel)
	defer limit.Stop()
	l.jobs.Wait()
	l.saves.Wait()
	l.reports.Wait()
	l.failed(ActStop, ActSave, ActReport)
	var faults []error
	for _, f := range l.failures {
		faults = append(faults, fmt.Errorf("node shutdown: %s %s: %s", f.Kind, f.Key, f.Err))
	}
	return errors.Join(faults...)
}

// failed keeps the failures of those kinds and drops the other outcomes.
func (l *Loop) failed(kinds ...ActionKind) {
	for _, o := range l.outcomes.Take() {
		if o.err != nil && slices.Contains(kinds, o.kind) {
			l.fail(o.kind, o.key, o.err)
		}
	}
}
