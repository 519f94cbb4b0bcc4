package ledger

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// makeEntry is t's part of the Plan of its node, n.
func (t *Allocation) makeEntry(n *Node) *planEntry {
	entry := &planEntry{app: t.App.ID, deadline: t.App.Promise.Deadline, band: t.App.Band(), least: t.Least(n.Offered),
		most: t.App.Tenant.Cap, reserved: t.App.Reserved() > 0,
		executors: make([]api.ExecutorID, 0, len(t.Executors))}
	if entry.band == api.BandPromised && t.App.Marks.Behind {
		entry.band = api.BandBehind
	}
	if t.App.Running() && !t.App.held.awaits {
		for _, x := range t.Executors {
			entry.executors = append(entry.executors, x.ID)
			if x.Lent() {
				entry.lent = append(entry.lent, x.ID)
			}
			if x.Taken() {
				entry.taken = append(entry.taken, x.ID)
			}
		}
	}
	for _, on := range t.App.held.lodges {
		if on.Node != n.Node {
			continue
		}
		if on.Component != nil {
			entry.executors = append(entry.executors, on.ID)
		}
		if on.Component != nil && on.Component.Name == api.DriverName {
			entry.driver = on.Component
			continue
		}
		if entry.components == nil {
			entry.components = map[api.ExecutorID]*api.Component{}
		}
		entry.components[on.ID] = on.Component
	}
	for _, s := range t.App.opened {
		app := t.App
		for _, x := range t.Executors {
			if t, ok := s.TargetOf(x.ID); ok {
				entry.targets = append(entry.targets, planTarget{stage: s.Key(), executor: t.Executor, rev: t.Rev,
					hold: app.held.hold(s.Key(), t.Executor).Cores})
			}
		}
	}
	return entry
}

// start is how t's executors are started on n.
func (t *Allocation) start(n *Node) *api.Launch {
	if t.launch == nil {
		launch := t.App.Tenant.Launch
		launch.Cores, launch.Attach = n.Slots(launch), launch.Attach.On(n.Machine)
		if t.App.held.observed != "" && !launch.Mode.Unmanaged() {
			launch.Mode = api.ModeObserve
		}
		if launch.Attach != nil {
			// No node starts them: what that takes has no place in a Plan.
			launch.JavaOptions, launch.ClassPath, launch.Env = nil, nil, nil
			launch.SparkHome, launch.JavaHome = "", ""
			if launch.Attach.Secret != "" {
				launch.Withheld = 0 // Nothing else that is awaited is in it.
			}
		}
		t.launch = &launch
	}
	return t.launch
}

// nameBytes is what a byte of a name takes in a Plan at most.
const nameBytes = 6

// Told is what a Plan has of a, which is started by launch: that, its name, its driver and all components.
func Told(launch *api.Launch, a *App) int {
	return launch.Bytes() + a.Tenant.Nodes.Told + nameBytes*len(a.Name)
}

// launchBytes is what n's Plan has of t's application.
func (t *Allocation) launchBytes(n *Node) int {
	if t.bytes == 0 {
		t.bytes = Told(t.start(n), t.App)
	}
	return t.bytes
}

// LaunchBytes is what all that run on the node take in a Plan that says of all how they are started, as one does after
// a node controller's start.
func (v View) LaunchBytes(n *Node) int {
	all := 0
	for _, t := range n.book.tenants {
		if t.App.Running() {
			all += t.launchBytes(n)
		}
	}
	for _, a := range n.book.lodgers {
		if v.Allocation(a, n.Node) == nil {
			all += Told(&a.Tenant.Launch, a)
		}
	}
	return all
}

// Tells reports whether the Plan of n holds a, started by launch, beside all others. Alone any application fits.
func Tells(launch *api.Launch, a *App, n *Node, v View) bool {
	others := v.LaunchBytes(n)
	if t := v.Allocation(a, n.Node); t != nil && a.Running() {
		others -= t.launchBytes(n)
	} else if t == nil && lodgesOn(n.Node, a) {
		others -= Told(&a.Tenant.Launch, a)
	}
	return others+Told(launch, a) <= api.MostPlanLaunches
}

// content is that of n's Plan, in order of application. Entries of applications that were
// not touched are not made again.
func (l *Ledger) content(n *Node) content {
	entries := make([]*planEntry, 0, len(l.allocations[n.Node]))
	var exiting []api.AppID
	for _, here := range l.allocations[n.Node] {
		if here.App.Outcome.Exiting(here.App.Tenant.Watched) {
			exiting = append(exiting, here.App.ID)
		}
		if !here.App.Running() || n.UnknownExecutors(here.App.ID) != nil || here.App.held.awaits {
			continue
		}
		if here.entry == nil {
			here.entry = here.makeEntry(n)
		}
		entries = append(entries, here.entry)
	}
	return content{withLodgers(entries, n), exiting, l.View().Division(n), l.cfg.Lend}
}

// withLodgers is has, in order of application, with those beside them of which n runs a component alone.
func withLodgers(has []*planEntry, n *Node) []*planEntry {
	for _, a := range n.book.lodgers {
		at, found := slices.BinarySearchFunc(has, a.ID, func(e *planEntry, id api.AppID) int {
			return cmp.Compare(e.app, id)
		})
		if !found {
			has = slices.Insert(has, at, (&Allocation{App: a}).makeEntry(n))
		}
	}
	return has
}

// compare compares n's Plan with what it should be, and reports whether there is a new one.
func (l *Ledger) compare(n *Node) (renewed bool) {
	plan := l.content(n)
	left := l.leave(n, plan)
	dirty := n.book.changed == l.batch.number
	if renewed = n.Epoch == 0 || left || n.book.renewed == l.batch.number || !plan.equal(n.plan); renewed {
		// The record of an application that exits goes with it, and with that its note of the epoch.
		dirty = dirty || n.Epoch == 0 || left || !slices.Equal(plan.exiting, n.plan.exiting) ||
			!slices.EqualFunc(plan.entries, n.plan.entries, (*planEntry).sameExecutors)
		n.plan, n.Epoch, n.book.lend = plan, l.nextEpoch(), plan.lend
		dirty = dirty || !l.batch.noteEpoch(n)
		n.Published = l.uptime
		for _, here := range l.allocations[n.Node] {
			if here.since == 0 && n.UnknownExecutors(here.App.ID) == nil {
				here.since = n.Epoch
			}
		}
	}
	if dirty {
		l.batch.save(planKey(n.Node), nodeRecord{Layout, n.NodeRecord, n.Allegiance.Theirs, n.book.lend})
	}
	return renewed
}

// untold reports whether n, which is lost, may run an executor that was given up as unstarted. Its
// Plan waits until n tells what it runs: n would stop what the Plan lacks, and the driver may have it.
func (l *Ledger) untold(n *Node) bool {
	if n.Presence != Lost {
		return false
	}
	for a := range l.View().Running() {
		if slices.ContainsFunc(a.Tenant.Executors, func(x *Executor) bool {
			return x.Gone && x.Unstarted && x.Node == n.Node
		}) {
			return true
		}
	}
	return false
}

// leave notes who has nothing on n any more by its new content, and reports whether there is
// somebody new.
func (l *Ledger) leave(n *Node, plan content) (news bool) {
	has := func(id api.AppID) bool {
		_, found := slices.BinarySearchFunc(plan.entries, id, func(e *planEntry, id api.AppID) int {
			return cmp.Compare(e.app, id)
		})
		return found
	}
	n.Over = slices.DeleteFunc(slices.Clone(n.Over), has)
	add := func(id api.AppID) {
		if !has(id) && !slices.Contains(n.Over, id) {
			n.Over, news = append(n.Over, id), true
		}
	}
	for _, entry := range n.plan.entries {
		if a := l.apps[entry.app]; a == nil || !a.Running() || n.UnknownExecutors(a.ID) == nil {
			add(entry.app)
		}
	}
	for _, here := range l.allocations[n.Node] {
		if !here.App.Running() {
			add(here.App.ID)
		}
	}
	slices.Sort(n.Over)
	return news
}

// noteEpoch puts the epoch of n's Plan into the records of the applications there
// that are saved with this batch, and reports whether there are any.
func (b *batch) noteEpoch(n *Node) bool {
	noted := false
	for _, here := range n.book.tenants {
		if b.isNew(here.App, partRecord|partMarks) {
			here.Executors[0].planEpoch, noted = n.Epoch, true
			b.change(here.App, partMarks)
		}
	}
	return noted
}

// nextEpoch returns an epoch greater than all before.
func (l *Ledger) nextEpoch() uint64 {
	l.epoch++
	return l.epoch
}

// Plan is n's Plan in force, with the times left now.
func (v View) Plan(n *Node) api.Plan {
	l := v.l
	p := api.Plan{V: api.Version, Epoch: n.Epoch, Planner: l.identity, Term: l.term, Sent: l.now, Node: n.Node,
		Division: n.plan.division, Lend: n.plan.lend,
		Apps: make([]api.PlanApp, 0, len(n.plan.entries))}
	if n.Allegiance.Follows != "" {
		p.Succeeds = n.Allegiance.Succeeds
	}
	p.Over, p.Exiting = slices.Clone(n.Over), slices.Clone(n.plan.exiting)
	targets := 0
	for _, entry := range n.plan.entries {
		targets += len(entry.targets)
	}
	room := make([]api.StageTarget, 0, targets) // Of all applications: one piece of garbage, not one for each.
	for _, entry := range n.plan.entries {
		a := l.apps[entry.app]
		if a == nil {
			continue
		}
		pa := api.PlanApp{ID: a.ID, Name: a.Name, HasDeadline: a.Promise.Deadline > 0, Band: entry.band,
			Class: a.Tenant.Class, Least: entry.least, Reserved: entry.reserved, Cap: entry.most,
			Component: entry.driver, Components: entry.components, Executors: entry.executors, Loans: entry.lent,
			Taken: entry.taken}
		t := v.Allocation(a, n.Node)
		if t == nil {
			t = &Allocation{App: a} // Its executors there are gone, but the Plan in force has them.
		}
		if t.since == 0 || n.Acked < t.since {
			pa.Launch = t.start(n)
		}
		if pa.HasDeadline {
			pa.Remaining = a.Promise.Deadline - a.At(l.now)
		}
		if a.Profile != nil {
			pa.NominalRate = a.Profile.Rate
		}
		from := len(room)
		for _, want := range entry.targets {
			s := a.Stages[want.stage]
			if t, ok := s.TargetOf(want.executor); ok {
				room = append(room, s.target(t, a.held.hold(s.Key(), t.Executor), l.now))
			}
		}
		pa.Stages = slices.Clip(room[from:])
		p.Apps = append(p.Apps, pa)
	}
	p.Fit()
	return p
}

// direct compares a's Directive with what it should be, and reports whether there is a
// new one.
func (l *Ledger) direct(a *App) (renewed bool) {
	// Mostly only targets have changed, and this is thrown away.
	d := api.Directive{Gated: a.Gated(), Executors: l.batch.directed[:0], Queued: a.Queue(), Notice: a.Notice,
		Dead: a.Dead(), Shares: a.shares(), Wanted: a.held.wanted, WantedOn: a.held.on}
	if a.Profile != nil {
		d.Pool = a.Profile.Recorded.Habit.Pool
	}
	for _, x := range a.Tenant.Executors {
		if !x.Gone {
			told := api.DirectiveExecutor{ID: x.ID, Node: x.Node, Leaving: x.Leaving, Taken: x.Taken()}
			if n := l.nodes[x.Node]; n != nil {
				told.Cores, told.NodeLost = n.Offered, n.Presence == Lost
				if some := n.PerStage(a.Tenant.Launch); some > 1 {
					told.Cores, told.PerStage = n.Offered/units.Cores(some), some
				}
			}
			if x.Attached != nil {
				told.Cores, told.PerStage = a.Tenant.MostOf(x, l.View().Offered(x.Node)), api.MostExecutorID
			}
			if x.Free() && x.Node == "" {
				told.Node = x.Attached.Host
			}
			d.Executors = append(d.Executors, told)
		}
	}
	l.batch.directed = d.Executors
	old := a.Directive
	if old.Gated == d.Gated && old.Pool == d.Pool && old.Notice == d.Notice && old.Dead == d.Dead &&
		sameQueue(old.Queued, d.Queued) &&
		slices.Equal(old.Executors, d.Executors) && old.Wanted == d.Wanted && slices.Equal(old.WantedOn, d.WantedOn) &&
		slices.EqualFunc(old.Shares, d.Shares, sameShares) && old.Epoch > 0 {
		return false
	}
	if a.told && old.Notice == d.Notice {
		// The driver has it; repeating it would say it twice.
		a.Notice, d.Notice = "", ""
	}
	d.Epoch, d.Executors = l.nextEpoch(), append([]api.DirectiveExecutor{}, d.Executors...)
	a.Directive = d
	l.batch.change(a, partRecord)
	return true
}

// shares are the hand-overs of a's running stages.
func (a *App) shares() []api.StageShares {
	var all []api.StageShares
	for _, s := range a.opened {
		if s.ShareRev > 0 {
			all = append(all, api.StageShares{StageKey: s.Key(), Rev: s.ShareRev, Shares: s.Shares})
		}
	}
	return all
}

func sameQueue(a, b *api.Queue) bool { return a == b || a != nil && b != nil && *a == *b }

func sameShares(a, b api.StageShares) bool {
	return a.StageKey == b.StageKey && a.Rev == b.Rev && slices.Equal(a.Shares, b.Shares)
}
