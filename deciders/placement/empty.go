package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/consolidation"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Ways to treat nodes that others have room for (planner.Config.Consolidate).
const (
	ConsolidateOff    = "off"
	ConsolidateAdvise = "advise"
	ConsolidateApply  = "apply"
)

// Consolidates are these.
func Consolidates() []string { return []string{ConsolidateOff, ConsolidateAdvise, ConsolidateApply} }

// lately is over how long an executor's CPU counts as what it uses now.
const lately units.Seconds = 60

// A drain takes time: blocks move at a rate, and running tasks end first.
const (
	drainRate  = 100 * units.MiB
	drainTasks = units.Seconds(10)
)

// machine is a node with what is used of it. Its executors are VMs by GLAP's words, of an application each.
type machine struct {
	consolidation.Machine
	node *ledger.Node
	of   []*ledger.App
}

// rules are how nodes are compared: executors have no size but the node's, and nothing counts that would come after a
// move. Where executors are alike, the only move that is known of a node that is full ends in overload, and discounted
// values would have each node refuse all.
func rules() consolidation.Config {
	c := consolidation.Default()
	c.Levels, c.Gamma = consolidation.LevelsMachine, 0
	return c
}

// machines are the nodes that take executors, in order of name.
func machines(v ledger.View) (all []machine) {
	for _, n := range v.Live() {
		all = append(all, machineOf(v, n))
	}
	return all
}

func machineOf(v ledger.View, n *ledger.Node) machine {
	m := machine{node: n}
	if n.Offered > 0 { // Cores that the node does not offer are others' anyway.
		m.Now.CPU = float64(max(0, n.Others-(n.Total-n.Offered)) / n.Offered)
	}
	m.Mean = m.Now
	for _, t := range v.Allocations(n.Node) {
		now := t.App.At(v.Now())
		for _, x := range t.Executors {
			if x.Leaving {
				continue
			}
			since := max(x.Since, now-lately)
			memory := float64(residents(t.App, x)) / float64(n.Room())
			vm := consolidation.VM{Now: consolidation.Use{CPU: rate(x.CPU-x.UsedAt(since), now-since, n), Memory: memory},
				Mean: consolidation.Use{CPU: rate(x.CPU, now-x.Since, n), Memory: memory}, Cost: memory}
			vm.Action = rules().Action(vm.Mean, consolidation.Use{})
			m.VMs, m.of = append(m.VMs, vm), append(m.of, t.App)
			m.Now, m.Mean = m.Now.Plus(vm.Now), m.Mean.Plus(vm.Mean)
		}
	}
	return m
}

// residents is what of x, which is a's, is resident; of one that has not said that it is what it may take.
func residents(a *ledger.App, x *ledger.Executor) units.Bytes {
	return cmp.Or(x.Memory.Resident, a.Tenant.Claim())
}

// rate is which part of n's cores so much CPU time is, over so long.
func rate(used units.Work, over units.Seconds, n *ledger.Node) float64 {
	if !(over > 0) || !(n.Offered > 0) {
		return 0
	}
	return max(0, float64(used)/float64(over)/float64(n.Offered))
}

// full is which part of a node's cores shows as used when all are: statuses are up to a second old, quotas not exact.
const full = 0.95

// Overloaded reports whether n's executors and others use up a resource of it.
func Overloaded(v ledger.View, n *ledger.Node) bool {
	now := machineOf(v, n).Now
	return now.CPU >= full || now.Overloaded()
}

// Learn trains t for a round on each node that has executors, with one that is drawn.
func Learn(v ledger.View, t *consolidation.Tables, draw func(n int) int) {
	c, all := rules(), machines(v)
	for _, m := range all {
		if len(m.VMs) > 0 && c.Trains(m.Now) {
			c.Learn(t, slices.Concat(m.VMs, all[draw(len(all))].VMs), draw)
		}
	}
}

// Advice is which node may sleep.
type Advice struct {
	// Node is the least used one that takes executors, "" where there are fewer than two.
	Node   string
	Sleeps bool
	// Why is why it may sleep, or who is in the way.
	Why string
}

// String is a line for people.
func (a Advice) String() string {
	switch {
	case a.Node == "":
		return a.Why
	case a.Sleeps:
		return fmt.Sprintf("node %s may sleep: %s", a.Node, a.Why)
	}
	return fmt.Sprintf("node %s is the least used, and stays awake: %s", a.Node, a.Why)
}

// Empty says whether the least used node may sleep: others take all that it has (Algorithm 4 of package consolidation),
// nothing there would be late, and nobody waits. It is never one that was woken a moment ago.
func Empty(o *estimate.Outlook, t *consolidation.Tables) Advice {
	v, all := o.View, machines(o.View)
	if len(all) < 2 {
		return Advice{Why: "at most one node takes executors: it stays awake"}
	}
	slices.SortStableFunc(all, func(a, b machine) int { return cmp.Compare(a.Now.Total(), b.Now.Total()) })
	least := all[0]
	var faults []string
	if n := len(v.Waiting()); n > 0 {
		faults = append(faults, fmt.Sprintf("%d applications wait", n))
	}
	if left := sleep.Of(least.node).Until.Sub(v.Now()); left > 0 {
		faults = append(faults, fmt.Sprintf("it was woken, and stays awake for %.0f s more", left.Seconds()))
	}
	for _, a := range slices.Compact(least.of) {
		if why := stays(o, a, least.node); why != "" {
			faults = append(faults, fmt.Sprintf("%s %s", a.ID, why))
		}
	}
	for _, a := range v.Apps() {
		if component.On(a, least.node.Node) {
			faults = append(faults, fmt.Sprintf("it runs the driver of %s, or another component", a.ID))
		}
	}
	rest := consolidation.Machine{Now: least.Now, Mean: least.Mean, VMs: slices.Clone(least.VMs)}
	for _, to := range slices.Backward(all[1:]) {
		moved, _ := rules().HandOver(t, &rest, &to.Machine)
		slices.Sort(moved)
		for _, at := range slices.Backward(moved) {
			rest.VMs = slices.Delete(rest.VMs, at, at+1)
		}
	}
	if n := len(rest.VMs); n > 0 {
		faults = append(faults, fmt.Sprintf("%d of its executors have no room elsewhere that does not end in overload", n))
	}
	if len(faults) > 0 {
		return Advice{Node: least.node.Node, Why: strings.Join(faults, "; ")}
	}
	return Advice{Node: least.node.Node, Sleeps: true,
		Why: fmt.Sprintf("it uses %.0f %% of its cores and %.0f %% of its memory, which others have to spare",
			100*least.Now.CPU, 100*least.Now.Memory)}
}

// stays says why a may not leave n, "" if it may.
func stays(o *estimate.Outlook, a *ledger.App, n *ledger.Node) string {
	p, elsewhere, moves := &a.Promise, false, units.Bytes(0)
	for _, x := range a.Alive() {
		on := o.View.Node(x.Node)
		elsewhere = elsewhere || on != nil && on != n && on.Live() && x.Registered && !x.Leaving
		if on == n {
			moves += residents(a, x)
		}
	}
	switch {
	case p.Mode == ledger.Recording && a.Profile == nil:
		return "is in its first run, which would teach nothing"
	case !elsewhere:
		return "has no executor elsewhere"
	case p.Deadline <= 0:
		return ""
	case a.Profile == nil:
		return "has a deadline, and nobody knows when it ends"
	}
	drain := drainTasks + units.Seconds(float64(moves)/float64(drainRate))
	if end := estimate.Without(a, o, n.Node); end+2*drain > p.Deadline {
		return fmt.Sprintf("would end after %.0f s of its %.0f s, with a drain of %.0f s", end, p.Deadline, drain)
	}
	return ""
}
