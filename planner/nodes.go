package planner

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

const (
	// republish is how long a node may follow an older Plan before it is told again.
	republish = time.Second
	// forgetNode is how long a node without executors may be away before it is
	// forgotten. Its next Plan still has a greater epoch: epochs are the planner's.
	forgetNode = time.Hour
)

// hello takes a node's first status after it connected.
func (f *nodes) hello(ev Hello) {
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
func (f *nodes) leaveOut(s *api.NodeStatus, faults []api.PartFault) {
	for _, fault := range faults {
		if !f.doubts.part(s.Node, fault.App) {
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
func (f *nodes) credible(s *api.NodeStatus) error {
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
func (f *nodes) claim(s *api.NodeStatus) error {
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
func (f *nodes) follows(s *api.NodeStatus) string {
	if identity := f.view.Identity(); identity == "" || s.Planner == identity {
		return ""
	}
	return s.Planner
}

// join makes s's sender the node of its name.
func (f *nodes) join(s *api.NodeStatus) *ledger.Node {
	n := f.view.Node(s.Node)
	f.record(ledger.NodeJoined{Node: s.Node, Incarnation: s.Incarnation, Epoch: s.Epoch, Follows: f.follows(s),
		News: n == nil || !n.Here() || n.Incarnation != s.Incarnation, Offered: s.Offered, Memory: s.Memory})
	n = f.view.Node(s.Node)
	f.said(n, s)
	return n
}

// status takes a later status of a node.
func (f *nodes) status(s *api.NodeStatus) {
	if err := f.credible(s); err != nil {
		if f.doubts.whole(s.Node, err.Error()) {
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
		f.said(n, s)
	}
	// Another planner's node learns nothing from a Plan that does not succeed that one's, or
	// has no executors for it.
	w := &n.Allegiance
	listens := w.Follows == "" || w.Succeeds == w.Follows || n.Planned() && !w.Foreign
	if listens && n.Acked < n.Epoch && f.view.Uptime()-n.Published >= republish {
		f.record(ledger.PlanRepeated{Node: n.Node})
	}
}

// said takes in what a status says.
func (f *nodes) said(n *ledger.Node, s *api.NodeStatus) {
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
	f.due = f.due || s.Leaving
}

// faulty ends the applications that a node cannot have any longer. It speaks only for those
// that have executors there.
func (f *nodes) faulty(n *ledger.Node, faults []api.AppFault) {
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
func (f *nodes) shrunk(n *ledger.Node, offered units.Cores) {
	memory, cores := f.line.Overcommitted(f.view, n, offered)
	f.hit(n, memory,
		fmt.Sprintf("gives %s to executors now, less than they take there", n.Room().Words()),
		"lost executors there are not replaced")
	f.hit(n, cores, fmt.Sprintf("offers %v cores now, less than is promised there", n.Offered),
		"the deadline may be missed")
}

// hit tells those that are hit what happened to their node, and what that means.
func (f *nodes) hit(n *ledger.Node, apps []*ledger.App, what, means string) {
	if len(apps) == 0 {
		return
	}
	fact := ledger.NodeShrunk{Node: n.Node, What: what, Means: means}
	for _, a := range apps {
		fact.Hit = append(fact.Hit, a.ID)
	}
	f.record(fact)
}

// tick looks for nodes that have been silent for too long. Before f.silence none
// can have been: the walk before it has found the first that would be, were it not heard
// again, and a node that comes or is heard after that walk is silent for less.
func (f *nodes) tick() {
	uptime := f.view.Uptime()
	if uptime < f.silence {
		return
	}
	f.silence = uptime + min(f.cfg.NodeLost, forgetNode)
	for _, n := range f.view.Nodes() {
		bound := f.cfg.NodeLost
		if !n.Here() {
			bound = forgetNode
		}
		switch silent := uptime - n.Heard; {
		case silent < bound:
		case n.Here():
			f.due = true
			f.record(ledger.NodeLost{Node: n.Node, Silent: silent})
			f.doubts.lost(n.Node)
		case !n.Planned():
			f.record(ledger.NodeForgotten{Node: n.Node})
			delete(f.doubts, n.Node)
			continue
		}
		f.silence = min(f.silence, n.Heard+bound)
	}
}

// silent goes on from what was heard of nodes while this planner stood by. Who was not heard
// has been silent for all of that time.
func (f *nodes) silent(s Silence) {
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

// drain empties a node: it gets no new executors, and those that it has
// leave as soon as their applications have others to go on with.
func (f *nodes) drain(q api.ControlRequest) (api.ControlReply, error) {
	n, err := f.known(q.Node)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !n.Draining || n.Sleep.Asleep {
		f.record(ledger.NodeDrained{Node: n.Node, Draining: true})
	}
	f.levers.ask(placement.Vacate)
	stay := 0
	for a := range f.view.Running() {
		if f.view.Allocation(a, n.Node).Stays() {
			stay++
		}
	}
	message := fmt.Sprintf("node %s drains: it gets no new executors", n.Node)
	if stay > 0 {
		message += fmt.Sprintf("; %d of its applications have no executors elsewhere and stay until they have or end", stay)
	}
	return api.ControlReply{Message: message}, nil
}

// undrain lets a node have executors again, of running applications too.
func (f *nodes) undrain(q api.ControlRequest) (api.ControlReply, error) {
	n, err := f.known(q.Node)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !n.Draining {
		return api.ControlReply{Message: fmt.Sprintf("node %s was not draining", n.Node)}, nil
	}
	f.record(ledger.NodeDrained{Node: n.Node, Offered: n.Offered, Memory: n.Memory})
	return api.ControlReply{Message: fmt.Sprintf("node %s takes executors again", n.Node)}, nil
}

// divide has a node, or all of them, divide its cores by another strategy from now on.
func (f *nodes) divide(q api.ControlRequest) (api.ControlReply, error) {
	if q.Node != "" {
		if _, err := f.known(q.Node); err != nil {
			return api.ControlReply{}, err
		}
	}
	if d := q.Division; d != nil {
		if err := (supervisor.Config{Strategy: d.Strategy, Gamma: d.Gamma, Eq21: d.Eq21}).Validate(); err != nil {
			return api.ControlReply{}, api.Errorf(api.KindInvalid, "%v", err)
		}
	}
	fact := ledger.DivisionSet{Node: q.Node, Division: q.Division}
	f.record(fact)
	return api.ControlReply{Message: ledger.Change{Fact: fact}.Line().Text + " from now on"}, nil
}

func (f *nodes) known(name string) (*ledger.Node, error) {
	if n := f.view.Node(name); n != nil {
		return n, nil
	}
	return nil, api.Errorf(api.KindNotFound, "node %q is not known: `pacer nodes` lists them", name)
}
