package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// How long the daemons take for things that are no part of a tick.
const (
	launchTime = 30 * time.Millisecond // Until an executor's process exists.
	stopTime   = 100 * time.Millisecond
	helloAgain = time.Second
	noticeExit = 5 * time.Millisecond // Until the node controller is woken.
)

// agent is the shell around a node's engine: what node.Loop, the runtime, the
// cgroups and the pages are to the daemon.
//
// Machine and link are parts of it and what every tick touches comes first: with
// thousands of nodes each one's memory is cold when its tick comes.
type agent struct {
	tick   des.Timer
	w      *World
	engine *node.Engine
	m      plant.Machine
	link   des.Link
	sample node.Sample
	failed []node.Failure
	ended  units.Instant // When the latest tick ended, on its clock.
	ticks  uint64
	// follows is the Plan in force; settled and capacity are how things
	// were after the last call: its quotas are written.
	follows  planKey
	capacity units.Cores
	settled  bool
	seen     nodeSeen
	ills     ills
	greeted  bool
	// draining says that it is to have no executors.
	draining bool
	starting units.Bytes // What executors that are being started take.
	full     units.Bytes // What it gave at the beginning.
	wake     des.Timer
	greeting des.Timer
	starts   int
	saved    []byte
	cfg      node.Config
	rates    api.NodeRates
	lodgers  lodgers
}

// ills are what is wrong with a node.
type ills struct {
	refusing bool // Quotas cannot be written.
	garbled  bool // Samples are wrong.
	gone     bool // It has no power.
	poisons  int  // Statuses to come that are followed by a mutated one.
}

func (w *World) newAgent(id uint64, spec NodeSpec) *agent {
	spec.Offered, spec.Memory, spec.Speed = cmp.Or(spec.Offered, spec.Cores), cmp.Or(spec.Memory, 112*units.GiB),
		cmp.Or(spec.Speed, 1)
	a := &agent{w: w, cfg: w.cfg.Node, link: w.net.Link(),
		m: plant.Machine{Plant: w.plant, Name: spec.Name, ID: id, Cores: float64(spec.Cores), Speed: spec.Speed,
			Others: float64(spec.Others), Rates: [2]float64{float64(spec.Rates.Disk), float64(spec.Rates.Network)}},
		rates: spec.Rates}
	a.cfg.Node, a.cfg.Host, a.cfg.Boot = spec.Name, spec.Name, a.m.Boot()
	a.cfg.Total, a.cfg.Offered, a.cfg.Memory = spec.Cores, spec.Offered, spec.Memory
	a.full = spec.Memory
	if spec.Attach {
		a.cfg.Hosts = []string{spec.Name}
		w.plant.Managed = append(w.plant.Managed, &a.m)
	}
	a.tick = des.NewTimer(rankNode, id, a)
	a.wake = des.NewTimer(rankNode, id, a)
	a.greeting = des.NewTimer(rankNode, id, a)
	return a
}

func (a *agent) Fire(t *des.Timer) {
	switch t {
	case &a.tick:
		a.turn()
	case &a.wake:
		a.observe()
	case &a.greeting:
		a.hello()
	}
}

// clock is the node's monotonic clock: each node has its own.
func (a *agent) clock() units.Instant { return a.m.Clock(a.w.clock.Now()) }

// up starts the node controller on what the one before has saved.
func (a *agent) up() error {
	if a.engine != nil || a.ills.gone {
		return nil
	}
	a.starts++
	a.cfg.Incarnation = fmt.Sprintf("%s-%d", a.m.Name, a.starts)
	var saved *node.State
	if a.saved != nil {
		saved = &node.State{}
		if err := json.Unmarshal(a.saved, saved); err != nil {
			return fmt.Errorf("node %s: saved state: %w", a.m.Name, err)
		}
	}
	e, err := node.New(a.cfg, saved)
	if err != nil {
		return fmt.Errorf("node %s: %w", a.m.Name, err)
	}
	a.engine, a.failed, a.greeted, a.settled, a.follows, a.seen.told = e, nil, false, false, planKey{}, planKey{}
	a.seen.changed, a.seen.beyond = a.w.clock.Now(), a.w.clock.Now() // Nobody has moved anything while it was down.
	if saved != nil {
		a.follows = planKey{saved.Plan.Planner, saved.Plan.Epoch}
	}
	a.w.history.begin(a, a.saved)
	a.turn()
	a.hello()
	return nil
}

// down ends it as kill -9 does; its executors run on under the quotas in force.
func (a *agent) down() {
	a.engine, a.starting = nil, 0
	for _, p := range a.m.Processes() {
		p.Unsought = p.Driver.App.Attach != nil // The next one has yet to seek it.
	}
	a.w.clock.Cancel(&a.tick)
	a.w.clock.Cancel(&a.wake)
	a.w.clock.Cancel(&a.greeting)
}

// reconnect says hello to a planner that has come back.
func (a *agent) reconnect() {
	if a.engine != nil {
		a.greeted = false
		a.w.clock.Set(&a.greeting, a.w.clock.Now().Add(10*time.Millisecond))
	}
}

func (a *agent) hello() {
	if a.engine == nil || a.greeted {
		return
	}
	status := a.engine.Status(a.clock())
	a.w.history.status(a)
	engine := a.engine
	a.w.clock.Set(&a.greeting, a.w.clock.Now().Add(helloAgain))
	a.link.Request(func(reply func(any)) { a.w.planners(func(c *control) { c.hello(status, reply) }) }, func(body any) {
		r, ok := body.(api.HelloReply)
		if !ok || r.Error != nil || a.engine != engine {
			return // The next hello is under way.
		}
		a.greeted = true
		a.w.clock.Cancel(&a.greeting)
		a.offer(r.Plan)
	})
}

// offer applies a Plan.
func (a *agent) offer(p api.Plan) {
	if a.engine == nil {
		return
	}
	now := a.clock()
	actions := a.engine.Apply(now, p)
	a.w.history.apply(a, now, &p, actions)
	a.perform(actions)
	a.stir()
}

// turn is a tick of node.Loop, at the multiples of the interval on its clock.
func (a *agent) turn() {
	now := a.clock()
	a.ended = now
	a.m.ReadAt = a.nextTick() // Pages are written for it in what follows.
	a.ticks++
	a.read(true)
	actions := a.engine.Step(now, &a.sample)
	a.w.history.step(a, now, &a.sample, actions)
	a.perform(actions)
	a.m.ReadAt = a.nextTick()
	a.w.clock.Set(&a.tick, a.m.ReadAt)
}

// nextTick is when the engine wants its next tick, on the world's clock.
func (a *agent) nextTick() units.Instant {
	now := a.clock()
	return a.w.clock.Now() + (a.engine.NextTick(a.ended, now) - now)
}

// stir has a tick earlier if the engine is idle no more.
func (a *agent) stir() {
	if !a.tick.IsSet() {
		return
	}
	if at := a.nextTick(); at < a.tick.When() {
		a.m.ReadAt = at
		a.w.clock.Set(&a.tick, at)
	}
}

// observe is what node.Loop does when it is woken.
func (a *agent) observe() {
	if a.engine == nil || a.ticks == 0 {
		return
	}
	a.read(false)
	now := a.clock()
	actions := a.engine.Observe(now, &a.sample)
	a.w.history.observe(a, now, &a.sample, actions)
	a.perform(actions)
	a.stir()
}

// read fills the sample; groups and pages only for a tick.
func (a *agent) read(tick bool) {
	s := &a.sample
	s.Failures = append(s.Failures[:0], a.failed...)
	a.failed = a.failed[:0]
	s.HostUsed, s.Deaf = 0, a.deaf()
	procs := a.m.Held()
	for cap(s.Executors) < len(procs) {
		s.Executors = append(s.Executors[:cap(s.Executors)], node.ExecutorSample{})
	}
	s.Executors = s.Executors[:len(procs)]
	for i, p := range procs {
		x := &s.Executors[i]
		if !tick {
			*x = node.ExecutorSample{}
			p.State(x)
			continue
		}
		if p.Sample(x); a.ills.garbled {
			garble(x, p.Draw)
		}
	}
	a.lodgers.sees(s)
	if tick {
		s.HostUsed = units.Work(a.m.Used())
	}
}

// deaf reports whether nothing of what a planner sends can come through: a bus ends with the
// planner that has it.
func (a *agent) deaf() bool {
	served := false
	a.w.planners(func(*control) { served = true })
	return !served || a.link.Cut || a.w.net.Out
}

// perform carries the engine's actions out, in their order.
func (a *agent) perform(actions []node.Action) {
	for i := range actions {
		if x := &actions[i]; x.Kind == node.ActSave {
			a.follows = planKey{x.State.Plan.Planner, x.State.Plan.Epoch}
		}
	}
	a.w.check.node(a)
	if a.w.cfg.History != nil {
		for _, e := range a.engine.Events() {
			a.w.history.said("node", a.m.Name, e.String())
		}
	}
	for i := range actions {
		a.act(&actions[i])
	}
	a.w.check.memory(a)
	a.settled = !a.ills.refusing
	a.capacity, _ = a.engine.Capacity()
}

func (a *agent) act(x *node.Action) {
	switch x.Kind {
	case node.ActSetQuota:
		p := a.m.Find(x.Key)
		a.seen.refused.put(x.Key, p != nil && a.ills.refusing)
		if a.ills.refusing {
			a.failed = append(a.failed, node.Failure{Kind: x.Kind, Key: x.Key, Err: "read-only file system"})
			return
		}
		if p != nil {
			p.SetQuota(float64(x.Cores))
		}
	case node.ActSetWeight:
		if p := a.m.Find(x.Key); p != nil {
			p.SetWeight(float64(x.Weight))
		}
	case node.ActSave:
		if a.w.cfg.Restarts {
			body, err := json.Marshal(x.State)
			if err != nil {
				a.w.fail("node %s: its state cannot be saved: %v", a.m.Name, err)
			}
			a.saved = body
		}
	case node.ActReport:
		a.w.check.reported(a, x.Status)
		a.report(x.Status)
		if a.ills.poisons > 0 {
			a.ills.poisons--
			a.poison(x.Status)
		}
	case node.ActStart:
		if x.Component != nil {
			a.lodgers.start(x.Key, *x.Component, a)
			return
		}
		if x.Launch.Attach != nil {
			a.seek(x.Key)
			return
		}
		a.start(x.Key, *x.Launch, x.Lent)
	case node.ActStop:
		a.w.check.stopped(a, x.Key)
		a.stop(x.Key)
	case node.ActWantMemory:
		if p := a.m.Find(x.Key); p != nil {
			a.w.check.wish(a, p, x.Memory)
			p.Pools().Want(x.Memory, x.Limit, a.w.clock.Now())
		}
	case node.ActSetMemoryLimit:
		if p := a.m.Find(x.Key); p != nil {
			p.Pools().Limit = x.Limit
		}
	}
}

// letter is a status under way. Most messages are statuses: they are used again.
type letter struct {
	w       *World
	status  api.NodeStatus
	copies  int
	deliver func()
}

// report sends a status as it is now to the planners.
func (a *agent) report(s *api.NodeStatus) {
	var l *letter
	if last := len(a.w.letters) - 1; last >= 0 {
		l, a.w.letters = a.w.letters[last], a.w.letters[:last]
	} else {
		l = &letter{w: a.w}
		l.deliver = l.arrive
	}
	l.status = s.Clone()
	l.status.Rates = a.rates
	if l.copies = a.link.Send(des.Up, l.deliver); l.copies == 0 {
		a.w.letters = append(a.w.letters, l)
	}
}

// arrive is when a planner takes it; one that only stands by notes it.
func (l *letter) arrive() {
	w := l.w
	w.planners(func(c *control) { c.step(planner.Status{Status: &l.status}) })
	if c := w.control; c.engine == nil {
		c.overheard[l.status.Node] = w.clock.Now()
	}
	if l.copies--; l.copies == 0 {
		w.letters = append(w.letters, l)
	}
}

// claim is what an executor that is started by l takes of its node's memory.
func claim(l *api.Launch) units.Bytes { return l.Heap + l.Overhead + l.OffHeap }

func (a *agent) start(key node.Key, launch api.Launch, lent bool) {
	engine := a.engine
	if !lent {
		a.starting += claim(&launch)
	}
	a.w.clock.After(launchTime, rankNode, a.m.ID, func() {
		if a.engine != engine {
			return // It ended with its node controller.
		}
		if !lent {
			a.starting -= claim(&launch)
		}
		a.seen.changed = a.w.clock.Now()
		d := a.w.byURL[launch.DriverURL]
		if d == nil || a.ills.gone {
			return
		}
		a.seen.refused.put(key, false)
		a.seen.lent.put(key, lent)
		a.w.plant.Launch(&a.m, d.spark, key, &launch)
		a.observe()
	})
}

func (a *agent) stop(key node.Key) {
	a.w.clock.After(stopTime, rankNode, a.m.ID, func() {
		if p := a.m.Find(key); p != nil && !letGo(p) {
			p.Kill("stopped", 143)
			a.m.Remove(p)
		}
		a.lodgers.stop(key)
		a.observe()
	})
}
