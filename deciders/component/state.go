package component

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// State is the driver of an application that was submitted to the nodes; the zero value is of another application.
type State struct {
	Component *api.Component `json:"component,omitempty"`
	// Node is where it runs, or is to run, "" while it waits, and when it is to run nowhere any more. Last is where it ran
	// last: its log is there.
	Node string `json:"node,omitempty"`
	Last string `json:"last_node,omitempty"`
	// Attempt counts its processes from 1.
	Attempt int `json:"attempt,omitempty"`
	// Running says that its node has seen it run, Came that it has registered, Exited that it has ended, as Exit and Code
	// say.
	Running bool   `json:"running,omitempty"`
	Came    bool   `json:"came,omitempty"`
	Exited  bool   `json:"exited,omitempty"`
	Exit    string `json:"exit,omitempty"`
	Code    int    `json:"exit_code,omitempty"`
}

// MostAttempts is how often a supervised driver is started at most: three times again.
const MostAttempts = 4

var facet = ledger.Register(ledger.Facet[*ledger.App, State]{Name: "component", Check: State.check, After: after,
	Lodges: State.lodges, Awaits: State.awaits})

// Of is the State of a.
func Of(a *ledger.App) State { return facet.Of(a) }

// Submitted reports whether a's driver, or what it has instead, is a node's to start.
func Submitted(a *ledger.App) bool { return Of(a).Component != nil || len(GroupOf(a).Members) > 0 }

// Lone reports whether a has neither a driver nor executors.
func Lone(a *ledger.App) bool { return Of(a).Component == nil && len(GroupOf(a).Members) > 0 }

// Lodged is what nodes run, or are to run, of a's driver and components.
func Lodged(a *ledger.App) []ledger.Lodging { return append(Of(a).lodges(), GroupOf(a).lodges()...) }

// On reports whether a node runs a's driver, or a component of it.
func On(a *ledger.App, node string) bool {
	return slices.ContainsFunc(Lodged(a), func(on ledger.Lodging) bool { return on.Node == node })
}

// Awaits reports whether a's driver is a node's to start, and has not registered: its executors have their memory, and
// are not started.
func Awaits(a *ledger.App) bool { return Of(a).awaits() }

// ID is the name of the driver's process.
func (s State) ID() api.ExecutorID {
	if s.Component == nil {
		return ""
	}
	return api.Attempt(s.Component.Name, s.Attempt)
}

func (s State) check() error {
	switch {
	case s.Component == nil && s != State{}:
		return fmt.Errorf("the state of a driver that there is not")
	case s.Attempt < 0 || s.Attempt > MostAttempts || s.Node != "" && s.Attempt == 0:
		return fmt.Errorf("attempt %d of a driver on node %q", s.Attempt, s.Node)
	}
	return nil
}

func (s State) lodges() []ledger.Lodging {
	if s.Node == "" {
		return nil
	}
	return []ledger.Lodging{{Node: s.Node, ID: s.ID(), Memory: s.Component.Memory, Component: s.Component}}
}

func (s State) awaits() bool { return s.Component != nil && !s.Came }

// after is s of a after a fact: it starts with a, and runs nowhere when a has ended otherwise than by its word.
func after(s State, v ledger.View, a *ledger.App, f ledger.Fact) (State, bool) {
	if s.Component == nil {
		return s, false
	}
	was := s
	switch f := f.(type) {
	case ledger.Started:
		g := GroupOf(a)
		if core := g.core(); len(core) > 0 && g.Members[core[0]].Node == "" {
			g = g.started(v, f.Group)
		}
		s.Node, s.Last, s.Attempt, s.Component = f.Driver, f.Driver, 1, g.filled(v, s.Component, 0)
	case ledger.DriverCame:
		s.Came, s.Running = true, true
	case ledger.RunEnded:
		s.Node = ""
	case ledger.Exited: // By its word alone it has not: its node tells when, and with which code.
		if f.By != api.EndedByLastWord {
			s.Node, s.Running = "", false
		}
	}
	return s, s != was
}

// Taken: an application was submitted whose driver is a node's to start: on Node at once, or with "" when a starts.
type Taken struct {
	ledger.OfApp
	Component *api.Component
	Node      string
}

// Line is what it says.
func (f Taken) Line() ledger.Line {
	if f.Node == "" {
		return f.OfApp.Says("driver submitted", "the driver of %s waits for memory", f.App)
	}
	return f.OfApp.Says("driver submitted", "the driver of %s starts on node %s", f.App, f.Node)
}

// Apply refuses a second driver.
func (f Taken) Apply(v ledger.View, a *ledger.App, s *State) error {
	if s.Component != nil || f.Component == nil {
		return fmt.Errorf("application %s has a driver, or gets none", f.App)
	}
	*s = State{Component: f.Component, Node: f.Node, Last: f.Node}
	if f.Node == "" {
		return nil
	}
	s.Attempt, s.Component = 1, GroupOf(a).filled(v, f.Component, 0)
	return room(v, a, f.Node, f.Component)
}

// room says why the driver of a cannot be put on a node.
func room(v ledger.View, a *ledger.App, node string, c *api.Component) error {
	n := v.Node(node)
	if n == nil || !n.Live() {
		return fmt.Errorf("node %s takes no driver", node)
	}
	if free := v.Free(n); free < c.Memory {
		return fmt.Errorf("a driver of %v does not fit node %s, which has %v left", c.Memory, node, max(0, free))
	}
	return told(v, a, n)
}

// told says why the Plan of n does not hold a.
func told(v ledger.View, a *ledger.App, n *ledger.Node) error {
	if !ledger.Tells(&a.Tenant.Launch, a, n, v) {
		return fmt.Errorf("the plan of node %s does not hold %s", n.Node, a.ID)
	}
	return nil
}

// Told: a node has told how the process ID of an application's driver stands.
type Told struct {
	ledger.OfApp
	ID     api.ExecutorID
	Node   string
	Exited bool
	Exit   string
	Code   int
}

// Line is what it says.
func (f Told) Line() ledger.Line {
	if f.Exited {
		return f.OfApp.Says("driver exited", "the driver of %s on node %s has ended: %s", f.App, f.Node, f.Exit)
	}
	return f.OfApp.Says("driver runs", "the driver of %s runs on node %s", f.App, f.Node)
}

// Apply takes it in of the process that is meant to run.
func (f Told) Apply(_ ledger.View, _ *ledger.App, s *State) error {
	if s.Component == nil || f.ID != s.ID() || s.Node == "" || f.Node != s.Node {
		return fmt.Errorf("process %s of %s on node %q is not its driver", f.ID, f.App, f.Node)
	}
	s.Running = true
	if f.Exited {
		s.Exited, s.Running, s.Exit, s.Code, s.Node = true, false, f.Exit, f.Code, ""
	}
	return nil
}
