package sim

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// check watches what must be true at every event, with faults and without:
//
//   - the grants of a node sum up to no more than its capacity, those of executors
//     included that no target holds, and so do quotas but for their rounding;
//   - who is granted something gets the floor, as long as the floors fit;
//   - epochs of Plans and Directives only grow, and one epoch says one thing;
//   - no application that the planner has taken is ever unknown to it;
//   - a stage whose end the planner has heard is in no Plan, and no node controls
//     what its Plan does not have;
//   - memory of a node is never promised twice: heaps, overheads and off-heap memory in
//     force, wanted or owed are no more than it gives, as far as that can be had at all;
//     nothing grows before what it owes is given back, and the total is right again two
//     seconds after the last change; what lives on a node that the ledger does not have there counts
//     after five seconds, too;
//   - who waits for memory starts in order, by the policy in force: nobody gets what the first one could have had,
//     and that one waits for nobody behind it who has started since it came to the head;
//   - an executor is given back only under a rule that has it, for one that waits; its application keeps what it
//     needs, and gets none for two minutes;
//   - no healthy executor is stopped: one that runs for a driver that does, on a node
//     that is not drained, and that was not asked to leave;
//   - no application is failed that could go on: by silence while its driver lives, by the
//     loss of executors while it has some or may have others, or by a planner that will not
//     take it again; nor one that waits, by silence while it can be heard.
//
// A planner that has lost its state counts and knows from where its new store begins:
// epochs, stages and applications are those of a store.
type check struct {
	w      *World
	epochs map[storeApp]uint64
	// ended are the stages whose end the planner has acknowledged.
	ended  map[storeApp]map[api.StageKey]bool
	grants []node.Grant
	// counted are the divisions looked at.
	counted uint64
	front   front
	latest  map[api.AppID]units.Instant // Of those that wait, and have while others did: when they have to start.
	starts  []api.AppID                 // Of the planner's step.
	// given are executors that were asked to leave, gave is when one of an application last gave one back; gets are those
	// for which it did: what they fit on is spared for them, whoever comes.
	given executorSet
	gave  map[storeApp]units.Instant
	gets  map[api.AppID]bool
	// held is the memory of a node that executors took by the ledger while it had room for them,
	// or what of it they still take since the node gives less.
	held map[storeNode]units.Bytes
}

// storeNode is a node as the planner with that store knows it.
type storeNode struct{ store, node string }

// storeApp is an application as the planner with that store knows it.
type storeApp struct {
	store string
	app   api.AppID
}

// planKey is a Plan of the planner with that store.
type planKey struct {
	store string
	epoch uint64
}

// seenPlan is what the check keeps of the newest Plan of a node.
type seenPlan struct {
	planKey
	targets   []targetKey
	executors []node.Key
	// claimed is the memory that executors are promised of the node in any case, by the ledger.
	claimed units.Bytes
}

// nodeSeen is what the check keeps of a node.
type nodeSeen struct {
	told planKey // The Plan that this incarnation said last that it follows.
	// planned are its newest Plans of each planner, newest is the last of all as it was sent.
	planned []*seenPlan
	newest  api.Plan
	// lent are executors that were started with lent memory, refused those whose newest quota was, died those that have
	// gone.
	lent, refused, died executorSet
	promised            units.Bytes // Of its memory, when the check last looked.
	// changed is when an executor came or went, beyond when less than the node's memory was
	// last wanted, doubled since when more is promised than that, with what lives here and is
	// strange.
	changed, beyond, doubled units.Instant
}

// executorSet is a set that is made when the first one is put in.
type executorSet map[node.Key]bool

// put puts an executor in, or takes it out.
func (s *executorSet) put(key node.Key, in bool) {
	switch {
	case !in:
		delete(*s, key)
	case *s == nil:
		*s = executorSet{key: true}
	default:
		(*s)[key] = true
	}
}

// plan is the newest Plan of a planner for the node, nil for none.
func (s *nodeSeen) plan(store string) *seenPlan {
	for _, p := range s.planned {
		if p.store == store {
			return p
		}
	}
	return nil
}

type targetKey struct {
	app   api.AppID
	stage api.StageKey
	id    api.ExecutorID
}

// rounding forgives what sums of floating-point numbers are off by.
const rounding = 1e-6

// node looks at a node's division after each call of its engine.
func (c *check) node(a *agent) {
	c.grants = a.engine.Grants(c.grants[:0])
	if len(c.grants) == 0 {
		return
	}
	c.counted++
	capacity, _ := a.engine.Capacity()
	var sum, floors, quotas float64
	for _, g := range c.grants {
		sum += float64(g.Cores)
		floors += float64(g.Floor)
		// Where a write was refused the engine waits for a sample that it can believe.
		if p := a.m.Find(g.Key); p != nil && !a.seen.refused[g.Key] && p.Quota() <= float64(capacity) {
			quotas += p.Quota()
		}
	}
	if sum > float64(capacity)+rounding {
		c.w.fail("node %s grants %.6f cores of %.6f: %+v", a.m.Name, sum, float64(capacity), c.grants)
	}
	// A quota is next to its grant by half a quantum, and is left alone while it
	// is less than another away. Those of this call are not written yet.
	slack := 1.5 * float64(a.cfg.Quantum) * float64(len(c.grants))
	if a.settled && quotas > float64(a.capacity)+slack+rounding {
		c.w.fail("node %s has quotas of %.6f cores of %.6f", a.m.Name, quotas, a.capacity)
	}
	p := a.seen.plan(a.follows.store)
	for _, g := range c.grants {
		if floors <= float64(capacity) && float64(g.Cores) < float64(g.Floor)-rounding {
			c.w.fail("node %s grants %s stage %v %.6f cores, less than the floor of %.6f", a.m.Name, g.Key, g.Stage,
				float64(g.Cores), float64(g.Floor))
		}
		if !g.Unheld && (p == nil || (p.epoch == a.follows.epoch &&
			!slices.Contains(p.targets, targetKey{g.Key.App, g.Stage, g.Key.ID}))) {
			c.w.fail("node %s controls %s stage %v, which its plan %d does not have", a.m.Name, g.Key, g.Stage, a.follows.epoch)
		}
	}
}

// stepped looks at what a planner's step has left.
func (c *check) stepped(of *control) {
	v := of.engine.View()
	for _, n := range v.Nodes() {
		at, claimed := storeNode{of.name, n.Node}, v.Claimed(n)
		if claimed <= n.Room() || claimed < c.held[at] {
			c.held[at] = claimed
		}
	}
	c.groups(of)
	if of == c.w.control {
		c.queue()
	}
}

// planned looks at a Plan that the planner publishes. One that could not be stored is published later.
func (c *check) planned(p api.Plan) {
	a := c.w.byName[p.Node]
	if a == nil {
		c.w.fail("the plan %d is for %s, which is no node", p.Epoch, p.Node)
		return
	}
	seen := a.seen.plan(p.Planner)
	if seen != nil && p.Epoch < seen.epoch {
		c.w.fail("the plan of %s has epoch %d after %d", p.Node, p.Epoch, seen.epoch)
	}
	now := seenPlan{planKey: planKey{p.Planner, p.Epoch}}
	c.w.planners(func(of *control) {
		v := of.engine.View()
		n := v.Node(p.Node)
		if of.name != p.Planner || n == nil {
			return
		}
		now.claimed = v.Claimed(n)
		if now.claimed > n.Room() && now.claimed > c.held[storeNode{of.name, n.Node}] && !c.adopts(a, &p, seen) {
			c.w.fail("the plan %d of %s claims %v of %v", p.Epoch, p.Node, now.claimed, n.Room())
		}
	})
	for _, app := range p.Apps {
		for _, id := range app.Executors {
			now.executors = append(now.executors, node.Key{App: app.ID, ID: id})
		}
		for _, t := range app.Stages {
			now.targets = append(now.targets, targetKey{app.ID, t.StageKey, t.Executor})
			if c.ended[storeApp{p.Planner, app.ID}][t.StageKey] {
				c.w.fail("the plan %d of %s has a target for stage %v of %s, which has ended", p.Epoch, p.Node, t.StageKey, app.ID)
			}
		}
	}
	if seen != nil && p.Epoch == seen.epoch && !slices.Equal(now.targets, seen.targets) {
		c.w.fail("the plan %d of %s has changed without a new epoch", p.Epoch, p.Node)
	}
	if seen == nil {
		seen = &seenPlan{}
		a.seen.planned = append(a.seen.planned, seen)
	}
	*seen, a.seen.newest = now, p
}

// adopts reports whether all that p names beyond what seen has runs on a: it was taken over, where
// the node gives less than it did.
func (c *check) adopts(a *agent, p *api.Plan, seen *seenPlan) bool {
	for _, app := range p.Apps {
		for _, id := range app.Executors {
			key := node.Key{App: app.ID, ID: id}
			if (seen == nil || !slices.Contains(seen.executors, key)) && a.m.Find(key) == nil {
				return false
			}
		}
	}
	return true
}

// directed looks at a Directive that the planner publishes.
func (c *check) directed(store string, app api.AppID, epoch uint64) {
	of := storeApp{store, app}
	if epoch < c.epochs[of] {
		c.w.fail("the directive of %s has epoch %d after %d", app, epoch, c.epochs[of])
	}
	c.epochs[of] = epoch
}

// told notes what the planner has acknowledged of a driver's events.
func (c *check) told(store string, b api.Events, acked uint64) {
	of := storeApp{store, b.AppID}
	for _, e := range b.Events {
		if e.Type == api.EventStageDone && e.Seq <= acked {
			if c.ended[of] == nil {
				c.ended[of] = map[api.StageKey]bool{}
			}
			c.ended[of][e.Done.StageKey] = true
		}
	}
}

// reported looks at a node's status.
func (c *check) reported(a *agent, s *api.NodeStatus) {
	if s.Planner == a.seen.told.store && s.Epoch < a.seen.told.epoch {
		c.w.fail("node %s follows plan %d after %d", s.Node, s.Epoch, a.seen.told.epoch)
	}
	a.seen.told = planKey{s.Planner, s.Epoch}
}

// known sees to it that the planner knows all applications that it has taken, since its
// store began.
func (c *check) known() {
	if c.w.control.engine == nil {
		return
	}
	known := map[api.AppID]bool{}
	for _, a := range c.w.Apps() {
		known[a.ID] = true
	}
	for _, d := range c.w.drivers {
		if d.talk.Registered() && d.planner == c.w.control.name && !known[d.reply.AppID] {
			c.w.fail("application %s is lost: the planner does not know it", d.reply.AppID)
		}
	}
}

// final is what must be true in the end: every application has come to its end.
func (c *check) final() {
	c.known()
	for _, d := range c.w.drivers {
		if d.refused == nil && d.result == nil && !d.forgotten {
			c.w.fail("application %s has no end", d.spark.App.Name)
		}
	}
}

// stopped looks at an executor that a node is about to stop.
func (c *check) stopped(a *agent, key node.Key) {
	p := a.m.Find(key)
	if p == nil || !p.Registered || p.Exited || a.draining {
		return
	}
	if d := c.w.driver(p); d.spark.Stopped || d.unwanted || d.refused != nil || key.App != d.reply.AppID {
		return
	}
	if c.drains(a) || c.given[key] || a.seen.lent[key] || p.Driver.App.Attach != nil {
		return
	}
	c.w.fail("node %s stops executor %s, whose driver runs", a.m.Name, key)
}

// drains reports whether the planner that a follows takes it to be drained: one that served
// before may not have heard that it is no more. What `pacer nodes` shows is not asked: of a node
// that drains and runs another planner's executors it shows these.
func (c *check) drains(a *agent) (yes bool) {
	c.w.planners(func(of *control) {
		n := of.engine.View().Node(a.m.Name)
		yes = yes || of.name == a.follows.store && n != nil && n.Draining()
	})
	return yes
}

// givenUp looks at an application that the planner fails by its driver's silence. One that
// is queued, or of which nothing runs, comes back when it speaks; while it can be heard it is not
// silent.
func (c *check) givenUp(id api.AppID) {
	for _, d := range c.w.drivers {
		if d.reply.AppID != id || d.spark.Stopped || d.refused != nil {
			continue
		}
		if d.directive.Queued == nil && c.runs(d) {
			c.w.fail("application %s has failed by silence, and its driver lives", id)
		}
		if d.directive.Queued != nil && d.spark.App.Memory.Heap > 0 && !d.link.Cut &&
			c.w.clock.Now().Sub(max(d.link.Back, c.w.net.Back)) > heardWithin {
			c.w.fail("application %s waits and can be heard, and has failed by silence", id)
		}
	}
}

// heardWithin is how long a driver that is connected again may take until it is heard: three
// requests may be lost.
const heardWithin = 10 * time.Second

// turnedAway looks at an application that the planner does not take again.
func (c *check) turnedAway(d *Driver, why error) {
	if d.unwanted {
		return
	}
	c.w.fail("application %s runs, and its planner ends it: %v", d.reply.AppID, why)
}

// aborted looks at an application that ends because it has no executors left: as many as
// the planner replaces have been killed.
func (c *check) aborted(d *Driver, why string) {
	cfg := &c.w.cfg.Planner
	killed := 0
	for _, at := range d.killed {
		if c.w.clock.Now().Sub(at) <= cfg.Replacing.Within {
			killed++
		}
	}
	if !d.unwanted && (d.spark.Alive() || killed < cfg.Replacing.Most) {
		c.w.fail("application %s is ended with %d executors killed: %s", d.reply.AppID, killed, why)
	}
}

// runs reports whether an executor of d's application runs anywhere.
func (c *check) runs(d *Driver) bool {
	for _, a := range c.w.agents {
		if slices.ContainsFunc(a.m.Processes(), func(p *plant.Process) bool {
			return p.Driver == d.spark && p.Key.App == d.reply.AppID && !p.Exited
		}) {
			return true
		}
	}
	return false
}
