package driver

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Stall is how long a stage may have executors, tasks and nothing running until Watch
// opens its gate.
const Stall = 10 * time.Second

// Rest is how long a stage whose tasks are all launched keeps an executor that runs none of
// them while other stages wait. Most executors end a stage at about the same time, and a stage
// that starts on all of them is planned better than one that starts on the first.
const Rest = 3 * time.Second

// Bindings decides which executor runs which stage's tasks, and how many. The zero
// value knows no executor and no stage, and is ungated. Not thread-safe.
type Bindings struct {
	stages  []*stage   // Running stages, in order of arrival.
	alive   []executor // In order of arrival.
	listed  map[api.ExecutorID]api.DirectiveExecutor
	epoch   uint64
	asked   bool // The directive in force asks for gates.
	pool    string
	given   bool // Gating was given up for good,
	why     string
	changed changes
	freed   bool
	waits   int
	owed    int // How many executors are to be given to stages that wait.
}

// executor is one that is registered with the driver.
type executor struct {
	id   api.ExecutorID
	rank int64
	host string
}

// Waited is how often a stage found no executor and had to wait.
func (b *Bindings) Waited() int { return b.waits }

// Gated reports whether stages own executors.
func (b *Bindings) Gated() bool { return b.asked && !b.given }

// Opened is why gating was given up for good; false if it was not.
func (b *Bindings) Opened() (string, bool) { return b.why, b.given }

// Executors are those that are registered, in order of arrival.
func (b *Bindings) Executors() []api.ExecutorID {
	out := make([]api.ExecutorID, 0, len(b.alive))
	for _, x := range b.alive {
		out = append(out, x.id)
	}
	return out
}

// Follow takes the planner's whole word. It returns false for one that is older than the
// last and changes nothing then.
func (b *Bindings) Follow(d *api.Directive) bool {
	if d.Epoch < b.epoch {
		return false
	}
	b.epoch = d.Epoch
	before, was := b.listed, b.Gated()
	b.listed = make(map[api.ExecutorID]api.DirectiveExecutor, len(d.Executors))
	for _, x := range d.Executors {
		b.listed[x.ID] = x
	}
	b.asked, b.pool = d.Gated, d.Pool
	for id := range b.listed {
		if b.leaving(id) && !before[id].Leaving {
			b.vacate()
			break
		}
	}
	if b.Gated() != was {
		b.rebindAll()
	} else {
		b.settle()
	}
	for i := range d.Shares {
		b.handOver(&d.Shares[i])
	}
	return true
}

// ForgetEpoch lets a planner that has lost its state begin with a small epoch again.
func (b *Bindings) ForgetEpoch() {
	b.epoch = 0
	for _, s := range b.stages {
		s.handed = 0
	}
}

// OpenForGood gives gating up for the rest of the application.
func (b *Bindings) OpenForGood(why string) {
	if b.given {
		return
	}
	was := b.Gated()
	b.given, b.why = true, why
	if was {
		b.rebindAll()
	}
}

// ExecutorUp registers an executor.
func (b *Bindings) ExecutorUp(id api.ExecutorID, host string) {
	if b.lives(id) {
		return
	}
	b.alive = append(b.alive, executor{id: id, rank: rank(id), host: host})
	b.settle()
}

// ExecutorGone takes an executor off its stages. Its tasks come back one by one by
// Returned.
func (b *Bindings) ExecutorGone(id api.ExecutorID) {
	if !b.lives(id) {
		return
	}
	b.alive = slices.DeleteFunc(b.alive, func(x executor) bool { return x.id == id })
	for _, s := range b.stages {
		if p := s.parts[id]; s.has(p) {
			s.unbind(p)
			b.divide(s, b.capacity)
			b.changed.add(s.key)
		}
	}
	b.settle()
}

// Ready says that a stage's tasks can run and returns what it is bound to. Order is its place in the queue; weights has
// one entry for each task, in millionths of the mean one, and is kept. cached is how many of its tasks have cached
// blocks on which executor. The tasks of a barrier stage start together, so shares do not bind it; pool is that of a
// fair scheduler, "" without one.
func (b *Bindings) Ready(key api.StageKey, order int, weights []int64, cached map[api.ExecutorID]int,
	barrier bool, pool string) []api.Binding {
	s := newStage(key, order, weights, cached, barrier)
	s.beside = pool != "" && b.pool != "" && pool != b.pool
	if i := slices.IndexFunc(b.stages, func(o *stage) bool { return o.key == key }); i >= 0 {
		b.stages[i] = s
	} else {
		b.stages = append(b.stages, s)
	}
	b.settle()
	if b.Gated() && len(s.bound) == 0 && len(b.alive) > 0 {
		b.waits++
	}
	b.changed.drop(key)
	return s.bindings()
}

// Done says that the stage attempt has ended: its executors are free at once.
func (b *Bindings) Done(key api.StageKey) {
	s := b.stage(key)
	if s == nil {
		return
	}
	b.stages = slices.DeleteFunc(b.stages, func(o *stage) bool { return o == s })
	b.changed.drop(key)
	b.freed = b.freed || len(s.bound) > 0
	b.settle()
}

// Retire says that the stage attempt starts no more tasks: those that run are zombies, and the
// other slots of its executors go to stages that wait.
func (b *Bindings) Retire(key api.StageKey) {
	if s := b.stage(key); s != nil && !s.retired {
		s.retired = true
		b.settle()
	}
}

// Queue says in which order stages get executors that come free: all that wait, but for those
// that have become ready since it was called last, which come behind.
func (b *Bindings) Queue(keys []api.StageKey) {
	for i, key := range keys {
		if s := b.stage(key); s != nil {
			s.order = i - len(keys)
		}
	}
}

// Admits reports whether a task of the stage, or the copy of one that was asked for (Task.Copy), may
// start on the executor. It may divide the stage anew.
func (b *Bindings) Admits(key api.StageKey, id api.ExecutorID, speculative bool) bool {
	s := b.stage(key)
	if s == nil {
		return false
	}
	p := s.parts[id]
	if speculative {
		return s.has(p) && p == s.copyOn
	}
	if !s.has(p) {
		return s.open && b.lives(id)
	}
	if !b.Gated() || s.open || s.barrier || s.beside {
		return true
	}
	// Idle with its share done: it takes a part of what others have left. The second
	// case: tasks came back that no share has room for.
	if p.full() && s.rest > 0 && (p.running == 0 || s.full()) {
		b.divide(s, b.capacity)
		b.changed.add(s.key)
	}
	return !p.full()
}

// Launched says that a task of the stage was given to the executor.
func (b *Bindings) Launched(key api.StageKey, index int, id api.ExecutorID) {
	s := b.stage(key)
	if s == nil {
		return
	}
	p := s.part(id)
	s.hold(index, p)
	p.running++
	p.spare, p.rested, s.idle = -1, false, -1
	if p == s.copyOn {
		s.copyOn = nil
	}
}

// HeaviestWaiting is the weight of the stage's heaviest task that waits, 0 if none does.
func (b *Bindings) HeaviestWaiting(key api.StageKey) int64 {
	if s := b.stage(key); s != nil {
		return s.heaviest()
	}
	return 0
}

// Ended says that a task attempt runs no longer, whatever became of it.
func (b *Bindings) Ended(key api.StageKey, id api.ExecutorID) {
	s := b.stage(key)
	if s == nil {
		return
	}
	p := s.part(id)
	p.running = max(0, p.running-1)
	left := b.leaving(id) && s.has(p)
	if left {
		b.vacate()
	}
	if left || s.free(p) || b.owed > 0 && p.running == 0 {
		b.settle()
	}
}

// Returned says that a task that was launched has to run again.
func (b *Bindings) Returned(key api.StageKey, index int) {
	s := b.stage(key)
	if s == nil {
		return
	}
	asked := s.asks()
	s.release(index)
	if !asked && s.asks() {
		b.settle()
	}
}

// Watch opens the gates of stages that got nothing to run for Stall although they could,
// and returns them. It also lets others have the executors that a stage has not used for
// Rest and will not use. It is to be called about once a second. Ungated, stages share executors,
// and one waits for the tasks of others as long as any runs that is no zombie.
func (b *Bindings) Watch(now units.Instant) []api.StageKey {
	anything := slices.ContainsFunc(b.stages, func(s *stage) bool { return !s.retired && s.runs() })
	var opened []api.StageKey
	for _, s := range b.stages {
		stuck := !s.open && len(b.alive) > 0 && s.asks() && !s.runs() && (b.Gated() && len(s.bound) > 0 || !anything)
		if !stuck {
			s.idle = -1
			continue
		}
		if s.idle < 0 {
			s.idle = now
		}
		if now.Sub(s.idle) >= Stall {
			s.open, b.freed = true, true
			opened = append(opened, s.key)
		}
	}
	b.rest(now)
	return opened
}

// Changed reports whether TakeChanges has something to return.
func (b *Bindings) Changed() bool { return len(b.changed) > 0 }

// TakeChanges returns the bindings that have changed since the last call, other than by
// Ready, in the order in which they first changed.
func (b *Bindings) TakeChanges() []api.StageBound {
	var out []api.StageBound
	for _, key := range b.changed {
		if s := b.stage(key); s != nil {
			out = append(out, api.StageBound{StageKey: key, Bindings: s.bindings()})
		}
	}
	b.changed = b.changed[:0]
	return out
}

// TakeFreed reports whether executors came free or were bound since the last call, so
// that they are worth offering again.
func (b *Bindings) TakeFreed() bool {
	was := b.freed
	b.freed = false
	return was
}

// Current are the bindings in force for a stage that runs, none for another one.
func (b *Bindings) Current(key api.StageKey) []api.Binding {
	if s := b.stage(key); s != nil {
		return s.bindings()
	}
	return nil
}

// Boundable is how many executors one stage can have at a time, and how many there are in all.
func (b *Bindings) Boundable() (atOnce, all int) {
	for _, there := range b.nodes() {
		atOnce += there.atOnce()
		all += len(there.executors)
	}
	return atOnce, all
}

func (b *Bindings) stage(key api.StageKey) *stage {
	for _, s := range b.stages {
		if s.key == key {
			return s
		}
	}
	return nil
}

func (b *Bindings) lives(id api.ExecutorID) bool {
	return slices.ContainsFunc(b.alive, func(x executor) bool { return x.id == id })
}

// changes are stages whose bindings have changed since the planner was told, in the order in which
// they first did.
type changes []api.StageKey

func (c *changes) add(key api.StageKey) {
	if !slices.Contains(*c, key) {
		*c = append(*c, key)
	}
}

// drop is for one that everybody knows.
func (c *changes) drop(key api.StageKey) {
	*c = slices.DeleteFunc(*c, func(k api.StageKey) bool { return k == key })
}
