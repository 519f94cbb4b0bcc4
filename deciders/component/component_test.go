package component_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const app = api.AppID("app-1")

// cluster has an application that runs on a and b, whose driver is b's to start.
func cluster(t testing.TB, supervised bool) *ledgertest.Cluster {
	c := ledgertest.New(t, "a", "b", "c")
	launch := api.Launch{Heap: 4 * units.GiB}
	c.Know(ledger.Registered{ID: app, Name: "p", Serial: 1, Tenant: ledger.Tenant{Class: api.ClassBatch, Launch: launch, Nodes: api.NodeRange{Driver: units.GiB}},
		Promise: ledger.Promise{Start: c.Now, Mode: ledger.Recording}, Seats: &ledger.Seats{Nodes: []string{"a", "b"}, Cores: 8, Slots: 8, Driver: "b"}},
		component.Taken{OfApp: ledger.OfApp{App: app}, Node: "b", Component: &api.Component{Name: api.DriverName, Class: api.ComponentCore, Memory: units.GiB, Supervise: supervised}})
	return c
}

// planned is who runs on a node by its Plan.
func planned(c *ledgertest.Cluster, node string) (ids []api.ExecutorID) {
	for _, a := range c.View().Plan(c.View().Node(node)).Apps {
		ids = append(ids, a.Executors...)
	}
	return ids
}

func same(got []api.ExecutorID, want ...api.ExecutorID) bool { return slices.Equal(got, want) }

func audit(t *testing.T, c *ledgertest.Cluster) {
	t.Helper()
	if fault := c.Ledger.Audit(); fault != "" {
		t.Error(fault)
	}
}

func came(c *ledgertest.Cluster) ledger.DriverCame {
	a := c.View().App(app)
	return ledger.DriverCame{App: app, Name: "q", Tenant: a.Tenant, Promise: a.Promise}
}

// Until the driver registers executors have their memory and no node starts them; then all run.
func TestExecutorsWaitForTheirDriver(t *testing.T) {
	c := cluster(t, false)
	v := c.View()
	if !same(planned(c, "a")) || !same(planned(c, "b"), api.DriverName) {
		t.Errorf("before the driver a runs %v, b %v", planned(c, "a"), planned(c, "b"))
	}
	if a, b := v.Claimed(v.Node("a")), v.Claimed(v.Node("b")); a != 4*units.GiB || b != 5*units.GiB {
		t.Errorf("a has claims of %v, b of %v", a, b)
	}
	c.Know(component.Told{OfApp: ledger.OfApp{App: app}, ID: api.DriverName, Node: "b"}, came(c))
	if !same(planned(c, "a"), "1") || !same(planned(c, "b"), "2", api.DriverName) {
		t.Errorf("then a runs %v, b %v", planned(c, "a"), planned(c, "b"))
	}
	// Its context stops: executors end, the driver goes on to its exit.
	c.Know(ledger.ContextStopped{App: app, At: 1})
	if !same(planned(c, "a")) || !same(planned(c, "b"), api.DriverName) {
		t.Errorf("after the stop a runs %v, b %v", planned(c, "a"), planned(c, "b"))
	}
	c.Know(component.Told{OfApp: ledger.OfApp{App: app}, ID: api.DriverName, Node: "b", Exited: true, Exit: "exit status 3", Code: 3})
	if s := component.Of(c.View().App(app)); !s.Exited || s.Code != 3 || !same(planned(c, "b")) {
		t.Errorf("at the end %+v, b runs %v", s, planned(c, "b"))
	}
	audit(t, c)
}

// The driver's own executors may take less than was submitted, and more where there is room.
func TestTheDriverKnowsItsExecutors(t *testing.T) {
	c := cluster(t, false)
	f := came(c)
	f.Tenant.Launch.Heap = 13 * units.GiB // b has 16 GiB, and the driver one of them.
	c.Know(f)
	if v := c.View(); v.Claimed(v.Node("b")) != 14*units.GiB {
		t.Errorf("b has claims of %v", v.Claimed(v.Node("b")))
	}
	c = cluster(t, false)
	f.Tenant.Launch.Heap = 16 * units.GiB
	if err := c.Record(f); err == nil {
		t.Error("executors that fit no node beside the driver were taken")
	}
	audit(t, c)
}

// A Plan holds so many bytes: a driver whose executors have longer texts than was submitted is refused where others' leave
// no room for these.
func TestADriverThatThePlanDoesNotHold(t *testing.T) {
	c := cluster(t, false)
	long := func(bytes int) api.Launch {
		return api.Launch{Heap: units.MiB, ClassPath: []string{strings.Repeat("x", bytes)}}
	}
	for i := range 5 {
		c.Know(ledger.Registered{ID: api.AppID(fmt.Sprint("long-", i)), Serial: uint64(2 + i), Tenant: ledger.Tenant{Launch: long(api.MostPlanLaunches/5 - 2048)},
			Promise: ledger.Promise{Start: c.Now, Mode: ledger.Recording}, Seats: &ledger.Seats{Nodes: []string{"a"}, Cores: 8, Slots: 8}})
	}
	f := came(c)
	f.Tenant.Launch.ClassPath = []string{strings.Repeat("x", 16<<10)}
	if err := c.Record(f); err == nil || !strings.Contains(err.Error(), "the plan of node a does not hold") {
		t.Errorf("a driver whose executors have long texts: %v", err)
	}
	c.Know(came(c))
	audit(t, c)
}

// Executors are lent memory once their driver has registered, not before: no node has started those that it waits for.
func TestExecutorsBorrowAfterTheirDriver(t *testing.T) {
	c := cluster(t, true)
	if lent := (ledger.Seated{App: app, Nodes: []string{"c"}, Lent: true}); c.Record(lent) == nil {
		t.Error("executors that no node starts are lent their memory")
	}
	c.Know(came(c), ledger.Seated{App: app, Nodes: []string{"c"}, Lent: true})
	if n := c.View().Node("c"); n.Lent() != 4*units.GiB || !same(planned(c, "c"), "3") {
		t.Errorf("c lends %v, and runs %v", n.Lent(), planned(c, "c"))
	}
	// The driver begins again, and knows its executors better than its submission: what is lent is counted as lent.
	c.Know(component.Left{OfApp: ledger.OfApp{App: app}, Node: "b", Reason: "was lost with it"})
	f := came(c)
	f.Tenant.Launch.Heap = 6 * units.GiB
	c.Know(f)
	if n := c.View().Node("c"); n.Lent() != 6*units.GiB || c.View().Claimed(n) != 0 {
		t.Errorf("c lends %v, and has claims of %v", n.Lent(), c.View().Claimed(n))
	}
	audit(t, c)
}

// A driver that is lost with its node fails its application; a supervised one begins again, three times, when nothing of
// the first one runs any more.
func TestDriversOfLostNodes(t *testing.T) {
	for _, supervised := range []bool{false, true} {
		c := cluster(t, supervised)
		c.Know(component.Told{OfApp: ledger.OfApp{App: app}, ID: api.DriverName, Node: "b"}, came(c))
		follow := func() []ledger.Lever { return component.Follow(c.View(), c.View().App(app), 5*time.Second) }
		if got := follow(); len(got) != 0 {
			t.Fatalf("of a driver that runs: %v", got)
		}
		c.Know(ledger.NodeLost{Node: "b", Silent: time.Minute})
		if got := follow(); len(got) != 0 {
			t.Fatalf("of a driver that speaks: %v", got)
		}
		c.Know(ledger.Waited{For: 6 * time.Second})
		levers := follow()
		if len(levers) != 1 {
			t.Fatalf("of a lost driver: %v", levers)
		}
		if _, lost := levers[0].(component.Lost); lost == supervised {
			t.Fatalf("supervised %v: %#v", supervised, levers[0])
		}
		c.Know(levers[0])
		if !supervised {
			continue
		}
		if !same(planned(c, "a")) || !component.Awaits(c.View().App(app)) {
			t.Errorf("while the next one is to come a runs %v", planned(c, "a"))
		}
		for _, lever := range follow() {
			c.Know(lever)
		}
		s := component.Of(c.View().App(app))
		if s.Attempt != 2 || s.ID() != "driver-2" || s.Node == "b" || s.Node == "" || !same(planned(c, s.Node), "driver-2") {
			t.Errorf("it begins again as %+v, its node runs %v", s, planned(c, s.Node))
		}
		if err := c.Record(component.Told{OfApp: ledger.OfApp{App: app}, ID: api.DriverName, Node: "b", Exited: true}); err == nil {
			t.Error("the exit of the first one was taken for the second one's")
		}
		audit(t, c)
	}
}

// Whatever is recorded, in whatever order: a driver is in the Plan of one node at most, and executors are in Plans only
// while it has registered. What nodes' memory claims is what runs (Audit).
func TestOneDriverAtMost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := cluster(t, true)
		for range rapid.IntRange(1, 25).Draw(r, "facts") {
			s := component.Of(c.View().App(app))
			node := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "node")
			of := ledger.OfApp{App: app}
			facts := []ledger.Fact{came(c), component.Told{OfApp: of, ID: s.ID(), Node: node}, component.Left{OfApp: of, Node: node},
				component.Again{OfApp: of, Node: node}, ledger.Anew{App: app}, ledger.Seated{App: app, Nodes: []string{node}, Lent: true}, component.Told{OfApp: of, ID: s.ID(), Node: node, Exited: true, Code: 1},
				ledger.ExecutorLost{App: app, ID: "1", Reason: "lost"}, ledger.RunEnded{App: app, State: api.AppFailed, By: api.EndedByKill}}
			_ = c.Record(rapid.SampledFrom(facts).Draw(r, "fact")) // What cannot be is refused.
			c.Close()
			drivers, executors := 0, 0
			for _, n := range []string{"a", "b", "c"} {
				for _, id := range planned(c, n) {
					if id.Component() {
						drivers++
					} else {
						executors++
					}
				}
			}
			a := c.View().App(app)
			if s := component.Of(a); drivers > 1 || drivers == 1 != (s.Node != "") || executors > 0 && (!a.Running() || component.Awaits(a)) {
				r.Fatalf("%d drivers and %d executors in Plans of %+v", drivers, executors, s)
			}
			if fault := c.Ledger.Audit(); fault != "" {
				r.Fatal(fault)
			}
		}
	})
}
