package component

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Group is what an application has of components beside executors and the driver; the zero value is of another
// application. Members are all of them, in the order of the description.
type Group struct {
	api.Group
	Members []Member `json:"members,omitempty"`
}

// Member is one program of a component.
type Member struct {
	// Of is its component, Index which one of that it is.
	Of    api.ExecutorID `json:"of"`
	Index int            `json:"index"`
	// Node, Last, Attempt, Running, Exited, Exit and Code are as those of State; Failed is how often it was lost or has
	// failed.
	Node    string `json:"node,omitempty"`
	Last    string `json:"last_node,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Failed  int    `json:"failed,omitempty"`
	Running bool   `json:"running,omitempty"`
	Exited  bool   `json:"exited,omitempty"`
	Exit    string `json:"exit,omitempty"`
	Code    int    `json:"exit_code,omitempty"`
	// Filled is how it is started, with its own port; nil while it runs nowhere. Leaving says that its memory is wanted:
	// its node stops it.
	Filled  *api.Component `json:"filled,omitempty"`
	Leaving bool           `json:"leaving,omitempty"`
}

var groups = ledger.Register(ledger.Facet[*ledger.App, Group]{Name: "group", Check: Group.check, After: Group.after,
	Lodges: Group.lodges})

// GroupOf is the Group of a.
func GroupOf(a *ledger.App) Group { return groups.Of(a) }

// ID is the id of m's process.
func (g Group) ID(m Member) api.ExecutorID { return g.Component(m.Of).Member(m.Index, m.Attempt) }

// Elastic reports whether m may go, and come again.
func (g Group) Elastic(m Member) bool { return g.Component(m.Of).Class == api.ComponentElastic }

// Comes reports whether m is elastic, and waits for memory.
func (g Group) Comes(m Member) bool {
	return g.Elastic(m) && m.Node == "" && !m.Exited && m.Failed < MostAttempts
}

// Stays is how much memory of a node elastic components have there and could leave, and how much leaves.
func Stays(v ledger.View, node string) (elastic, leaving units.Bytes) {
	for _, a := range v.Apps() { // A driver that has stopped its context still has them.
		g := GroupOf(a)
		for _, m := range g.Members {
			switch {
			case m.Node != node || !g.Elastic(m):
			case m.Leaving:
				leaving += g.Component(m.Of).Memory
			default:
				elastic += g.Component(m.Of).Memory
			}
		}
	}
	return elastic, leaving
}

func (g Group) check() error {
	for _, m := range g.Members {
		c := g.Component(m.Of)
		if c == nil || m.Index < 0 || m.Index >= c.Members() || m.Attempt < 0 || (m.Node != "") != (m.Filled != nil) {
			return fmt.Errorf("member %d of component %s on node %q", m.Index, m.Of, m.Node)
		}
	}
	return nil
}

func (g Group) lodges() (on []ledger.Lodging) {
	for _, m := range g.Members {
		if m.Node != "" {
			l := ledger.Lodging{Node: m.Node, ID: g.ID(m), Memory: g.Component(m.Of).Memory}
			if !m.Leaving {
				l.Component = m.Filled
			}
			on = append(on, l)
		}
	}
	return on
}

// core are the places of the core members.
func (g Group) core() (places []int) {
	for i, m := range g.Members {
		if !g.Elastic(m) {
			places = append(places, i)
		}
	}
	return places
}

// after is g after a fact: its core members start with its application, and nothing of it runs when that has ended.
func (g Group) after(v ledger.View, _ *ledger.App, f ledger.Fact) (Group, bool) {
	switch f := f.(type) {
	case ledger.Started:
		if len(g.Members) == 0 {
			return g, false
		}
		return g.started(v, f.Group), true
	case ledger.RunEnded, ledger.Exited: // A driver that has stopped its context may still ask them.
		if !slices.ContainsFunc(g.Members, func(m Member) bool { return m.Node != "" }) {
			return g, false
		}
		g.Members = slices.Clone(g.Members)
		for i := range g.Members {
			g.Members[i].leave()
		}
		return g, true
	}
	return g, false
}

// leave has m run nowhere.
func (m *Member) leave() { m.Node, m.Filled, m.Leaving, m.Running = "", nil, false, false }

// started is g with its core members on nodes.
func (g Group) started(v ledger.View, nodes []string) Group {
	g.Members = slices.Clone(g.Members)
	for k, i := range g.core() {
		g.put(v, i, nodes[k])
	}
	for _, i := range g.core() {
		g.fill(v, i)
	}
	return g
}

// host is where programs of a node are reached.
func host(v ledger.View, node string) string {
	if n := v.Node(node); n != nil && n.Host != "" {
		return n.Host
	}
	return node
}

// put has the i-th member be on a node, at the first port from its component's on that no component has on that host.
func (g Group) put(v ledger.View, i int, node string) {
	m := &g.Members[i]
	c := *g.Component(m.Of)
	if c.Port > 0 {
		here := func(other string) bool { return host(v, other) == host(v, node) }
		taken := ledger.Ports(here, v)
		for _, o := range g.Members {
			if o.Node != "" && here(o.Node) {
				taken[o.Filled.Port] = true
			}
		}
		c.Port = api.FreePort(c.Port, taken)
	}
	m.Node, m.Last, m.Attempt, m.Filled, m.Leaving, m.Exit, m.Code = node, node, m.Attempt+1, &c, false, "", 0
}

// filled is the k-th of c with its placeholders filled, now that it is known where all core members are.
func (g Group) filled(v ledger.View, c *api.Component, index int) *api.Component {
	hosts := map[api.ExecutorID][]string{}
	for _, k := range g.core() {
		m := g.Members[k]
		port := g.Component(m.Of).Port
		if m.Filled != nil {
			port = m.Filled.Port
		}
		hosts[m.Of] = append(hosts[m.Of], api.Address(host(v, m.Last), port))
	}
	filled, _ := g.Filled(c, index, hosts) // It was taken in because it can be.
	return filled
}

// fill fills the placeholders of the i-th member.
func (g Group) fill(v ledger.View, i int) {
	m := &g.Members[i]
	filled := g.filled(v, g.Component(m.Of), m.Index)
	filled.Port, filled.Count = m.Filled.Port, 0
	m.Filled = filled
}

// of is the place of the member of a process, -1 for none.
func (g Group) of(id api.ExecutorID, node string) int {
	return slices.IndexFunc(g.Members, func(m Member) bool { return m.Node != "" && m.Node == node && g.ID(m) == id })
}

// GroupTaken: an application was submitted with a Group. Its core members start on Nodes at once, or, with none, when
// the application starts.
type GroupTaken struct {
	ledger.OfApp
	Group *api.Group
	Nodes []string
}

// Line is what it says.
func (f GroupTaken) Line() ledger.Line {
	return f.OfApp.Says("group submitted", "%s has %d components", f.App, len(f.Group.Components))
}

// Apply refuses a second group, and nodes without room.
func (f GroupTaken) Apply(v ledger.View, a *ledger.App, g *Group) error {
	if len(g.Members) > 0 || f.Group == nil {
		return fmt.Errorf("application %s has components, or gets none", f.App)
	}
	*g = Group{Group: *f.Group}
	for i := range g.Components {
		for k := range g.Components[i].Members() {
			g.Members = append(g.Members, Member{Of: g.Components[i].Name, Index: k})
		}
	}
	if len(f.Nodes) == 0 {
		return nil
	}
	core := g.core()
	if len(core) != len(f.Nodes) {
		return fmt.Errorf("%d nodes for %d core components of %s", len(f.Nodes), len(core), f.App)
	}
	*g = g.started(v, f.Nodes)
	return g.fit(v, a)
}

// fit says why nodes have no room for what of g they do not count yet.
func (g Group) fit(v ledger.View, a *ledger.App) error {
	wanted, counted := map[string]units.Bytes{}, Lodged(a)
	for _, on := range g.lodges() {
		if !slices.ContainsFunc(counted, func(x ledger.Lodging) bool { return x.ID == on.ID }) {
			wanted[on.Node] += on.Memory
		}
	}
	for _, n := range v.Nodes() {
		bytes := wanted[n.Node]
		if delete(wanted, n.Node); bytes == 0 {
			continue
		}
		if !n.Live() || bytes > v.Free(n) {
			return fmt.Errorf("%v of components of %s do not fit node %s, which has %v left", bytes, a.ID, n.Node, v.Free(n))
		}
		if err := told(v, a, n); err != nil {
			return err
		}
	}
	if len(wanted) > 0 {
		return fmt.Errorf("%d nodes of components of %s are not there", len(wanted), a.ID)
	}
	return nil
}

// MemberTold: a node has told how the process ID of a component of an application stands.
type MemberTold struct {
	ledger.OfApp
	ID     api.ExecutorID
	Node   string
	Exited bool
	Exit   string
	Code   int
}

// Line is what it says.
func (f MemberTold) Line() ledger.Line {
	if f.Exited {
		return f.OfApp.Says("component exited", "component %s of %s on node %s has ended: %s", f.ID, f.App, f.Node, f.Exit)
	}
	return f.OfApp.Says("component runs", "component %s of %s runs on node %s", f.ID, f.App, f.Node)
}

// Apply takes it in. An elastic one that was to leave, or has failed, comes again.
func (f MemberTold) Apply(_ ledger.View, _ *ledger.App, g *Group) error {
	i := g.of(f.ID, f.Node)
	if i < 0 {
		return fmt.Errorf("process %s of %s on node %q is no component of it", f.ID, f.App, f.Node)
	}
	g.Members = slices.Clone(g.Members)
	m := &g.Members[i]
	if !f.Exited {
		m.Running = true
		return nil
	}
	m.end(f.Exit, f.Code, g.Elastic(*m))
	return nil
}

// end is how m's process has ended. An elastic one that was to leave, or has failed, comes again.
func (m *Member) end(exit string, code int, elastic bool) {
	left := m.Leaving
	m.leave()
	m.Exit, m.Code, m.Exited = exit, code, !left && (code == 0 || !elastic)
	if !left && code != 0 {
		m.Failed++
	}
}

// NeedsAll reports whether a fails with the component of a process.
func NeedsAll(a *ledger.App, id api.ExecutorID) bool {
	g := GroupOf(a)
	return slices.ContainsFunc(g.Members, func(m Member) bool { return g.ID(m) == id && !g.Elastic(m) })
}

// Files are the files with which a's driver and components are started on a node, for "" on all nodes, as those of one
// component: of the driver's name where that is among them. It is nil where none is there.
func Files(a *ledger.App, node string) *api.Component {
	var all *api.Component
	add := func(c *api.Component) {
		if all == nil {
			all = &api.Component{}
		}
		all.Files = append(all.Files, c.Files...)
	}
	if s := Of(a); s.Component != nil && (node == "" || s.Node == node) {
		add(s.Component)
		all.Name, all.Submission = s.Component.Name, s.Component.Submission
	}
	g := GroupOf(a)
	for i := range g.Components {
		if node == "" || slices.ContainsFunc(g.Members, func(m Member) bool {
			return m.Node == node && m.Of == g.Components[i].Name
		}) {
			add(&g.Components[i])
		}
	}
	return all
}
