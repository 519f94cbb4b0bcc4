package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Passed: time has passed in which everybody could be heard.
type Passed struct{ For time.Duration }

func (f Passed) apply(l *Ledger) error {
	if f.For < 0 {
		return fmt.Errorf("%v of time", f.For)
	}
	l.uptime += f.For
	return nil
}

// Waited: the applications' clocks have gone on.
type Waited struct{ For time.Duration }

func (f Waited) apply(l *Ledger) error { //nolint:unparam // A fact.
	apps := l.View().Apps()
	flushes := leastFlushes + len(apps)*int(f.For)/int(flushEvery)
	for _, a := range apps {
		c := &a.Clocks
		c.Silent += f.For
		if a.Over() || a.Outcome.Killed != "" {
			c.EndWait += f.For
		}
		if a.Over() {
			continue
		}
		if c.unsaved += f.For; c.unsaved >= flushEvery && a.Promise.Launched && flushes > 0 {
			c.unsaved = 0
			flushes--
			l.batch.change(a, partFlush)
		}
	}
	return nil
}

// NodeChallenged: another incarnation wants the node's name.
type NodeChallenged struct{ Node, Incarnation string }

func (f NodeChallenged) apply(l *Ledger) error {
	n, err := l.node(f.Node, 0)
	if err != nil {
		return err
	}
	n.Clash.Challenger, n.Clash.Confirmed = f.Incarnation, false
	return nil
}

// NodeJoined: a node controller has come, or come back. Follows is the other planner whose
// Plan it follows, "" for none. News says that it was not here, or is another incarnation, and
// offers this.
type NodeJoined struct {
	Node, Incarnation string
	Epoch             uint64
	Follows           string
	News              bool
	Offered           units.Cores
	Memory            units.Bytes
}

func (f NodeJoined) apply(l *Ledger) error { //nolint:unparam // A fact.
	n := l.nodes[f.Node]
	if n == nil {
		n = &Node{NodeRecord: NodeRecord{Node: f.Node}, Published: l.uptime,
			book: nodeBook{claims: l.claims[f.Node], tenants: l.allocations[f.Node], lodgers: lodgers(f.Node, l)}}
		l.nodes[f.Node] = n
		l.relist()
	}
	if n.Presence == Lost {
		l.batch.changeTenants(n)
		for _, t := range l.allocations[n.Node] {
			t.App.copies.executors = nil
			for _, x := range t.Executors {
				x.Moved = l.uptime // Whether it moved while the node was away nobody knows.
			}
		}
	}
	if n.Incarnation != f.Incarnation {
		n.Seq, n.Dividing.losses = 0, nil
		for _, t := range l.allocations[n.Node] {
			if t.App.Tenant.Launch.Withheld == 0 && t.App.keptLaunch().Withheld > 0 {
				l.batch.retell(n, t) // A node controller that starts has no secrets.
			}
		}
	}
	n.Incarnation, n.Presence, n.Clash.Challenger = f.Incarnation, Here, ""
	if f.Epoch > n.Epoch && f.Follows == "" {
		// This planner has lost its state, or never had it: what it says must
		// count as newer than what the node follows.
		l.epoch = max(l.epoch, f.Epoch)
		n.Epoch = 0
	}
	l.changed.touch(PartGrowth)
	l.batch.subject.node, l.batch.subject.of = n, nodePlan
	return nil
}

// NodeSaid: a node has sent a status. Follows is as with NodeJoined. The ledger keeps
// nothing of the status but text.
type NodeSaid struct {
	Status  *api.NodeStatus
	Follows string
}

func (f NodeSaid) apply(l *Ledger) error {
	s := f.Status
	n, err := l.node(s.Node, 0)
	if err != nil {
		return err
	}
	n.Seq, n.Acked, n.Heard, n.Clash.Confirmed = s.Seq, s.Epoch, l.uptime, true
	meet(l, n, s, f.Follows)
	if n.Offered != s.Offered {
		for _, t := range l.allocations[n.Node] {
			l.batch.change(t.App, partPlans)
			t.since, t.launch = 0, nil
		}
	}
	if n.Memory != s.Memory {
		l.changed.touch(PartGrowth)
	}
	if n.Host != s.Host || n.Offered != s.Offered || n.Total != s.Total || n.Memory != s.Memory || n.Release != s.Release {
		n.Host, n.Offered, n.Total, n.Memory, n.Release = s.Host, s.Offered, s.Total, s.Memory, s.Release
		l.batch.changeNode(n, nodeState)
	}
	if machine := attachMachine(s); n.Machine != machine {
		n.Machine = machine
		for _, t := range l.allocations[n.Node] {
			l.batch.retell(n, t) // It gets their secrets for its machine.
		}
		l.changed.touch(PartGrowth)
		l.batch.changeNode(n, nodeState)
	}
	n.Others, n.Dividing.Division, n.Executors = s.Others, s.Division, 0
	n.book.kernel = s.Kernel
	noteBeside(l, n, s)
	noteLosses(l, n, s)
	noteShortages(l, n, s)
	for i := range s.Executors {
		x := &s.Executors[i]
		if x.State != api.ExecutorExited {
			n.Executors++
		}
		if a := l.apps[x.App]; a != nil {
			l.batch.change(a, partNone)
			see(l, a, n, x)
		}
	}
	for i := range s.Stages {
		if a := l.apps[s.Stages[i].App]; a != nil {
			l.batch.change(a, partNone)
			count(l, a, n, &s.Stages[i])
		}
	}
	if s.Leaving {
		n.Presence = Left
		l.changed.touch(PartTurns)
	}
	return nil
}

// attachMachine is the machine of a node that attaches, "" of another one.
func attachMachine(s *api.NodeStatus) string {
	if !s.Attach {
		return ""
	}
	return cmp.Or(s.Machine, UntoldMachine)
}

// meet takes in whom n follows, and whose executors it runs that are not this planner's.
// Another planner's epochs say nothing about this one's Plans.
func meet(l *Ledger, n *Node, s *api.NodeStatus, follows string) {
	if follows != "" {
		n.Acked = 0
		if len(n.Over) > 0 {
			// It has not followed the Plans by which they would have come and gone: what runs
			// of them it has of the other planner.
			n.Over = nil
			l.batch.changeNode(n, nodeState)
		}
	} else {
		n.Allegiance.Ours = true
	}
	theirs := strangers(l, n, s, follows)
	if len(theirs)+len(n.Allegiance.Theirs) > 0 {
		what := nodePlan // It leaves them out.
		if !slices.EqualFunc(theirs, n.Allegiance.Theirs, UnknownExecutors.equal) {
			what |= nodeState
		}
		n.Allegiance.Theirs = theirs
		l.batch.changeNode(n, what)
	}
	foreign := len(n.Allegiance.Theirs) > 0
	if n.Allegiance.Foreign && !foreign {
		l.changed.touch(PartGrowth)
	}
	if n.Allegiance.Follows != follows {
		n.Allegiance.Since = l.uptime
	}
	n.Allegiance.Follows, n.Allegiance.Foreign = follows, foreign
	if len(n.Over) > 0 && n.Acked >= n.Epoch {
		forget(l, n, s)
	}
}

// strangers are the executors that n runs of which this planner does not know, by application:
// all that are not here, where n follows another planner, and those of its orphans.
func strangers(l *Ledger, n *Node, s *api.NodeStatus, follows string) (all []UnknownExecutors) {
	if follows == "" {
		for _, o := range s.Orphans {
			all = append(all, UnknownExecutors{App: o.App, Owner: o.Owner})
		}
	}
	for i := range s.Executors {
		x := &s.Executors[i]
		if x.State == api.ExecutorExited || x.ID.Component() {
			continue
		}
		if a := l.apps[x.App]; a != nil {
			if known := a.Executor(x.ID); known != nil && !known.Gone && known.Node == n.Node {
				continue
			}
		}
		at := slices.IndexFunc(all, func(o UnknownExecutors) bool { return o.App == x.App })
		if at < 0 && follows != "" {
			at = len(all)
			all = append(all, UnknownExecutors{App: x.App})
		}
		if at >= 0 {
			all[at].Executors = append(all[at].Executors, UnknownExecutor{x.ID, x.State, x.Lent})
		}
	}
	return slices.DeleteFunc(all, func(o UnknownExecutors) bool { return len(o.Executors) == 0 })
}

// forget takes those out of n.Over of whom n has said in s that it has nothing any more.
func forget(l *Ledger, n *Node, s *api.NodeStatus) {
	has := func(id api.AppID) bool {
		return l.View().Allocation(l.apps[id], n.Node) != nil ||
			slices.ContainsFunc(s.Executors, func(x api.ExecutorStatus) bool {
				return x.App == id && x.State != api.ExecutorExited
			})
	}
	if still := slices.DeleteFunc(slices.Clone(n.Over), func(id api.AppID) bool {
		return !has(id)
	}); len(still) < len(n.Over) {
		n.Over = still
		l.batch.changeNode(n, nodeState)
	}
}

// noteBeside takes in, before a status is folded, what it says that the applications
// on n have used since the one before: to each of them it is what the others used.
func noteBeside(l *Ledger, n *Node, s *api.NodeStatus) {
	here := l.allocations[n.Node]
	if len(here) < 2 {
		return
	}
	var all units.Work
	for _, t := range here {
		t.used = 0
	}
	for i := range s.Executors {
		x := &s.Executors[i]
		a := l.apps[x.App]
		if a == nil {
			continue
		}
		known := a.Executor(x.ID)
		if known == nil || known.Node != n.Node || x.CPU <= known.CPU {
			continue
		}
		used := x.CPU - known.CPU
		all += used
		if t := l.View().Allocation(a, n.Node); t != nil {
			t.used += used
		}
	}
	for _, t := range here {
		beside := all - t.used
		if beside <= 0 || !t.App.Running() {
			continue
		}
		if t.App.Promise.Launched {
			t.App.Tenant.Beside += beside
		} else {
			t.App.Tenant.BesideStart += beside
		}
		l.batch.change(t.App, partFigures)
	}
}

// mostLosers bounds the applications of which is kept what they had instead of one.
const mostLosers = 32

// noteLosses takes in what applications have lost on n since its status before.
func noteLosses(l *Ledger, n *Node, s *api.NodeStatus) {
	if len(s.Losses) == 0 && len(n.Dividing.losses) == 0 {
		return
	}
	for _, now := range s.Losses {
		a := l.apps[now.App]
		if a == nil || !a.Running() || !(now.CoreSeconds > 0) {
			continue
		}
		lost := now.CoreSeconds
		if at := slices.IndexFunc(n.Dividing.losses, func(x api.Loss) bool {
			return x.App == now.App && x.To == now.To
		}); at >= 0 && n.Dividing.losses[at].CoreSeconds <= lost {
			lost -= n.Dividing.losses[at].CoreSeconds
		}
		if lost > 0 {
			a.lose(now.To, lost)
			l.batch.change(a, partFigures)
		}
	}
	n.Dividing.losses = append(n.Dividing.losses[:0], s.Losses...)
}

// lose counts what a was not granted because another had it.
func (a *App) lose(to api.AppID, work units.Work) {
	lost := a.Tenant.Lost
	at := slices.IndexFunc(lost, func(x api.Loss) bool { return x.To == to })
	switch {
	case at >= 0:
		lost[at].CoreSeconds += work
	case len(lost) < mostLosers:
		a.Tenant.Lost = append(lost, api.Loss{App: a.ID, To: to, CoreSeconds: work})
	}
}

// see takes in what a node says about one executor. That it has exited, and that it is
// gone, are facts of their own.
func see(l *Ledger, a *App, n *Node, s *api.ExecutorStatus) {
	x := a.Executor(s.ID)
	if x == nil || x.Node != n.Node {
		return
	}
	x.Starts = s.State == api.ExecutorStarting && !s.Waiting
	if s.CPU > x.CPU || s.State == api.ExecutorRunning && !s.Stale {
		x.Moved = l.uptime
	}
	if s.CPU > x.CPU {
		x.use(a.At(l.now), s.CPU)
		measure(l, a, x)
	}
	if s.Memory != (api.ExecutorMemory{}) {
		told(x, a, l, s.Memory)
		l.batch.change(a, partFigures)
	}
	if x.Attached != nil && s.State != api.ExecutorExited && x.attach(s) {
		l.batch.change(a, partState)
	}
	if x.State == api.ExecutorExited || s.State == x.State {
		return
	}
	x.State = s.State
	l.batch.change(a, partFigures)
	if s.State == api.ExecutorExited {
		x.Exit = s.Exit
		l.batch.change(a, partRecord)
	}
}

// advanced: tasks of a have ended. Executors that were lost before are no sign that those of a cannot
// live: the bound on replacements counts losses between which nothing was done.
func advanced(a *App, l *Ledger) {
	if len(a.Tenant.Replaced) > 0 {
		a.Tenant.Replaced = nil
		l.batch.change(a, partState)
	}
}

// count takes in what an executor did for a stage. Of an attached one only its own node tells.
func count(l *Ledger, a *App, n *Node, s *api.StageStatus) {
	st, x := a.Stages[s.StageKey], a.Executor(s.Executor)
	if x == nil || x.Attached != nil && x.Node != n.Node {
		return
	}
	x.Worked = l.uptime
	if st == nil {
		return
	}
	st.copied = nil
	number := Number(x.ID)
	st.Counters, st.Sights = reach(st.Counters, number), reach(st.Sights, number)
	c, v := &st.Counters[number-1], &st.Sights[number-1]
	before := *c
	c.CPU, c.Quotas = max(c.CPU, s.CPU), max(c.Quotas, int64(s.QuotaChanges))
	if s.LargeCPU > c.Large {
		c.Large, c.Reading = s.LargeCPU, s.LargeReading
	}
	if s.Finished > v.Finished {
		advanced(a, l)
	}
	v.Progress, v.Finished = s.Progress.Clamp(), max(v.Finished, s.Finished)
	if s.Heap != (api.HeapUse{}) {
		heap := s.Heap
		v.Heap = &heap
	}
	limit := l.sampleLimit(a)
	for _, tick := range s.Samples {
		at := a.At(l.now) - tick.Age
		v.lack(at, tick)
		v.Pace.keep(at, tick)
		if a.Observed() && st.Planned {
			c.shadow(tick, l.View().Offered(x.Node))
		}
		st.Samples.add(sample{at: at, setPoint: tick.SetPoint, progress: tick.Progress, grant: tick.Grant, used: tick.Used,
			executor: int32(number), request: float32(tick.Request)}, limit)
	}
	if *c != before {
		st.versions.counted = l.batch.number
	}
}

// sampleLimit is how many samples are kept of each of a's stages: Samples, or what
// leaves room for those of all its stages (recentSamples) and of all running applications
// (AllSamples), but for two of each executor.
func (l *Ledger) sampleLimit(a *App) int {
	share := min(recentSamples, l.cfg.AllSamples/max(1, len(l.apps))) / max(1, len(a.Order))
	return min(l.cfg.Samples, max(share, 2*len(a.Tenant.Executors)))
}

// DivisionSet: an operator wants a node, or with "" every node, to divide its cores so; nil
// is as it is configured. What is for every node counts where nothing is for one alone, and
// takes back what was.
type DivisionSet struct {
	Node     string
	Division *api.Division
}

func (f DivisionSet) apply(l *Ledger) error {
	if f.Node != "" {
		n, err := l.node(f.Node, nodeState)
		if err != nil {
			return err
		}
		n.Division = f.Division
		return nil
	}
	l.wishes.division = f.Division
	for _, n := range l.nodes {
		what := nodePlan
		if n.Division != nil {
			what |= nodeState
		}
		n.Division = nil
		l.batch.changeNode(n, what)
	}
	return nil
}

// NodeClaimed: the planner that a node follows does not serve any more; this one is in its
// place.
type NodeClaimed struct{ Node, From string }

func (f NodeClaimed) apply(l *Ledger) error {
	n, err := l.node(f.Node, nodeAnew)
	if err != nil {
		return err
	}
	if f.From == "" || n.Allegiance.Follows != f.From {
		return fmt.Errorf("node %s follows planner %q, not %q", n.Node, n.Allegiance.Follows, f.From)
	}
	n.Allegiance.Succeeds = f.From
	return nil
}

// NodeCleared: an application that a node does not know to be over has nothing there.
type NodeCleared struct {
	Node string
	App  api.AppID
}

func (f NodeCleared) apply(l *Ledger) error {
	n, err := l.node(f.Node, 0)
	if err != nil {
		return err
	}
	if l.View().Allocation(l.apps[f.App], n.Node) != nil {
		return fmt.Errorf("application %s has executors on node %s", f.App, n.Node)
	}
	if !slices.Contains(n.Over, f.App) {
		n.Over = slices.Sorted(slices.Values(append(slices.Clone(n.Over), f.App)))
		l.batch.changeNode(n, nodeAnew)
	}
	return nil
}

// PlanRepeated: the node's Plan was sent again.
type PlanRepeated struct{ Node string }

func (f PlanRepeated) apply(l *Ledger) error {
	n, err := l.node(f.Node, 0)
	if err != nil {
		return err
	}
	n.Published = l.uptime
	l.batch.again = append(l.batch.again, n.Node)
	return nil
}

// NodeSilent: a node has not been heard for a time, by who stood by before this planner's start.
type NodeSilent struct {
	Node string
	For  time.Duration
}

func (f NodeSilent) apply(l *Ledger) error {
	n, err := l.node(f.Node, 0)
	if err != nil {
		return err
	}
	if f.For < 0 {
		return fmt.Errorf("node %s has been silent for %v", f.Node, f.For)
	}
	n.Heard = l.uptime - f.For
	return nil
}

// NodeLost: a node has been silent for too long, or its credentials were Revoked.
type NodeLost struct {
	Node    string
	Silent  time.Duration
	Revoked bool
}

func (f NodeLost) apply(l *Ledger) error {
	n, err := l.node(f.Node, 0)
	if err != nil {
		return err
	}
	n.Presence = Lost
	l.changed.touch(PartTurns)
	l.batch.changeTenants(n)
	return nil
}

// changeTenants has the drivers with executors on n told of it.
func (b *batch) changeTenants(n *Node) {
	for _, t := range n.book.tenants {
		b.change(t.App, partPlans)
	}
}

// NodeForgotten: a node that was away for long, and has no executors, is not known any
// more.
type NodeForgotten struct{ Node string }

func (f NodeForgotten) apply(l *Ledger) error {
	n, err := l.node(f.Node, 0)
	if err != nil {
		return err
	}
	if n.Planned() {
		return fmt.Errorf("node %s has applications", n.Node)
	}
	delete(l.nodes, n.Node)
	l.relist()
	l.batch.put(planKey(n.Node), nil)
	removeFacets(n, &l.batch)
	return nil
}

// NodeDrained: a node gets no executors any more, or gets them again by what it offers.
type NodeDrained struct {
	Node     string
	Draining bool
	Offered  units.Cores
	Memory   units.Bytes
}

func (f NodeDrained) apply(l *Ledger) error {
	n, err := l.node(f.Node, nodeState)
	if err != nil {
		return err
	}
	n.Drained = f.Draining
	l.relist()
	l.changed.touch(PartGrowth)
	return nil
}
