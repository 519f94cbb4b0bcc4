package placement

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/consolidation"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// empty asks a cluster, whose planner has learnt nothing.
func empty(c *ledgertest.Cluster) Advice {
	o := estimate.Policy{Equations: dag.Default(), MaxPool: 4}.Outlook(c.View())
	return Empty(o, consolidation.NewTables())
}

// A node may sleep if what is there ends in time without it, with twice its drain to spare: 68 s on eight cores take twice as long
// on four.
func TestANodeSleepsIfAllThereEndsInTime(t *testing.T) {
	for deadline, why := range map[units.Seconds]string{400: "", 100: "app-1 would end after "} {
		c := ledgertest.New(t, "a", "b")
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("q")})
		c.App("app-1", "q", deadline, "a", "b")
		got := empty(c)
		if got.Node != "a" || got.Sleeps != (why == "") || !strings.Contains(got.Why, why) {
			t.Errorf("%v s: %+v", deadline, got)
		}
	}
}

// The answer names all that are in the way.
func TestWhoIsInTheWay(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("q")})
	c.App("app-1", "new", 0, "a", "b")
	c.App("app-2", "q", 500, "a")
	c.App("app-3", "q", 500, "b")
	c.Know(NodeSlept{OfNode: ledger.OfNode{Node: "a"}, Asleep: true}, NodeSlept{OfNode: ledger.OfNode{Node: "a"}})
	want := "it was woken, and stays awake for 600 s more; app-1 is in its first run, which would teach nothing; app-2 has no executor elsewhere"
	if got := empty(c); got.Sleeps || got.Why != want {
		t.Errorf("%+v", got)
	}
	if got := empty(ledgertest.New(t, "a")); got.Node != "" || got.Sleeps {
		t.Errorf("the last node: %+v", got)
	}
}

// An executor that would overload the others, or was learnt to, does not move; CPU is what was used lately, memory what is resident.
func TestWhatOthersHaveNoRoomForStays(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	a := c.App("app-1", "q", 0, "a", "b")
	c.To(100)
	says := func(node string, id api.ExecutorID, resident units.Bytes, cpu units.Work) {
		s := ledgertest.Status(node, 2)
		s.Executors = []api.ExecutorStatus{{App: a.ID, ID: id, State: api.ExecutorRunning, CPU: cpu, Memory: api.ExecutorMemory{Resident: resident}}}
		c.Know(ledger.NodeSaid{Status: s})
	}
	says("a", "1", 8*units.GiB, 100)
	says("b", "2", 9*units.GiB, 200)
	m := machineOf(c.View(), c.View().Node("a"))
	if len(m.of) != 1 || m.Now.Memory != 0.5 || m.Mean.CPU != 0.25 {
		t.Fatalf("%+v", m)
	}
	if got := empty(c); got.Sleeps || !strings.Contains(got.Why, "1 of its executors have no room elsewhere") {
		t.Errorf("%+v", got)
	}
	if Overloaded(c.View(), c.View().Node("b")) {
		t.Error("9 of 16 GiB are too much")
	}
	tables := consolidation.NewTables()
	Learn(c.View(), tables, func(n int) int { return n - 1 })
	if len(tables.Encode()) == 1 {
		t.Error("nothing is learnt")
	}
}

// Executors that are alike do not teach nodes to refuse all: after ten rounds a node that is nearly idle may still sleep.
func TestWhatIsLearntOfExecutorsThatAreAlike(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	for _, id := range []api.AppID{"app-1", "app-2"} {
		c.App(id, "q", 0, "a", "b")
	}
	tables, state := consolidation.NewTables(), uint64(1)
	for range 10 {
		Learn(c.View(), tables, func(n int) int {
			state = 6364136223846793005*state + 1
			return int(state >> 33 % uint64(n))
		})
	}
	m, to := machineOf(c.View(), c.View().Node("a")), machineOf(c.View(), c.View().Node("b"))
	if moved, refused := rules().HandOver(tables, &m.Machine, &to.Machine); len(m.VMs) != 2 || len(moved) != 2 || refused {
		t.Errorf("%d of %d move", len(moved), len(m.VMs))
	}
}

// Use of a node by others counts as far as it is more than the node keeps back.
func TestWhatOthersUse(t *testing.T) {
	c := ledgertest.New(t, "a")
	for i, want := range []float64{0, 0, 0.25, 1} {
		others := []units.Cores{0, 4, 5, 8}[i]
		s := ledgertest.Status("a", uint64(2+i))
		s.Offered, s.Total, s.Others = 4, 8, others
		c.Know(ledger.NodeSaid{Status: s})
		if got := machineOf(c.View(), c.View().Node("a")).Now.CPU; got != want {
			t.Errorf("%v cores of 8, of which 4 are offered: %v, want %v", others, got, want)
		}
	}
}
