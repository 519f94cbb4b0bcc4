package component_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// described has an application wait that is a group alone: a main program, two that are core and three that are elastic.
func described(t testing.TB) (*ledgertest.Cluster, *api.Group) {
	c := ledgertest.New(t, "a", "b", "c")
	g := &api.Group{Main: "chief", Components: []api.Component{
		{Name: "chief", Class: api.ComponentCore, Memory: units.GiB, Command: []string{`{{hosts "ps"}}`}},
		{Name: "ps", Class: api.ComponentCore, Count: 2, Memory: 6 * units.GiB, Port: 7000, Command: []string{"{{index}}"}},
		{Name: "more", Class: api.ComponentElastic, Count: 3, Memory: 4 * units.GiB, Port: 8000, Command: []string{`{{count "more"}}`}}}}
	if err := g.Validate(nil); err != nil {
		t.Fatal(err)
	}
	c.Know(ledger.Registered{ID: app, Name: "p", Serial: 1, Tenant: ledger.Tenant{Launch: api.Launch{Heap: 6 * units.GiB}, Nodes: api.NodeRange{Group: g.Room(true)}},
		Promise: ledger.Promise{Start: c.Now, Mode: ledger.Unpaced}, Queued: true},
		component.GroupTaken{OfApp: ledger.OfApp{App: app}, Group: g})
	return c, g
}

// Whatever is recorded, in whatever order: of the core programs all run that have not ended, or none; what runs has the
// ports and the words of its description, and a node's memory is what runs there.
func TestGroupsAreWhole(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c, g := described(t)
		of := ledger.OfApp{App: app}
		for range rapid.IntRange(1, 30).Draw(r, "facts") {
			node := rapid.SampledFrom([]string{"a", "b", "c"})
			k := component.GroupOf(c.View().App(app))
			m := rapid.SampledFrom(k.Members).Draw(r, "member")
			facts := []ledger.Fact{
				ledger.Started{App: app, Seats: ledger.Seats{Group: []string{node.Draw(r, "chief"), node.Draw(r, "ps-0"), node.Draw(r, "ps-1")}}, Mode: ledger.Unpaced},
				component.MemberStarted{OfApp: of, Of: m.Of, Index: rapid.IntRange(-1, 7).Draw(r, "place"), Node: node.Draw(r, "node")},
				component.MemberTold{OfApp: of, ID: k.ID(m), Node: m.Node},
				component.MemberTold{OfApp: of, ID: k.ID(m), Node: m.Node, Exited: true, Code: rapid.IntRange(0, 1).Draw(r, "code")},
				component.MemberWanted{OfApp: of, ID: k.ID(m), Node: m.Node}, component.MemberLost{OfApp: of, ID: k.ID(m), Node: m.Node},
				ledger.RunEnded{App: app, State: api.AppFailed, By: api.EndedByKill}}
			if i := rapid.IntRange(0, len(facts)).Draw(r, "fact"); i < len(facts) {
				_ = c.Record(facts[i]) // What cannot be is refused.
			} else {
				for _, lever := range component.Grow(c.View()) {
					c.Know(lever)
				}
			}
			c.Close()
			a := c.View().App(app)
			k, here, core := component.GroupOf(a), map[string]bool{}, 0
			for _, m := range k.Members {
				if !k.Elastic(m) && (m.Node != "" || m.Exited) {
					core++
				}
				if m.Node == "" {
					continue
				}
				d := g.Component(m.Of)
				port := fmt.Sprint(m.Filled.Port)
				if here[port] && d.Port > 0 || m.Filled.Port < d.Port || m.Filled.Port > d.Port+d.Members() {
					r.Fatalf("%s has port %s", k.ID(m), port)
				}
				here[port] = true
				if word := m.Filled.Command[0]; strings.Contains(word, "{{") || m.Of == "chief" && strings.Count(word, "127.0.0.1:700") != 2 {
					r.Fatalf("%s is started with %q", k.ID(m), word)
				}
			}
			if a.Running() && core != 3 || a.Queued() && core != 0 || a.Over() && len(here) > 0 {
				r.Fatalf("%d core programs and %d ports of an application that is %s", core, len(here), a.Outcome.State)
			}
			if fault := c.Ledger.Audit(); fault != "" {
				r.Fatal(fault)
			}
		}
	})
}
