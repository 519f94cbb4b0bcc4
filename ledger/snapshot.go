package ledger

import (
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Snapshot returns what there is to read at the moment at hand. Nothing changes it any more, so it
// may be read on any goroutine, by several at once, beside whoever changes the ledger. It costs a
// copy of what has changed since the one before: a stage or an executor that has not is shared.
// Plans, Directives and what is still to be saved are not in it.
func (v View) Snapshot() View {
	l := v.l
	s := &Ledger{
		cfg: l.cfg, now: l.now, changed: l.changed, epoch: l.epoch, serial: l.serial, identity: l.identity, term: l.term,
		uptime: l.uptime,
		wishes: l.wishes, freed: l.freed,
		history: l.history, profiles: l.profiles.copy(), learnt: maps.Clone(l.learnt), claims: maps.Clone(l.claims),
		apps: make(map[api.AppID]*App, len(l.apps)), nodes: make(map[string]*Node, len(l.nodes)),
	}
	for _, a := range v.Apps() {
		c := copyApp(a)
		s.apps[c.ID], s.lineup = c, append(s.lineup, c)
	}
	s.waiting = make([]*App, 0, len(v.Waiting()))
	for _, a := range v.Waiting() {
		s.waiting = append(s.waiting, s.apps[a.ID])
	}
	for _, n := range v.Nodes() {
		c := n.copy()
		s.nodes[c.Node], s.ordered = c, append(s.ordered, c)
		if c.Draining() {
			s.drains = append(s.drains, c)
		}
	}
	s.allocations = copyAllocations(l, s)
	return View{l: s}
}

// copyAllocations are l's with the applications and executors of s, its copy.
func copyAllocations(l, s *Ledger) map[string][]*Allocation {
	all := make(map[string][]*Allocation, len(l.allocations))
	for node, here := range l.allocations {
		copied := make([]*Allocation, len(here))
		for i, t := range here {
			c := &Allocation{App: s.apps[t.App.ID], Executors: make([]*Executor, len(t.Executors)), bytes: t.bytes}
			for k, x := range t.Executors {
				c.Executors[k] = c.App.Executor(x.ID)
			}
			copied[i] = c
		}
		all[node] = copied
		s.nodes[node].lodge(copied)
	}
	return all
}

// copyApp is a for a snapshot.
func copyApp(a *App) *App {
	if a.copies.executors == nil {
		a.copies.executors = copyExecutors(a.Tenant.Executors)
	}
	if a.copies.profile == nil && a.Profile != nil {
		a.copies.profile = a.Profile.copy()
	}
	c := *a
	c.Tenant.Executors, c.Profile = a.copies.executors, a.copies.profile
	c.Tenant.Lost, c.Tenant.Short, c.Notices = slices.Clone(a.Tenant.Lost), slices.Clone(a.Tenant.Short),
		slices.Clone(a.Notices)
	c.Tenant.Replaced = slices.Clone(a.Tenant.Replaced)
	c.told, c.versions, c.kept, c.copies = false, versions{batch: a.versions.batch}, nil, copies{}
	c.Stages, c.Order = make(map[api.StageKey]*Stage, len(a.Order)), make([]*Stage, len(a.Order))
	for i, s := range a.Order {
		if s.copied == nil {
			s.copied = s.copy()
		}
		c.Order[i], c.Stages[s.Key()] = s.copied, s.copied
	}
	c.opened = make([]*Stage, len(a.opened))
	for i, s := range a.opened {
		c.opened[i] = s.copied
	}
	return &c
}

func copyExecutors(executors []*Executor) []*Executor {
	if executors == nil {
		return nil
	}
	list, room := make([]*Executor, len(executors)), make([]Executor, len(executors))
	for i, x := range executors {
		room[i] = *x
		list[i] = &room[i]
	}
	return list
}

// copy is s for snapshots. Samples come after those that it has, or are other ones (thin).
func (s *Stage) copy() *Stage {
	c := *s
	c.Counters, c.Sights, c.Targets = slices.Clone(s.Counters), slices.Clone(s.Sights), slices.Clone(s.Targets)
	c.Samples = Samples{list: s.Samples.list}
	c.versions, c.copied = stageVersions{}, nil
	return &c
}

// copy is an application's own profile for snapshots: nobody matches stages to it.
func (p *Profile) copy() *Profile {
	c := *p
	c.Rivals = nil
	if p.Match != nil {
		c.Match = p.Match.Copy()
	}
	return &c
}

func (n *Node) copy() *Node {
	c := *n
	c.Allegiance.Theirs, c.Over = slices.Clone(n.Allegiance.Theirs), slices.Clone(n.Over)
	c.plan, c.Dividing.losses = content{}, nil
	c.book = nodeBook{claims: n.book.claims, held: n.book.held, lend: n.book.lend}
	return &c
}
