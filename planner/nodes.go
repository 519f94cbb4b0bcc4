package planner

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// republish is how long a node may follow an older Plan before it is told again.
	republish = time.Second
	// forgetNode is how long a node without executors may be away before it is
	// forgotten. Its next Plan still has a greater epoch: epochs are the planner's.
	forgetNode = time.Hour
)

// nodes take in what node controllers say.
type nodes struct{ *core }

// hello takes a node's first status after it connected.
func (f nodes) hello(ev Hello) {
	s := &ev.Status
	err := f.credible(s)
	if err == nil {
		err = f.claim(s)
	}
	if err != nil {
		f.reply(ev.To, func() any { return api.HelloReply{V: api.Version, Error: api.ToWire(err)} })
		return
	}
	n := f.join(s)
	f.reply(ev.To, func() any { return api.HelloReply{V: api.Version, Plan: f.view.Plan(n)} })
}

// leaveOut tells once of each application of which s says what cannot be; s does not say it any more.
func (f nodes) leaveOut(s *api.NodeStatus, faults []api.PartFault) {
	for _, fault := range faults {
		if !f.memory.doubts.part(s.Node, fault.App) {
			continue
		}
		f.record(ledger.MessageRefused{From: "node " + s.Node, Err: fmt.Errorf(
			"a part of it is left out, application %q: %s", string(fault.App), fault.Fault)})
		if a := f.view.App(fault.App); a != nil && f.view.Allocation(a, s.Node) != nil {
			f.say(a.ID, fmt.Sprintf("what node %s says of it is left out: %s", s.Node, fault.Fault))
		}
	}
}

// credible takes faulty parts out of s, and says what is wrong with it as a whole, whoever sends it. The
// epochs of this planner's Plans begin above those that its nodes follow, in case it has lost its state; one
// that no planner can have reached would leave no numbers for them.
func (f nodes) credible(s *api.NodeStatus) error {
	faults, err := s.Sift()
	if err != nil {
		return err
	}
	f.leaveOut(s, faults)
	if newest := f.view.Epoch(); s.Epoch > newest+api.MostLead && f.follows(s) == "" {
		return api.Errorf(api.KindInvalid,
			"node %s says that it follows Plan %d, and this planner's newest is %d: remove the node's state directory, or "+
				"correct who sends this", s.Node, s.Epoch, newest)
	}
	return nil
}

// claim says whether s may speak for its node's name. A second incarnation is
// either a restart or a clash: the first one's silence tells.
func (f nodes) claim(s *api.NodeStatus) error {
	n := f.view.Node(s.Node)
	if n == nil || !n.Here() || !n.Spoken() || n.Incarnation == s.Incarnation ||
		f.view.Uptime()-n.Heard >= f.cfg.NodeClash {
		return nil
	}
	if n.Clash.Challenger != s.Incarnation {
		f.record(ledger.NodeChallenged{Node: s.Node, Incarnation: s.Incarnation})
	}
	if n.Clash.Confirmed {
		f.record(ledger.NodeClash{Node: s.Node, Incarnation: s.Incarnation})
		return api.Errorf(api.KindConflict, "another node controller uses the name %s: give each its own", s.Node)
	}
	return api.Errorf(api.KindTransient, "node %s was connected a moment ago: try again in %v", s.Node, f.cfg.NodeClash)
}

// follows is the other planner that s's sender follows, "" for none: one without a
// name counts as this one.
func (f nodes) follows(s *api.NodeStatus) string {
	if identity := f.view.Identity(); identity == "" || s.Planner == identity {
		return ""
	}
	return s.Planner
}

// join makes s's sender the node of its name.
func (f nodes) join(s *api.NodeStatus) *ledger.Node {
	n := f.view.Node(s.Node)
	f.record(ledger.NodeJoined{Node: s.Node, Incarnation: s.Incarnation, Epoch: s.Epoch, Follows: f.follows(s),
		News: n == nil || !n.Here() || n.Incarnation != s.Incarnation, Offered: s.Offered, Memory: s.Memory})
	n = f.view.Node(s.Node)
	f.takeIn(n, s)
	return n
}

// status takes a later status of a node.
func (f nodes) status(s *api.NodeStatus) {
	if err := f.credible(s); err != nil {
		if f.memory.doubts.whole(s.Node, err.Error()) {
			f.record(ledger.MessageRefused{From: "node " + s.Node, Err: err})
		}
		return
	}
	n := f.view.Node(s.Node)
	switch {
	case n == nil || !n.Spoken() || (!n.Here() && n.Incarnation != s.Incarnation):
		// A planner that was restarted beside a node that did not notice.
		n = f.join(s)
	case n.Incarnation != s.Incarnation || s.Seq <= n.Seq:
		return
	case n.Presence == ledger.Lost:
		n = f.join(s)
	default:
		f.takeIn(n, s)
	}
	// Another planner's node learns nothing from a Plan that does not succeed that one's, or
	// has no executors for it.
	w := &n.Allegiance
	listens := w.Follows == "" || w.Succeeds == w.Follows || n.Planned() && !w.Foreign
	if listens && n.Acked < n.Epoch && f.view.Uptime()-n.Published >= republish {
		f.record(ledger.PlanRepeated{Node: n.Node})
	}
}

// takeIn takes in what a status says.
func (f nodes) takeIn(n *ledger.Node, s *api.NodeStatus) {
	foreign, follows, memory, offered := n.Allegiance.Foreign, n.Allegiance.Follows, n.Room(), n.Offered
	f.record(ledger.NodeSaid{Status: s, Follows: f.follows(s)})
	if n.Room() < memory || n.Offered < offered {
		f.shrunk(n, offered)
	}
	if n.Allegiance.Follows != "" && n.Allegiance.Foreign && (!foreign || n.Allegiance.Follows != follows) {
		f.record(ledger.NodeForeign{Node: n.Node, Planner: n.Allegiance.Follows})
	}
	if follows != "" && n.Allegiance.Follows == "" {
		f.returned(n, s)
	}
	f.settle(n)
	f.reported(n, s)
	f.faulty(n, s.Faults)
}

// faulty ends the applications that a node cannot have any longer. It speaks only for those
// that have executors there.
func (f nodes) faulty(n *ledger.Node, faults []api.AppFault) {
	for _, fault := range faults {
		a := f.view.App(fault.App)
		if a == nil || !a.Running() || a.Outcome.Killed != "" || f.view.Allocation(a, n.Node) == nil {
			continue
		}
		f.record(ledger.KillAsked{App: a.ID, By: "node " + n.Node + ": " + fault.Reason})
	}
}

// shrunk looks for whom a node that offered so many cores gives too little now, and says so.
// Nobody's executors are taken away: what is promised to the others is not touched, and who
// is hit has what is left.
func (f nodes) shrunk(n *ledger.Node, offered units.Cores) {
	memory, cores := f.line.Overcommitted(f.view, n, offered)
	f.hit(n, memory,
		fmt.Sprintf("gives %s to executors now, less than they take there", n.Room().Words()),
		"lost executors there are not replaced")
	f.hit(n, cores, fmt.Sprintf("offers %v cores now, less than is promised there", n.Offered),
		"the deadline may be missed")
}

// hit tells those that are hit what happened to their node, and what that means.
func (f nodes) hit(n *ledger.Node, apps []*ledger.App, what, means string) {
	if len(apps) == 0 {
		return
	}
	fact := ledger.NodeShrunk{Node: n.Node, What: what, Means: means}
	for _, a := range apps {
		fact.Hit = append(fact.Hit, a.ID)
	}
	f.record(fact)
}

// lose looks for nodes that have been silent for too long, and says when that is to be done again: no node is too
// silent before the first that would be, were it not heard again, and a node that comes or is heard later is silent
// for less. Uptime passes no faster than time.
func (f nodes) lose() {
	uptime := f.view.Uptime()
	silence := uptime + min(f.cfg.NodeLost, forgetNode)
	for _, n := range f.view.Nodes() {
		bound := f.cfg.NodeLost
		if !n.Here() {
			bound = forgetNode
		}
		switch silent := uptime - n.Heard; {
		case silent < bound:
		case n.Here():
			f.record(ledger.NodeLost{Node: n.Node, Silent: silent})
			f.memory.doubts.lost(n.Node)
		case !n.Planned():
			f.record(ledger.NodeForgotten{Node: n.Node})
			delete(f.memory.doubts, n.Node)
			continue
		}
		silence = min(silence, n.Heard+bound)
	}
	askAt(f.core, f.now.Add(silence-uptime))
}

// silent goes on from what was heard of nodes while this planner stood by. Who was not heard
// has been silent for all of that time.
func (f nodes) silent(s Silence) {
	for _, n := range f.view.Nodes() {
		last, heard := s.Last[n.Node]
		if !heard || last > s.Listened {
			last = s.Listened
		}
		if n.Here() && last > 0 {
			f.record(ledger.NodeSilent{Node: n.Node, For: last})
		}
	}
}

// reported takes in the exits that a node's status tells. An executor that was given up as
// unstarted and is there is its application's again: its driver may have it by now.
func (f nodes) reported(n *ledger.Node, s *api.NodeStatus) {
	components{f.core}.left(n, s)
	for i := range s.Executors {
		told := &s.Executors[i]
		a := f.view.App(told.App)
		if a == nil {
			continue
		}
		if told.ID.Component() {
			components{f.core}.told(n, a, told)
			continue
		}
		x := a.Executor(told.ID)
		if x != nil && x.Node == n.Node && told.Taken {
			f.apply(lending.Taken(a, x)...)
		}
		switch {
		case x == nil || x.Node != n.Node:
		case told.State == api.ExecutorExited:
			if !x.Gone {
				if told.Refused {
					f.say(a.ID, fmt.Sprintf("node %s does not hold executor %s: %s", n.Node, x.ID, told.Exit))
					f.record(ledger.ExecutorRefused{App: a.ID, ID: x.ID, Node: n.Node, User: a.Tenant.Owner.User, Why: told.Exit})
				}
				f.gone(a, x, cmp.Or(told.Exit, "it exited"))
			}
		case x.Unstarted && a.Running():
			executors{f.core}.up(x, ledger.ExecutorUp{App: a.ID, ID: x.ID, Told: true})
		}
	}
}
