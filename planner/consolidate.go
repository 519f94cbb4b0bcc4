package planner

import (
	"bytes"
	"fmt"
	"maps"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/consolidation"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// emptyEvery is a round: the planner learns of executors that share nodes, and looks for a node that may sleep.
	emptyEvery = 2 * time.Minute
	// wakeEvery is how often it looks for who wants one that sleeps.
	wakeEvery = 10 * time.Second
	// wakesAgain is after how long the applications of a user may wake another node: the one before has that long to
	// help.
	wakesAgain = time.Minute
)

// sleeper is the part of an engine that has nodes sleep and wake.
type sleeper struct {
	*core
	levers *levers
	// asked and looked are when the last round was, and when it was last looked who wants a node that sleeps.
	asked, looked units.Instant
	// over is for how many rounds on end nodes have been overloaded.
	over map[string]int
	// woke is when the applications of a user have woken a node, for as long as that counts.
	woke map[string]units.Instant
	// said is what was last said of a node that may sleep.
	said string
}

// tick wakes nodes that are wanted. Each round it learns and looks for a node that may sleep; rounds begin with what is
// heard in the first.
func (z *sleeper) tick() {
	sleeps, mode := z.asleep() != "", z.cfg.Consolidate
	if sleeps && z.now >= z.looked.Add(wakeEvery) {
		z.looked = z.now
		z.want()
	}
	if z.asked == 0 {
		z.asked = z.now
	}
	if mode == placement.ConsolidateOff && !sleeps || z.now < z.asked.Add(emptyEvery) {
		return
	}
	z.asked = z.now
	t := z.tables()
	placement.Learn(z.view, t, z.draw())
	if state := t.Encode(); !bytes.Equal(state, z.view.Learnt(ledger.NodesKey)) {
		z.record(ledger.QueueLearnt{Key: ledger.NodesKey, State: state})
	}
	if z.overloaded() || mode == placement.ConsolidateOff {
		return
	}
	advice := placement.Empty(z.outlook, t)
	switch {
	case !advice.Sleeps:
		advice.Node = ""
	case mode == placement.ConsolidateApply:
		z.levers.apply(ledger.NodeSlept{Node: advice.Node, Asleep: true, Why: advice.Why})
	case z.said != advice.Node:
		z.record(ledger.NodeSpare{Node: advice.Node, Why: advice.Why})
	}
	z.said = advice.Node
}

// tables are what was learnt. Of another layout they are learnt anew, which is said once: this one is kept then.
func (z *sleeper) tables() *consolidation.Tables {
	t, err := consolidation.Decode(z.view.Learnt(ledger.NodesKey))
	if err != nil {
		z.record(ledger.NodesForgotten{Why: err.Error()})
		z.record(ledger.QueueLearnt{Key: ledger.NodesKey, State: t.Encode()})
	}
	return t
}

// overloaded wakes a node where another one has been overloaded for as many rounds as refuse a machine of GLAP's, and
// reports whether it has.
func (z *sleeper) overloaded() (woken bool) {
	over := make(map[string]int)
	for _, n := range z.view.Live() {
		if !placement.Overloaded(z.view, n) {
			continue
		}
		over[n.Node] = z.over[n.Node] + 1
		if over[n.Node] >= consolidation.Refusals && !woken && z.wake(fmt.Sprintf("node %s is overloaded", n.Node)) {
			woken, over[n.Node] = true, 0
		}
	}
	z.over = over
	return woken
}

// want wakes a node for somebody who wants one and is here already.
func (z *sleeper) want() {
	for _, a := range z.view.Waiting() {
		if z.wakeFor(a, fmt.Sprintf("%s waits", a.ID), false) {
			return
		}
	}
	for a := range z.view.Running() {
		why, late := "", false
		switch p := &a.Promise; {
		case len(a.Tenant.Pending) > 0 && len(a.Alive()) == 0:
			why = fmt.Sprintf("%s has lost all its executors", a.ID)
		case p.Mode == ledger.Paced && a.Profile != nil && p.Deadline > a.At(z.now) && z.outlook.End(a, true) > p.Deadline:
			why, late = fmt.Sprintf("%s would be late", a.ID), true
		}
		if why != "" && z.wakeFor(a, why, late) {
			return
		}
	}
}

// wanted wakes a node for an application that comes and would wait, or as many as a deadline needs that it would keep
// with them, and reports whether it has.
func (z *sleeper) wanted(c queue.Choice) (woken bool) {
	late := c.Judgement.Verdict == api.VerdictInfeasible
	if c.What == queue.Start && !late {
		return false
	}
	for z.wakeFor(c.App, fmt.Sprintf("%s comes", c.App.ID), late) {
		if woken = true; !late || z.outlook.Least(c.App) <= z.cores(c.App, z.view.Live()) {
			break
		}
	}
	return woken
}

// wakeFor wakes a node that could hold an executor of a, and reports whether it has: one of a user's in wakesAgain, for
// whoever registers often is to wake no more than whoever registers once. A deadline that the nodes which sleep would
// keep wakes as many as it needs: it is not missed beside cores that sleep.
func (z *sleeper) wakeFor(a *ledger.App, why string, late bool) bool {
	user := a.Tenant.Owner.User
	maps.DeleteFunc(z.woke, func(_ string, at units.Instant) bool { return z.now >= at.Add(wakesAgain) })
	if _, lately := z.woke[user]; lately && !(late && z.saves(a)) {
		return false
	}
	for _, n := range z.view.Draining() {
		if n.Wakes() && placement.Holds(n, a) && z.levers.apply(ledger.NodeSlept{Node: n.Node, Why: why}) {
			z.woke[user] = z.now
			return true
		}
	}
	return false
}

// saves reports whether a's deadline can be kept on all nodes, those that sleep among them.
func (z *sleeper) saves(a *ledger.App) bool {
	if a.Promise.Mode != ledger.Paced || a.Profile == nil {
		return false
	}
	nodes := z.view.Live()
	for _, n := range z.view.Draining() {
		if n.Wakes() && placement.Holds(n, a) {
			nodes = append(nodes, n)
		}
	}
	return z.outlook.Least(a) <= z.cores(a, nodes)
}

// cores are those of nodes that a may have.
func (z *sleeper) cores(a *ledger.App, nodes []*ledger.Node) (all units.Cores) {
	for _, n := range nodes {
		mine := n.Offered
		if a.Tenant.Cap > 0 {
			mine = min(mine, a.Tenant.Cap)
		}
		all += mine
	}
	return all
}

// asleep is the first node that sleeps and could be woken, "" for none.
func (z *sleeper) asleep() string {
	for _, n := range z.view.Draining() {
		if n.Wakes() {
			return n.Node
		}
	}
	return ""
}

// wake has a node that sleeps take executors again, and reports whether there was one.
func (z *sleeper) wake(why string) bool {
	node := z.asleep()
	return node != "" && z.levers.apply(ledger.NodeSlept{Node: node, Why: why})
}

// draw draws by the time (MMIX's generator, Knuth 1997): the same events give the same tables.
func (z *sleeper) draw() func(n int) int {
	state := uint64(z.now)
	return func(n int) int {
		state = 6364136223846793005*state + 1442695040888963407
		return int(state >> 33 % uint64(n))
	}
}

// consolidate has the least used node sleep, or says who is in the way.
func (z *sleeper) consolidate(api.ControlRequest) (api.ControlReply, error) {
	advice := placement.Empty(z.outlook, z.tables())
	if !advice.Sleeps {
		return api.ControlReply{Message: advice.String()}, nil
	}
	if !z.levers.apply(ledger.NodeSlept{Node: advice.Node, Asleep: true, Why: advice.Why}) {
		return api.ControlReply{}, api.Errorf(api.KindTransient, "node %s could not be put to sleep", advice.Node)
	}
	z.levers.ask(placement.Vacate)
	return api.ControlReply{Message: fmt.Sprintf("node %s drains and sleeps: %s", advice.Node, advice.Why)}, nil
}
