package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/fewest"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// attached sees to applications whose executors another cluster manager starts and
// ends: their drivers tell of these, nodes find them, and nobody here places, starts, stops or replaces one.
type attached struct{ *core }

// begin begins a batch, or goes on with the one that has begun.
func (t attached) begin() *ground {
	if t.said.ground == nil {
		t.said.walks++
		t.said.ground = &ground{machines: machines(t.view), held: map[string]*holding{}}
	}
	return t.said.ground
}

// batched reports whether a batch has begun.
func (t attached) batched() bool { return t.said.ground != nil }

// settle ends a batch: nodes hold no more than they may.
func (t attached) settle() {
	g := t.said.ground
	t.said.ground = nil
	for _, node := range g.crowded {
		t.trim(node)
	}
}

// hold ends the batch of a's driver, and what is thought of a follows.
func (t attached) hold(a *ledger.App) {
	t.settle()
	t.follow(a)
}

// held is what a node holds.
func (t attached) held(node string) *holding {
	g := t.begin()
	h, known := g.held[node]
	if !known {
		t.said.walks++
		h = heldBy(t.view, node)
		g.held[node] = h
	}
	return h
}

// lookEvery is how often that is asked.
const lookEvery = 2 * time.Second

// mostFree is the part of an application's cores that may run free: beyond it holding back the others says little of
// when a stage ends.
const mostFree = 0.1

// enter takes an application in: it does not wait, for its cluster manager has a queue of its own.
func (t attached) enter(by api.Principal, d admission.Admission) (*ledger.App, error) {
	if err := admission.Bounded(t.view, by, d.Tenant, 0, false); err != nil {
		return nil, err
	}
	wanted := fewest.First(t.outlook, d.App())
	s := placement.Attached(t.view, &d.Tenant, cmp.Or(wanted, placement.MostAttached(t.view, &d.Tenant)))
	d.Tenant.Cores, d.Tenant.Slots, d.Tenant.PerNode = s.Cores, s.Slots, s.PerNode
	d.Promise.Judgement = t.verdicts.Judge(t.outlook, d.App(), s, t.now)
	must := d.Promise.Deadline > 0 && !d.Promise.Reclaimed && (d.Promise.Required || t.line.Late == assign.Refuse)
	if must && d.Promise.Verdict == api.VerdictInfeasible {
		starter{t.core}.refuse(d)
		return nil, api.Errorf(api.KindInfeasible, "%s", d.Promise.Reason)
	}
	if !t.apply(ledger.Registered{ID: d.ID, Name: d.Name, Serial: d.Serial, Tenant: d.Tenant, Promise: d.Promise,
		Matched: d.Profile != nil}) {
		return nil, api.Errorf(api.KindTransient, "application %s could not be taken in", d.ID)
	}
	if wanted > 0 {
		t.apply(placement.ExecutorsWanted{OfApp: ledger.OfApp{App: d.ID}, Count: wanted})
	}
	return t.view.App(d.ID), nil
}

// up takes in an executor that a's driver has, in a batch that is to be settled.
func (t attached) up(a *ledger.App, x *api.ExecutorEvent) {
	if t.beyond(a, x.ID) {
		return
	}
	if known := a.Executor(x.ID); known != nil && !known.MayRun() && !known.Unknown() {
		return // Its driver has not heard yet that its process has exited.
	}
	t.attach(a, x.ID, ledger.Attached{Host: api.Clip(x.Host, api.MostName), Container: x.Container, Machine: x.Machine,
		Cores: cmp.Or(x.Cores, a.Tenant.Launch.Cores), Memory: x.Memory})
}

// beyond reports whether no executor of a of that id is taken, and says once of an application that its driver names
// executors of such numbers.
func (t attached) beyond(a *ledger.App, id api.ExecutorID) bool {
	number := ledger.Number(id)
	if number == 0 {
		return true
	}
	if number <= api.MostExecutorID && !a.Beyond(number) {
		return false
	}
	if !t.memory.lent.strange[a.ID] {
		t.memory.lent.strange[a.ID] = true
		const why = "executor %s is not taken: its number is far beyond those that are known, or beyond %d"
		r := api.Errorf(api.KindInvalid, why, id, api.MostExecutorID)
		t.record(ledger.MessageRefused{From: fmt.Sprintf("the driver of %s", a.ID), Err: r})
		t.say(a.ID, r.Message)
	}
	return true
}

// attach records where an executor of a is.
func (t attached) attach(a *ledger.App, id api.ExecutorID, is ledger.Attached) {
	g, had := t.begin(), ""
	if x := a.Executor(id); x != nil && !x.Gone {
		had = x.Node
	}
	node := t.holder(a, is, had)
	if !t.record(ledger.ExecutorAttached{App: a.ID, ID: id, Node: node, Attached: is}) || node == had {
		return
	}
	g.held[had].add(a.ID, -1)
	if g.held[node].add(a.ID, 1) > api.MostExecutors && !slices.Contains(g.crowded, node) {
		g.crowded = append(g.crowded, node)
	}
}

// holder is the node that is to hold an executor of a which had as its node: "" where none attaches to its machine, or
// that one holds as many executors as it may, of a or in all, or has no room for a in its Plan.
func (t attached) holder(a *ledger.App, is ledger.Attached, had string) string {
	node := nodeOf(t.begin().machines, is, had)
	if node == had || node == "" {
		return node
	}
	switch here := t.view.Allocation(a, node); {
	case here.Full(), here == nil && t.view.LaunchBytes(t.view.Node(node)) > api.MostPlanLaunches-api.MostPath:
		return ""
	case !t.held(node).takes(a.ID):
		return ""
	}
	return node
}

// trim has a node hold no more executors than it can tell of: of the applications that have the most there the newest
// ones run free.
func (t attached) trim(node string) {
	held := heldBy(t.view, node)
	if held.all <= api.MostExecutors {
		return
	}
	share, more := api.Level(held.of, api.MostExecutors), api.MostExecutors
	for _, n := range held.of {
		more -= min(n, share)
	}
	for _, here := range slices.Clone(t.view.Allocations(node)) {
		most := share
		if held.of[here.App.ID] <= most {
			continue
		}
		if more > 0 {
			most, more = most+1, more-1 // The rest of the division stays: else it would come and go for ever.
		}
		for _, x := range slices.Clone(here.Executors[most:]) {
			if x.Attached != nil {
				t.record(ledger.ExecutorAttached{App: here.App.ID, ID: x.ID, Attached: *x.Attached})
			}
		}
		t.follow(here.App)
	}
}

// gone takes in that a's driver has lost an executor, in a batch that is to be settled.
func (t attached) gone(a *ledger.App, x *ledger.Executor, reason string) {
	if x != nil && !x.Gone {
		t.begin().held[x.Node].add(a.ID, -1)
		t.core.gone(a, x, reason)
	}
}

// standing is how a node stands, which may not be there.
func (t attached) standing(node string) standing {
	n := t.view.Node(node)
	if n == nil || !n.Attaches() {
		return standing{}
	}
	s := standing{machine: n.Machine, incarnation: n.Incarnation, presence: n.Presence, offered: n.Offered}
	for _, here := range t.view.Allocations(node) {
		s.executors += len(here.Executors)
		for i, x := range here.Executors {
			if x.Attached != nil && x.Attached.Unpaced != "" {
				s.unpaced += 1 + i // Two sets of them may have one sum: then the next tick sees to it.
			}
		}
	}
	return s
}

// moved reports whether the node at hand attaches, and does not stand as it stood before it spoke.
func (t attached) moved() bool {
	now := t.standing(t.said.node)
	return now != t.said.stood && now.machine != ""
}

// heard takes in what the node at hand has said: executors that ran free there are its own from now on, and nobody's
// where another node says that it is the same machine. Where it stands as before there is nothing to see to before the
// next tick.
func (t attached) heard() {
	t.dispute(t.begin().machines[t.view.Node(t.said.node).Machine])
	for _, a := range t.seek() {
		t.follow(a)
	}
}

// dispute has it told once which nodes say that they are the same machine.
func (t attached) dispute(nodes []*ledger.Node) {
	if len(nodes) < 2 {
		return
	}
	for _, n := range nodes {
		if t.memory.lent.disputes[n.Node] != n.Incarnation {
			t.memory.lent.disputes[n.Node] = n.Incarnation
			t.record(ledger.MachineDisputed{Node: n.Node, Nodes: names(nodes)})
		}
	}
}

// names are those of nodes, for who reads them.
func names(nodes []*ledger.Node) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.Node)
	}
	return strings.Join(all, ", ")
}

// seek has the node controllers that are here hold the executors of attached applications, which it returns: one whose
// node is away, or is not known to be its machine's, runs free until that has changed.
func (t attached) seek() (all []*ledger.App) {
	t.begin()
	for a := range t.view.Running() {
		if a.Tenant.Launch.Attach == nil {
			continue
		}
		all = append(all, a)
		t.said.walks++
		for _, x := range a.Alive() {
			if x.Attached != nil && t.holder(a, *x.Attached, x.Node) != x.Node {
				t.attach(a, x.ID, *x.Attached)
			}
		}
	}
	t.settle()
	return all
}

// look looks whose executors run free now.
func (t attached) look() {
	maps.DeleteFunc(t.memory.lent.strange, func(id api.AppID, _ bool) bool { return t.view.App(id) == nil })
	t.seek()
}

// follow has what is thought of a follow the executors that it has now.
func (t attached) follow(a *ledger.App) {
	if !a.Running() {
		return
	}
	t.said.walks++
	t.resize(a)
	if why := observed(a, t.view); why != placement.AttachmentOf(a).Observed && a.Promise.Mode != ledger.Off {
		t.record(placement.AttachedObserved{OfApp: ledger.OfApp{App: a.ID}, Because: why})
		why = cmp.Or(why, "its executors can be held back again")
		t.say(a.ID, why)
	}
	if !a.Paced() {
		return
	}
	for _, s := range a.Opened() {
		if s.Planned && stale(a, s) {
			t.apply(schedule.Bound(t.outlook, a, s))
		}
	}
}

// stale reports whether s has targets for executors that run free or are elsewhere now, or lacks some.
func stale(a *ledger.App, s *ledger.Stage) bool {
	held := 0
	for _, b := range s.Ready.Bindings {
		x := a.Executor(b.Executor)
		if x == nil || x.Gone || x.Free() || b.Tasks <= 0 || !(b.Weight > 0) {
			continue
		}
		held++
		if t, has := s.TargetOf(x.ID); !has || t.Node != x.Node {
			return true
		}
	}
	return held != len(s.Targets)
}

// speaks is how long an executor's plugin may take to say on which machine it is.
const speaks units.Seconds = 5

// awaited reports whether it may be that the plugin of x, an executor of a, has yet to say on which machine it is.
func awaited(a *ledger.App, x *ledger.Executor, now units.Instant) bool {
	return x.Node == "" && x.Attached.Machine == "" && a.At(now) < x.Since+speaks
}

// observed says why nothing of a is held back, "" where it is: more than mostFree of its cores are those of executors
// that run free.
func observed(a *ledger.App, v ledger.View) string {
	var all, free units.Cores
	var first *ledger.Executor
	for _, x := range a.Alive() {
		if awaited(a, x, v.Now()) {
			continue
		}
		most := a.Tenant.MostOf(x, v.Offered(x.Node))
		all += most
		if x.Free() {
			free += most
			if first == nil {
				first = x
			}
		}
	}
	if first == nil || free <= mostFree*all {
		return ""
	}
	why := first.Attached.Unpaced
	if first.Node == "" {
		why = fmt.Sprintf("no node controller attaches on host %s", cmp.Or(first.Attached.Host, "of no name"))
		switch of := machines(v)[first.Attached.Machine]; {
		case len(of) > 1:
			why = fmt.Sprintf("nodes %s say that they are its machine, and one can be", names(of))
		case first.Attached.Machine == "":
			why += ", or its plugin has not said that it is there"
		case len(of) == 1 && heldBy(v, of[0].Node).all >= api.MostExecutors:
			why = fmt.Sprintf("node %s holds %d executors, as many as it may", of[0].Node, api.MostExecutors)
		default:
			for _, node := range a.Seats() {
				if v.Allocation(a, node).Full() {
					why = fmt.Sprintf("node %s holds %d of its executors, as many as it may", node, api.MostOnHost)
				}
			}
		}
	}
	return fmt.Sprintf("nothing is held back, for %.1f of its %.1f cores cannot be: executor %s: %s", float64(free),
		float64(all), first.ID, why)
}
