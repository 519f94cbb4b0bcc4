package lending_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

const gib = units.GiB

// cluster is one of nodes that give 16 GiB each, and what came of levers there.
type cluster struct {
	*ledgertest.Cluster
	seq map[string]uint64
}

func newCluster(t testing.TB, nodes ...string) *cluster {
	c := &cluster{ledgertest.New(t, nodes...), make(map[string]uint64)}
	for _, n := range nodes {
		c.seq[n] = 1
	}
	return c
}

// app is an application with executors of so many GiB that are all up, a batch one or one that has a deadline.
func (c *cluster) app(id string, heap int, lent bool, nodes ...string) (*ledger.App, error) {
	f := ledger.Registered{ID: api.AppID(id), Name: id, Serial: c.View().Serial() + 1,
		Tenant:  ledger.Tenant{Submission: id, Launch: api.Launch{Heap: units.Bytes(heap) * gib}},
		Seats:   &ledger.Seats{Nodes: nodes, Cores: 4, Slots: 4, Lent: lent},
		Promise: ledger.Promise{Start: c.Now, Mode: ledger.Recording, Deadline: 100}}
	if lent {
		f.Tenant.Class, f.Promise.Deadline = api.ClassBatch, 0
	}
	if err := c.Record(f); err != nil {
		return nil, err
	}
	a := c.View().App(f.ID)
	for _, x := range a.Alive() {
		c.Know(ledger.ExecutorUp{App: a.ID, ID: x.ID})
	}
	return a, nil
}

func (c *cluster) must(id string, heap int, lent bool, nodes ...string) *ledger.App {
	c.Helper()
	a, err := c.app(id, heap, lent, nodes...)
	if err != nil {
		c.Fatal(err)
	}
	return a
}

// leaves has a node say that each executor there of a leaves so many GiB.
func (c *cluster) leaves(a *ledger.App, node string, spare int) {
	c.seq[node]++
	s := ledgertest.Status(node, c.seq[node])
	for _, x := range a.Alive() {
		if x.Node == node {
			s.Executors = append(s.Executors, api.ExecutorStatus{App: a.ID, ID: x.ID, State: api.ExecutorRunning,
				Memory: api.ExecutorMemory{Heap: gib, Spare: units.Bytes(spare) * gib}})
		}
	}
	c.Know(ledger.NodeSaid{Status: s})
}

// back takes back, and says from whom.
func (c *cluster) back() (taken, kept []string) {
	c.Helper()
	for _, lever := range lending.Back(c.View()) {
		c.Know(lever)
		switch f := lever.(type) {
		case ledger.ExecutorTaken:
			taken = append(taken, fmt.Sprintf("%s/%s", f.App, f.ID))
		case ledger.ClaimKept:
			kept = append(kept, fmt.Sprintf("%s/%s", f.App, f.ID))
		}
	}
	return taken, kept
}

// gone has all go that were taken.
func (c *cluster) gone() {
	c.Helper()
	for a := range c.View().Running() {
		for _, x := range a.Alive() {
			if x.Taken() {
				c.Know(ledger.ExecutorLost{App: a.ID, ID: x.ID, Node: x.Node, Leaving: true})
			}
		}
	}
}

// Units of applications that go on elsewhere go first, the youngest first, then whole applications, the last first.
func TestWhoGivesBackFirst(t *testing.T) {
	c := newCluster(t, "a", "b")
	c.must("whole", 5, true, "a")
	c.To(1)
	c.must("later", 5, true, "a")
	c.To(2)
	c.must("spread", 5, true, "a", "b")
	for i, want := range []string{"spread/1", "later/1", "whole/1"} {
		c.must(fmt.Sprintf("due-%d", i), 5, false, "a")
		if taken, _ := c.back(); !slices.Equal(taken, []string{want}) {
			t.Fatalf("for the application %d: %v go, want %s", i, taken, want)
		}
		c.gone()
	}
	if out := lending.Out(c.View()); len(out) != 2 || out[0].ID != "whole" || out[1].ID != "later" {
		t.Errorf("without executors: %v", out)
	}
	c.Know(lending.Places(c.View())[0], lending.Places(c.View())[1])
	if q := c.View().App("later").Queue(); q == nil || q.Place != 2 || q.Of != 2 || c.View().App("spread").Queue() != nil {
		t.Errorf("its place: %+v", q)
	}
	if d := c.View().App("later").Directive.Queued; d == nil || d.Place != 2 {
		t.Errorf("its driver is told %+v", d)
	}
	if len(lending.Places(c.View())) > 0 {
		t.Error("places are told again")
	}
	c.Know(ledger.ContextStopped{App: "due-0", At: 5}, ledger.ExecutorLost{App: "due-0", ID: "1"}, ledger.Seated{App: "whole", Nodes: []string{"a"}, Lent: true})
	if c.View().App("whole").Queue() != nil {
		t.Error("it has executors again, and a place")
	}
}

// A loan that is in the way of nothing stays, though it comes first.
func TestWhatNeedNotGoStays(t *testing.T) {
	c := newCluster(t, "a")
	c.must("large", 10, true, "a")
	c.To(1)
	c.must("small", 3, true, "a")
	c.must("due", 12, false, "a")
	if taken, _ := c.back(); !slices.Equal(taken, []string{"large/1"}) {
		t.Errorf("%v go, want the large one alone", taken)
	}
}

// Memory that executors leave is lent, less the part that is kept of the node, and taken back when they use it.
func TestWhatIsLendable(t *testing.T) {
	c := newCluster(t, "a")
	due := c.must("due", 12, false, "a")
	if _, err := c.app("early", 5, true, "a"); err == nil {
		t.Fatal("more is lent than there is")
	}
	c.leaves(due, "a", 5)
	n := c.View().Node("a")
	if got, want := n.Borrowable(), 4*gib+5*gib-units.Bytes(math.Ceil(0.05*16*float64(gib))); got < want-1 || got > want+1 {
		t.Errorf("%v are lendable, want %v", got, want)
	}
	batch := c.must("batch", 8, true, "a")
	c.leaves(batch, "a", 20) // No more than its claim counts.
	if got := n.Lendable(); got > 13*gib {
		t.Errorf("%v of 20g are lendable of executors that claim 20g", got)
	}
	if taken, _ := c.back(); len(taken) > 0 {
		t.Errorf("%v go though nothing lacks", taken)
	}
	c.leaves(batch, "a", 0)
	c.leaves(due, "a", 2)
	if taken, _ := c.back(); !slices.Equal(taken, []string{"batch/1"}) {
		t.Errorf("%v go, want batch/1", taken)
	}
	if s := c.View().App("batch").Executor("1"); !s.Leaving || !s.Taken() {
		t.Errorf("%+v", s)
	}
}

// After three takings an application gets free memory alone and keeps it; one that gets a deadline keeps what it has.
func TestWhoKeepsItsMemory(t *testing.T) {
	c := newCluster(t, "a")
	v := c.View()
	a := c.must("batch", 6, true, "a")
	for i := range 3 {
		if !lending.Borrows(a) || lending.Of(a).Takings != i {
			t.Fatalf("after %d takings: %+v", i, lending.Of(a))
		}
		c.To(units.Seconds(10 * (i + 1)))
		c.Know(ledger.ExecutorTaken{App: a.ID, ID: a.Alive()[0].ID, Node: "a"})
		c.gone()
		c.Know(ledger.Seated{App: a.ID, Nodes: []string{"a"}, Lent: true})
	}
	n := v.Node("a")
	if lending.Borrows(a) || lending.Left(v, n, a) != 10*gib {
		t.Errorf("it borrows: %v, and may have %v", lending.Borrows(a), lending.Left(v, n, a))
	}
	if taken, kept := c.back(); len(taken) > 0 || !slices.Equal(kept, []string{"batch/4"}) || n.Lent() != 0 || v.Claimed(n) != 6*gib {
		t.Errorf("taken %v, kept %v: %v lent, %v promised", taken, kept, n.Lent(), v.Claimed(n))
	}
	if _, err := c.app("due", 12, false, "a"); err == nil || !strings.Contains(err.Error(), "10g left") {
		t.Errorf("what is kept is given to another one: %v", err)
	}
	b := c.must("other", 4, true, "a")
	c.Know(ledger.DeadlineGiven{App: b.ID, Deadline: 90})
	if _, kept := c.back(); !slices.Equal(kept, []string{"other/1"}) {
		t.Errorf("kept %v", kept)
	}
	if fault := c.Audit(); fault != "" {
		t.Error(fault)
	}
}

// Whatever comes, goes, leaves memory or does not: what is promised of a node is never more than it gives, no executor
// that is promised its memory goes, and after Back a node lacks nothing.
func TestNoPromiseIsBroken(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		nodes := []string{"a", "b", "c"}
		c := newCluster(t, nodes...)
		for step := range rapid.IntRange(1, 25).Draw(r, "steps") {
			c.To(units.Seconds(step))
			var running []*ledger.App
			for a := range c.View().Running() {
				running = append(running, a)
			}
			switch what := rapid.IntRange(0, 5).Draw(r, "what"); {
			case what < 3 || len(running) == 0:
				on := nodes[rapid.IntRange(0, 2).Draw(r, "from"):]
				_, _ = c.app(fmt.Sprintf("app-%02d", step), rapid.IntRange(1, 12).Draw(r, "heap"), rapid.Bool().Draw(r, "batch"), on...)
			case what == 3:
				c.gone()
			case what == 4:
				a := rapid.SampledFrom(running).Draw(r, "app")
				c.leaves(a, rapid.SampledFrom(nodes).Draw(r, "node"), rapid.IntRange(0, 12).Draw(r, "spare"))
			default:
				a := rapid.SampledFrom(running).Draw(r, "over")
				c.Know(ledger.DeadlineGiven{App: a.ID, Deadline: units.Seconds(200)})
			}
			v := c.View()
			promised := make(map[*ledger.Executor]bool)
			for a := range v.Running() {
				for _, x := range a.Alive() {
					promised[x] = !x.Lent()
				}
			}
			c.back()
			if left := lending.Back(v); len(left) > 0 {
				r.Fatalf("a second look wants more: %+v", left)
			}
			for a := range v.Running() {
				for _, x := range a.Alive() {
					if promised[x] && (x.Lent() || x.Leaving) {
						r.Fatalf("%s/%s was promised its memory: %+v", a.ID, x.ID, x)
					}
				}
			}
			for _, n := range v.Nodes() {
				all, lent, spare := units.Bytes(0), units.Bytes(0), units.Bytes(0)
				for _, x := range n.Tenants() {
					for _, y := range x.Executors {
						switch {
						case y.Taken():
							continue
						case y.Lent():
							lent += x.App.Tenant.Claim()
						default:
							all += x.App.Tenant.Claim()
						}
						spare += y.Memory.Spare
					}
				}
				lendable := max(0, float64(spare)-0.05*16*float64(gib))
				if all > n.Memory || float64(all+lent) > float64(n.Memory)+lendable+1 {
					r.Fatalf("node %s of %v: %v promised, %v lent, %v lendable", n.Node, n.Memory, all, lent, units.Bytes(lendable))
				}
			}
			if fault := c.Audit(); fault != "" {
				r.Fatal(fault)
			}
		}
	})
}
