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

// sleeper has nodes sleep and wake.
type sleeper struct{ *core }

// sleeps reports whether a node sleeps that could be woken.
func (z sleeper) sleeps() bool { return z.asleep() != "" }

// rounds reports whether there are rounds: nodes may sleep, or are to be woken, and one has passed since the start.
func (z sleeper) rounds() bool {
	return (z.cfg.Consolidate != placement.ConsolidateOff || z.sleeps()) && z.view.Uptime() >= emptyEvery
}

// round learns, and looks for a node that may sleep.
func (z sleeper) round() {
	t, mode := z.tables(), z.cfg.Consolidate
	placement.Learn(z.view, t, z.draw())
	if state := t.Encode(); !bytes.Equal(state, z.view.Learnt(ledger.NodesKey)) {
		z.record(ledger.QueueLearnt{Key: ledger.NodesKey, State: state})
	}
	if z.overloaded() || mode == placement.ConsolidateOff {
		return
	}
	advice, said := placement.Empty(z.outlook, t), &z.memory.spare
	switch {
	case !advice.Sleeps:
		advice.Node = ""
	case mode == placement.ConsolidateApply:
		z.apply(slept(advice.Node, true, advice.Why))
	case *said != advice.Node:
		z.record(placement.NodeSpare{OfNode: ledger.OfNode{Node: advice.Node}, Why: advice.Why})
	}
	*said = advice.Node
}

// tables are what was learnt. Of another layout they are learnt anew, which is said once: this one is kept then.
func (z sleeper) tables() *consolidation.Tables {
	t, err := consolidation.Decode(z.view.Learnt(ledger.NodesKey))
	if err != nil {
		z.record(ledger.NodesForgotten{Why: err.Error()})
		z.record(ledger.QueueLearnt{Key: ledger.NodesKey, State: t.Encode()})
	}
	return t
}

// overloaded wakes a node where another one has been overloaded for as many rounds as refuse a machine of GLAP's, and
// reports whether it has.
func (z sleeper) overloaded() (woken bool) {
	over := make(map[matter]bool)
	for _, n := range z.view.Live() {
		if !placement.Overloaded(z.view, n) {
			continue
		}
		m := markOf(z.core, matter{row: "overloaded", of: n.Node})
		m.times++
		over[matter{row: "overloaded", of: n.Node}] = true
		if m.times >= consolidation.Refusals && !woken && z.wake(fmt.Sprintf("node %s is overloaded", n.Node)) {
			woken, m.times = true, 0
		}
	}
	maps.DeleteFunc(z.marks, func(q matter, _ *mark) bool { return q.row == "overloaded" && !over[q] })
	return woken
}

// want wakes a node for somebody who wants one and is here already.
func (z sleeper) want() {
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
func (z sleeper) wanted(c queue.Choice) (woken bool) {
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
func (z sleeper) wakeFor(a *ledger.App, why string, late bool) bool {
	user := a.Tenant.Owner.User
	maps.DeleteFunc(z.marks, func(q matter, m *mark) bool { return q.row == "woken" && z.now >= m.at.Add(wakesAgain) })
	if lately := z.marks[matter{row: "woken", of: user}] != nil; lately && !(late && z.saves(a)) {
		return false
	}
	for _, n := range z.view.Draining() {
		if placement.Wakes(n) && placement.Holds(n, a) && z.apply(slept(n.Node, false, why)) {
			markOf(z.core, matter{row: "woken", of: user}).at = z.now
			return true
		}
	}
	return false
}

func slept(node string, asleep bool, why string) placement.NodeSlept {
	return placement.NodeSlept{OfNode: ledger.OfNode{Node: node}, Asleep: asleep, Why: why}
}

// saves reports whether a's deadline can be kept on all nodes, those that sleep among them.
func (z sleeper) saves(a *ledger.App) bool {
	if a.Promise.Mode != ledger.Paced || a.Profile == nil {
		return false
	}
	nodes := z.view.Live()
	for _, n := range z.view.Draining() {
		if placement.Wakes(n) && placement.Holds(n, a) {
			nodes = append(nodes, n)
		}
	}
	return z.outlook.Least(a) <= z.cores(a, nodes)
}

// cores are those of nodes that a may have.
func (z sleeper) cores(a *ledger.App, nodes []*ledger.Node) (all units.Cores) {
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
func (z sleeper) asleep() string {
	for _, n := range z.view.Draining() {
		if placement.Wakes(n) {
			return n.Node
		}
	}
	return ""
}

// wake has a node that sleeps take executors again, and reports whether there was one.
func (z sleeper) wake(why string) bool {
	node := z.asleep()
	return node != "" && z.apply(slept(node, false, why))
}

// draw draws by the time (MMIX's generator, Knuth 1997): the same events give the same tables.
func (z sleeper) draw() func(n int) int {
	state := uint64(z.now)
	return func(n int) int {
		state = 6364136223846793005*state + 1442695040888963407
		return int(state >> 33 % uint64(n))
	}
}
