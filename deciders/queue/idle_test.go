package queue_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// nodes has so much time pass in which nodes say that all executors run, and that those of busy, as "app-1 a", have tasks.
func nodes(c *ledgertest.Cluster, seq uint64, d time.Duration, busy ...string) {
	c.Helper()
	c.Pass(d)
	for _, n := range c.View().Nodes() {
		s := ledgertest.Status(n.Node, seq)
		for _, t := range c.View().Allocations(n.Node) {
			for _, x := range t.Executors {
				s.Executors = append(s.Executors, api.ExecutorStatus{App: t.App.ID, ID: x.ID, State: api.ExecutorRunning})
				if slices.Contains(busy, string(t.App.ID)+" "+n.Node) {
					s.Stages = append(s.Stages, api.StageStatus{App: t.App.ID, Executor: x.ID, StageKey: api.StageKey{Stage: 1}})
				}
			}
		}
		c.Know(ledger.NodeSaid{Status: s})
	}
}

// TestIdleMemory: what executors hold that have run no task for a minute is idle while somebody waits, who is told; of
// an executor that shows no page, or whose node is away, nobody knows.
func TestIdleMemory(t *testing.T) {
	c, p := ledgertest.New(t, "a", "b"), by(assign.Backfill)
	runs(c, p, "app-1", wish{})
	nodes(c, 2, 30*time.Second, "app-1 a")
	nodes(c, 3, 59*time.Second, "app-1 a")
	if idle := queue.Idle(c.View()); idle != nil {
		t.Errorf("nobody waits, and %v is idle", idle)
	}
	waits := comes(c, "app-2", wish{})
	want := []api.IdleMemory{{App: "app-1", Node: "b", Memory: c.View().App("app-1").Tenant.Claim()}}
	if idle := queue.Idle(c.View()); !slices.Equal(idle, want) {
		t.Errorf("%v is idle, want %v", idle, want)
	}
	obey(c, p.Decide(outlook(c), nil))
	const said = "app-1 holds 10g and has run no task there for a minute"
	if q := waits.Queue(); !strings.HasSuffix(q.Why, "; "+said) || !strings.Contains(waits.Promise.Reason, said) {
		t.Errorf("it is told %q, %q", q.Why, waits.Promise.Reason)
	}
	nodes(c, 4, time.Second, "app-1 a", "app-1 b")
	if idle := queue.Idle(c.View()); idle != nil {
		t.Errorf("all have tasks, and %v is idle", idle)
	}
	obey(c, p.Decide(outlook(c), nil))
	if q := waits.Queue(); strings.Contains(q.Why, "no task") {
		t.Errorf("all have tasks, and it is told %q", q.Why)
	}
	c.Pass(time.Minute)
	c.Know(ledger.NodeLost{Node: "b"})
	if idle := queue.Idle(c.View()); len(idle) != 1 || idle[0].Node != "a" {
		t.Errorf("node b is away, and %v is idle", idle)
	}
}

// TestNobodyKnowsWhatHasNoPage: an executor that has never shown a page, as those of mode off, may run tasks.
func TestNobodyKnowsWhatHasNoPage(t *testing.T) {
	c, p := ledgertest.New(t, "a"), by(assign.Backfill)
	runs(c, p, "app-1", wish{})
	comes(c, "app-2", wish{})
	c.Pass(2 * time.Minute)
	if idle := queue.Idle(c.View()); idle != nil {
		t.Errorf("%v is idle", idle)
	}
}

// TestIdleUnitsAreGivenBackFirst: of two elastic units the one without tasks goes, though the other one is newer; and
// two of these before one that has tasks.
func TestIdleUnitsAreGivenBackFirst(t *testing.T) {
	for _, c := range []struct {
		heaps []units.Bytes // Of the applications that run on all nodes.
		busy  []string
		want  []string
	}{
		{[]units.Bytes{10}, []string{"app-1 a", "app-1 b"}, []string{"app-1 b app-9"}},
		{[]units.Bytes{10}, []string{"app-1 b"}, []string{"app-1 a app-9"}},
		{[]units.Bytes{4, 4, 8}, []string{"app-3 a", "app-3 b", "app-1 b"}, []string{"app-2 a app-9", "app-1 a app-9"}},
		{[]units.Bytes{4, 4, 8}, []string{"app-1 a", "app-2 a", "app-1 b", "app-2 b", "app-3 b"}, []string{"app-3 a app-9"}},
	} {
		w, p := ledgertest.New(t, "a", "b"), by(assign.FlexiblePreemptive)
		for i, heap := range c.heaps {
			w.To(units.Seconds(i))
			runs(w, p, api.AppID(fmt.Sprint("app-", i+1)), wish{heap: heap * units.GiB})
		}
		nodes(w, 2, 61*time.Second, c.busy...)
		comes(w, "app-9", wish{class: api.ClassInteractive, heap: 8 * units.GiB})
		if got := gives(p.Decide(outlook(w), nil)); !slices.Equal(got, c.want) {
			t.Errorf("with tasks on %v: %v, want %v", c.busy, got, c.want)
		}
	}
}
