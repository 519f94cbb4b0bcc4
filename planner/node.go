package planner

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// The words for a node's state in `pacer nodes`.
const (
	nodeReady    = "ready"
	nodeLost     = "lost"
	nodeLeaving  = "left"
	nodeForeign  = "another's" // Executors of another planner run there.
	nodeDraining = "draining"  // Executors still run there.
	nodeDrained  = "drained"
)

// nodeRecord is what is stored of a node, under plan/NODE.
type nodeRecord struct {
	V       int         `json:"v"`
	Node    string      `json:"node"`
	Host    string      `json:"host"`
	Offered units.Cores `json:"offered_cores"`
	Total   units.Cores `json:"total_cores"`
	Memory  units.Bytes `json:"memory_bytes"`
	Release string      `json:"release,omitempty"`
	// Draining says that somebody wants it empty.
	Draining bool `json:"draining,omitempty"`
	// Epoch is that of the Plan in force, or of an earlier one with the same
	// executors: see executor.planEpoch.
	Epoch uint64 `json:"epoch"`
}

// planEntry is what makes one application's part of a Plan new or not: whatever
// passes with time is left out.
type planEntry struct {
	App       api.AppID
	Deadline  units.Seconds
	Executors []api.ExecutorID
	Targets   []planTarget
}

type planTarget struct {
	Stage    api.StageKey
	Executor api.ExecutorID
	Rev      uint64
	Hold     units.Cores
}

// settled reports whether o differs from p at most in targets and deadline: who
// runs where is the same.
func (p *planEntry) settled(o *planEntry) bool {
	return p.App == o.App && slices.Equal(p.Executors, o.Executors)
}

func (p *planEntry) equal(o *planEntry) bool {
	return p == o || p.App == o.App && p.Deadline == o.Deadline && slices.Equal(p.Executors, o.Executors) && slices.Equal(p.Targets, o.Targets)
}

// node is a node as the planner knows it.
type node struct {
	state       string
	incarnation string
	seq         uint64
	acked       uint64 // The epoch that its last status said.
	executors   int
	others      units.Cores // What others than executors last used of it.
	// heard is Engine.uptime when it was last heard, published when its Plan was
	// last sent.
	heard, published time.Duration
	nodeRecord
	plan []*planEntry // The content of the Plan in force.
	// challenger is another incarnation that wants the name; confirmed says that
	// the present one has spoken since.
	challenger string
	confirmed  bool
	dirty      bool // The record has to be saved.
	// follows is the other planner whose Plan it follows, "" for none; foreign says
	// that it runs executors for that one, and will take no Plan of ours until they
	// have ended.
	follows string
	foreign bool
	theirs  []api.AppID // Whose executors those are; once for each.
}

// here reports whether its controller is there, live whether new executors may
// be put there.
func (n *node) here() bool { return n.state == nodeReady }
func (n *node) live() bool { return n.here() && !n.Draining && !n.foreign }

// liveNodes returns the nodes that may get executors, in order of name.
func (e *Engine) liveNodes() []*node {
	return slices.DeleteFunc(slices.Clone(e.inOrder()), func(n *node) bool { return !n.live() })
}

func (e *Engine) offered(name string) units.Cores {
	if n := e.nodes[name]; n != nil {
		return n.Offered
	}
	return 0
}

// hello takes a node's first status after it connected.
func (e *Engine) hello(ev Hello) {
	s := &ev.Status
	err := s.Validate()
	if err == nil {
		err = e.claim(s)
	}
	if err != nil {
		e.reply(ev.To, func() any { return api.HelloReply{V: api.Version, Error: api.ToWire(err)} })
		return
	}
	n := e.join(s)
	e.reply(ev.To, func() any { return api.HelloReply{V: api.Version, Plan: e.plan(n)} })
}

// claim says whether s may speak for its node's name. A second incarnation is
// either a restart or a clash: the first one's silence tells.
func (e *Engine) claim(s *api.NodeStatus) error {
	n := e.nodes[s.Node]
	if n == nil || !n.here() || n.incarnation == "" || n.incarnation == s.Incarnation || e.uptime-n.heard >= e.cfg.NodeClash {
		return nil
	}
	if n.challenger != s.Incarnation {
		n.challenger, n.confirmed = s.Incarnation, false
	}
	if n.confirmed {
		e.occur(NodeClash{Node: s.Node, Incarnation: s.Incarnation})
		return api.Errorf(api.KindConflict, "another node controller uses the name %s: give each its own", s.Node)
	}
	return api.Errorf(api.KindTransient, "node %s was connected a moment ago: try again in %v", s.Node, e.cfg.NodeClash)
}

// join makes s's sender the node of its name.
func (e *Engine) join(s *api.NodeStatus) *node {
	n := e.nodes[s.Node]
	if n == nil {
		n = &node{nodeRecord: nodeRecord{V: stateVersion, Node: s.Node}, published: e.uptime}
		e.nodes[s.Node] = n
		e.relist()
	}
	if n.incarnation != s.Incarnation {
		n.seq = 0
	}
	if !n.here() || n.incarnation != s.Incarnation {
		e.occur(NodeJoined{Node: s.Node, Offered: s.Offered, Memory: s.Memory})
	}
	n.incarnation, n.state, n.challenger = s.Incarnation, nodeReady, ""
	if s.Epoch > n.Epoch && e.follower(s) == "" {
		// This planner has lost its state, or never had it: what it says must
		// count as newer than what the node follows.
		e.epoch, e.counters = max(e.epoch, s.Epoch), true
		n.Epoch = 0
	}
	e.growth++
	e.fold(n, s)
	e.dirty[n.Node] = true
	return n
}

// status takes a later status of a node.
func (e *Engine) status(s *api.NodeStatus) {
	if err := s.Validate(); err != nil {
		e.occur(MessageRefused{From: "node " + s.Node, Err: err})
		return
	}
	n := e.nodes[s.Node]
	switch {
	case n == nil || n.incarnation == "" || (!n.here() && n.incarnation != s.Incarnation):
		// A planner that was restarted beside a node that did not notice.
		n = e.join(s)
	case n.incarnation != s.Incarnation || s.Seq <= n.seq:
		return
	case n.state == nodeLost:
		n = e.join(s)
	default:
		e.fold(n, s)
	}
	// Another planner's node learns nothing from a Plan that has no executors for it.
	if n.acked < n.Epoch && e.uptime-n.published >= republish && (n.follows == "" || len(n.plan) > 0 && !n.foreign) {
		n.published = e.uptime
		e.publish = append(e.publish, PublishPlan{Plan: e.plan(n)})
	}
}

// republish is how long a node may follow an older Plan before it is told again.
const republish = time.Second

// follower is the other planner that s's sender follows, "" for none: one without a
// name counts as this one.
func (e *Engine) follower(s *api.NodeStatus) string {
	if e.identity == "" || s.Planner == e.identity {
		return ""
	}
	return s.Planner
}

// meet takes in whom n follows. Another planner's epochs say nothing about this one's
// Plans.
func (e *Engine) meet(n *node, s *api.NodeStatus) {
	follows := e.follower(s)
	n.theirs = n.theirs[:0]
	if follows != "" {
		n.acked = 0
		for _, x := range s.Executors {
			if x.State != api.ExecutorExited {
				n.theirs = append(n.theirs, x.App)
			}
		}
	}
	foreign := len(n.theirs) > 0
	if foreign && (!n.foreign || follows != n.follows) {
		e.occur(NodeForeign{Node: n.Node, Planner: follows})
	}
	if n.foreign && !foreign {
		e.growth++
	}
	n.follows, n.foreign = follows, foreign
}

// fold takes in what a status says.
func (e *Engine) fold(n *node, s *api.NodeStatus) {
	n.seq, n.acked, n.heard, n.confirmed = s.Seq, s.Epoch, e.uptime, true
	e.meet(n, s)
	if n.Offered != s.Offered {
		for _, t := range e.tenants[n.Node] {
			e.concern(t.app)
			t.app.touched = true
		}
	}
	if n.Memory != s.Memory {
		e.growth++
	}
	if n.Host != s.Host || n.Offered != s.Offered || n.Total != s.Total || n.Memory != s.Memory || n.Release != s.Release {
		n.Host, n.Offered, n.Total, n.Memory, n.Release, n.dirty = s.Host, s.Offered, s.Total, s.Memory, s.Release, true
	}
	n.others, n.executors = s.Others, 0
	e.noteBeside(n, s)
	for _, x := range s.Executors {
		if x.State != api.ExecutorExited {
			n.executors++
		}
		if a := e.apps[x.App]; a != nil {
			e.concern(a)
			e.executorStatus(a, n, x)
		}
	}
	for _, st := range s.Stages {
		if a := e.apps[st.App]; a != nil {
			e.concern(a)
			e.stageStatus(a, st)
		}
	}
	if s.Leaving {
		n.state = nodeLeaving
		e.occur(NodeLeft{Node: n.Node})
	}
}

// executorStatus takes in what a node says about one executor.
func (e *Engine) executorStatus(a *app, n *node, s api.ExecutorStatus) {
	x := a.executor(s.ID)
	if x == nil || x.Node != n.Node {
		return
	}
	if s.CPU > x.CPU {
		x.use(a.at(e.now), s.CPU)
		a.measure(x)
	}
	if x.State == api.ExecutorExited || s.State == x.State {
		return
	}
	x.State, a.aged = s.State, true
	if s.State == api.ExecutorExited {
		x.Exit, a.dirty = s.Exit, true
		e.gone(a, x, cmp.Or(s.Exit, "it exited"))
	}
}

// stageStatus takes in what an executor did for a stage.
func (e *Engine) stageStatus(a *app, s api.StageStatus) {
	st, x := a.stages[s.StageKey], a.executor(s.Executor)
	if st == nil || x == nil {
		return
	}
	number := number(x.ID)
	st.figures, st.views = reach(st.figures, number), reach(st.views, number)
	f, v := &st.figures[number-1], &st.views[number-1]
	before := *f
	f.CPU, f.Quotas = max(f.CPU, s.CPU), max(f.Quotas, int64(s.QuotaChanges))
	if s.HeavyCPU > f.Heavy {
		f.Heavy, f.Reading = s.HeavyCPU, s.HeavyReading
	}
	v.progress = s.Progress.Clamp()
	for _, tick := range s.Samples {
		at := a.at(e.now) - tick.Age
		v.lack(at, tick)
		v.pace.keep(at, tick)
		if a.observed() && st.Planned {
			f.noteWould(tick, e.offered(x.Node))
		}
		st.samples.add(sample{at: at, setPoint: tick.SetPoint, progress: tick.Progress, grant: tick.Grant, used: tick.Used, executor: int32(number)}, e.sampleLimit(a))
	}
	st.stale = st.stale || *f != before
}

// nodesTick looks for nodes that have been silent for too long. Before e.silence none
// can have been: the walk before it has found the first that would be, were it not heard
// again, and a node that comes or is heard after that walk is silent for less.
func (e *Engine) nodesTick() {
	if e.uptime < e.silence {
		return
	}
	e.silence = e.uptime + min(e.cfg.NodeLost, forgetNode)
	for _, n := range e.inOrder() {
		bound := e.cfg.NodeLost
		if !n.here() {
			bound = forgetNode
		}
		switch silent := e.uptime - n.heard; {
		case silent < bound:
		case n.here():
			n.state = nodeLost
			e.occur(NodeLost{Node: n.Node, Silent: silent})
			e.unstarted(n)
		case len(n.plan) == 0:
			delete(e.nodes, n.Node)
			e.relist()
			e.remove(planKey(n.Node))
			continue
		}
		e.silence = min(e.silence, n.heard+bound)
	}
}

// forgetNode is how long a node without executors may be away before it is
// forgotten. Its next Plan still has a greater epoch: epochs are the planner's.
const forgetNode = time.Hour

// replan compares n's Plan with what it should be and publishes a new one.
func (e *Engine) replan(n *node) {
	entries := e.entries(n)
	if n.Epoch == 0 || !slices.EqualFunc(entries, n.plan, (*planEntry).equal) {
		n.dirty = n.dirty || n.Epoch == 0 || !slices.EqualFunc(entries, n.plan, (*planEntry).settled)
		n.plan, n.Epoch = entries, e.nextEpoch()
		n.dirty = n.dirty || !e.noteEpoch(n)
		n.published = e.uptime
		e.publish = append(e.publish, PublishPlan{Plan: e.plan(n)})
	}
	if n.dirty {
		n.dirty = false
		e.put(planKey(n.Node), n.nodeRecord)
	}
}

// noteEpoch puts the epoch of n's Plan into the records of the applications there
// that are saved in this step, and reports whether there are any.
func (e *Engine) noteEpoch(n *node) bool {
	noted := false
	for _, here := range e.tenants[n.Node] {
		if a := here.app; a.dirty || a.marked {
			here.executors[0].planEpoch, a.marked, noted = n.Epoch, true, true
		}
	}
	return noted
}

// entries is the content of n's Plan, in order of application. Those of applications
// that were not touched are not made again.
func (e *Engine) entries(n *node) []*planEntry {
	entries := make([]*planEntry, 0, len(e.tenants[n.Node]))
	for _, here := range e.tenants[n.Node] {
		if !here.app.running() {
			continue
		}
		if here.entry == nil {
			here.entry = here.makeEntry()
		}
		entries = append(entries, here.entry)
	}
	return entries
}

func (t *tenant) makeEntry() *planEntry {
	entry := &planEntry{App: t.app.ID, Deadline: t.app.Deadline, Executors: make([]api.ExecutorID, 0, len(t.executors))}
	for _, x := range t.executors {
		entry.Executors = append(entry.Executors, x.ID)
	}
	for _, s := range t.app.open() {
		for _, x := range t.executors {
			if t, ok := s.targetOf(x.ID); ok {
				entry.Targets = append(entry.Targets, planTarget{Stage: s.key(), Executor: t.Executor, Rev: t.Rev, Hold: s.step.hold(t.Executor)})
			}
		}
	}
	return entry
}

// plan is n's Plan in force, with the times left now.
func (e *Engine) plan(n *node) api.Plan {
	p := api.Plan{V: api.Version, Epoch: n.Epoch, Planner: e.identity, Term: e.term, Sent: e.now, Node: n.Node, Apps: make([]api.PlanApp, 0, len(n.plan))}
	targets := 0
	for _, entry := range n.plan {
		targets += len(entry.Targets)
	}
	room := make([]api.StageTarget, 0, targets) // Of all applications: one piece of garbage, not one for each.
	for _, entry := range n.plan {
		a := e.apps[entry.App]
		if a == nil {
			continue
		}
		pa := api.PlanApp{ID: a.ID, Name: a.Name, HasDeadline: a.Deadline > 0, Launch: a.launch(n),
			Executors: entry.Executors}
		if pa.HasDeadline {
			pa.Remaining = a.Deadline - a.at(e.now)
		}
		if a.profile != nil {
			pa.NominalRate = a.profile.rate
		}
		from := len(room)
		for _, want := range entry.Targets {
			s := a.stages[want.Stage]
			if t, ok := s.targetOf(want.Executor); ok {
				room = append(room, s.target(t, e.now))
			}
		}
		pa.Stages = slices.Clip(room[from:])
		p.Apps = append(p.Apps, pa)
	}
	return p
}

// launch is what n needs to start one of a's executors.
func (a *app) launch(n *node) api.Launch {
	l := a.Launch
	l.Cores = slotsOn(n, l)
	return l
}

// slotsOn is how many task slots an executor has on n: as asked, else as many as
// n offers cores, rounded up.
func slotsOn(n *node, l api.Launch) int {
	if l.Cores > 0 {
		return l.Cores
	}
	return max(1, int(n.Offered.CeilTo(1)))
}

// summary is n's row of `pacer nodes`.
func (n *node) summary() api.NodeSummary {
	state := n.state
	switch {
	case n.here() && n.foreign:
		state = nodeForeign
	case n.here() && n.Draining && n.executors > 0:
		state = nodeDraining
	case n.here() && n.Draining:
		state = nodeDrained
	}
	return api.NodeSummary{Node: n.Node, Host: n.Host, State: state, Offered: n.Offered, Total: n.Total, Memory: n.Memory,
		Epoch: n.Epoch, Executors: n.executors, Version: n.Release}
}
