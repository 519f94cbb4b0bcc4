package sim

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node"
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
//     seconds after the last change;
//   - who waits for memory starts in order: nobody gets what the first one could have had,
//     and that one waits for nobody behind it who has started since it came to the head.
type check struct {
	w      *World
	epochs map[api.AppID]uint64
	// ended are the stages whose end the planner has acknowledged.
	ended  map[api.AppID]map[api.StageKey]bool
	grants []node.Grant
	// counted are the divisions looked at.
	counted uint64
	front   front
	starts  []api.AppID // Of the planner's step.
}

// seenPlan is what the check keeps of the newest Plan of a node.
type seenPlan struct {
	epoch     uint64
	targets   []targetKey
	executors []executorKey
	// claimed is the memory that executors take of the node in any case, by the ledger.
	claimed units.Bytes
}

type targetKey struct {
	app   api.AppID
	stage api.StageKey
	id    api.ExecutorID
}

func newCheck(w *World) *check {
	return &check{w: w, epochs: map[api.AppID]uint64{}, ended: map[api.AppID]map[api.StageKey]bool{}}
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
		if p := a.m.find(g.Key); p != nil && !p.refused && p.quota <= float64(capacity) {
			quotas += p.quota
		}
	}
	if sum > float64(capacity)+rounding {
		c.w.fail("node %s grants %.6f cores of %.6f: %+v", a.m.name, sum, float64(capacity), c.grants)
	}
	// A quota is next to its grant by half a quantum, and is left alone while it
	// is less than another away. Those of this call are not written yet.
	slack := 1.5 * float64(a.cfg.Quantum) * float64(len(c.grants))
	if a.settled && quotas > float64(a.capacity)+slack+rounding {
		c.w.fail("node %s has quotas of %.6f cores of %.6f", a.m.name, quotas, a.capacity)
	}
	for _, g := range c.grants {
		if floors <= float64(capacity) && float64(g.Cores) < float64(g.Floor)-rounding {
			c.w.fail("node %s grants %s stage %v %.6f cores, less than the floor of %.6f", a.m.name, g.Key, g.Stage, float64(g.Cores), float64(g.Floor))
		}
		if p := a.planned; !g.Unheld && (p == nil || (p.epoch == a.epoch && !slices.Contains(p.targets, targetKey{g.Key.App, g.Stage, g.Key.ID}))) {
			c.w.fail("node %s controls %s stage %v, which its plan %d does not have", a.m.name, g.Key, g.Stage, a.epoch)
		}
	}
}

// planned looks at a Plan that the planner publishes.
func (c *check) planned(p api.Plan) {
	a := c.w.agent(p.Node)
	if a == nil {
		c.w.fail("the plan %d is for %s, which is no node", p.Epoch, p.Node)
		return
	}
	seen := a.planned
	if seen != nil && p.Epoch < seen.epoch {
		c.w.fail("the plan of %s has epoch %d after %d", p.Node, p.Epoch, seen.epoch)
	}
	now := &seenPlan{epoch: p.Epoch}
	v := c.w.control.engine.View()
	if n := v.Node(p.Node); n != nil {
		now.claimed = v.Claimed(n)
		if now.claimed > n.Room() && (seen == nil || now.claimed > seen.claimed) {
			c.w.fail("the plan %d of %s claims %v of %v", p.Epoch, p.Node, now.claimed, n.Room())
		}
	}
	for _, app := range p.Apps {
		for _, id := range app.Executors {
			now.executors = append(now.executors, executorKey{App: app.ID, ID: id})
		}
		for _, t := range app.Stages {
			now.targets = append(now.targets, targetKey{app.ID, t.StageKey, t.Executor})
			if c.ended[app.ID][t.StageKey] {
				c.w.fail("the plan %d of %s has a target for stage %v of %s, which has ended", p.Epoch, p.Node, t.StageKey, app.ID)
			}
		}
	}
	if seen != nil && p.Epoch == seen.epoch && !slices.Equal(now.targets, seen.targets) {
		c.w.fail("the plan %d of %s has changed without a new epoch", p.Epoch, p.Node)
	}
	a.planned = now
}

// directed looks at a Directive that the planner publishes.
func (c *check) directed(app api.AppID, epoch uint64) {
	if epoch < c.epochs[app] {
		c.w.fail("the directive of %s has epoch %d after %d", app, epoch, c.epochs[app])
	}
	c.epochs[app] = epoch
}

// told notes what the planner has acknowledged of a driver's events.
func (c *check) told(b api.Events, acked uint64) {
	for _, e := range b.Events {
		if e.Type == api.EventStageDone && e.Seq <= acked {
			if c.ended[b.AppID] == nil {
				c.ended[b.AppID] = map[api.StageKey]bool{}
			}
			c.ended[b.AppID][e.Done.StageKey] = true
		}
	}
}

// reported looks at a node's status.
func (c *check) reported(a *agent, s *api.NodeStatus) {
	if s.Epoch < a.told {
		c.w.fail("node %s follows plan %d after %d", s.Node, s.Epoch, a.told)
	}
	a.told = s.Epoch
}

// known sees to it that the planner knows all applications it has taken.
func (c *check) known() {
	if c.w.control.engine == nil {
		return
	}
	known := map[api.AppID]bool{}
	for _, a := range c.w.Apps() {
		known[a.ID] = true
	}
	for _, d := range c.w.drivers {
		if d.talk.Registered() && !known[d.reply.AppID] {
			c.w.fail("application %s is lost: the planner does not know it", d.reply.AppID)
		}
	}
}

// final is what must be true in the end: every application has come to its end.
func (c *check) final() {
	c.known()
	for _, d := range c.w.drivers {
		if d.refused == nil && d.result == nil {
			c.w.fail("application %s has no end", d.app.Name)
		}
	}
}
