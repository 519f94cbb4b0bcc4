package ledger_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

const attachedApp = api.AppID("app-2")

// attachedFacts are those of an application beside the one of facts, whose executors YARN starts: 2 and 5 on the
// node "attaching", 1 on none, and 4 that has gone.
func attachedFacts() []ledger.Fact {
	on := func(id api.ExecutorID, node string) ledger.Fact {
		return ledger.ExecutorAttached{App: attachedApp, ID: id, Node: node, Attached: ledger.Attached{Host: "h", Cores: 1}}
	}
	return append(facts(), ledger.NodeJoined{Node: "attaching", Incarnation: "x-1"}, ledger.NodeSaid{Status: attaching()},
		ledger.Registered{ID: attachedApp, Name: "q", Serial: 2, Tenant: ledger.Tenant{Launch: api.Launch{Cores: 1, Attach: &api.Attach{Manager: api.ManagerYARN, App: "application_1"}}}},
		on("5", "attaching"), on("4", "attaching"), on("2", "attaching"), on("1", ""),
		ledger.ExecutorLost{App: attachedApp, ID: "4", Node: "attaching", Reason: "preempted"})
}

func attachedExecutors(l *ledger.Ledger) (ids []api.ExecutorID) {
	for _, t := range l.View().Allocations("attaching") {
		for _, x := range t.Executors {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

func TestAttachedExecutorsAreWhereTheirDriverSays(t *testing.T) {
	l, _ := at(t, attachedFacts()...)
	a := l.View().App(attachedApp)
	if got := attachedExecutors(l); !slices.Equal(got, []api.ExecutorID{"2", "5"}) || len(a.Tenant.Pending) > 0 {
		t.Fatalf("on the node: %v, to be replaced: %v", got, a.Tenant.Pending)
	}
	if x := a.Executor("3"); !x.Unknown() || !a.Executor("1").Free() || a.Executor("2").Free() {
		t.Fatalf("executors: %+v", a.Tenant.Executors)
	}
	if got := l.View().Claimed(l.View().Node("attaching")); got != 0 {
		t.Fatalf("%v of the node are claimed", got)
	}
	// Its controller has come to the host of 1, and cannot write the quota of 2, of which half a core is all it has.
	told := attaching()
	told.Seq, told.Executors = 2, []api.ExecutorStatus{{App: attachedApp, ID: "2", State: api.ExecutorRunning, Ceiling: 0.5, Unguarded: true, Unpaced: "gVisor"}}
	for _, f := range []ledger.Fact{
		ledger.ExecutorAttached{App: attachedApp, ID: "1", Node: "attaching", Attached: ledger.Attached{Host: "h", Cores: 8}},
		ledger.NodeSaid{Status: told},
	} {
		if err := l.Record(f); err != nil {
			t.Fatal(err)
		}
	}
	effects := l.Close()
	if got := attachedExecutors(l); !slices.Equal(got, []api.ExecutorID{"1", "2", "5"}) || !a.Executor("2").Free() {
		t.Fatalf("on the node: %v", got)
	}
	// 4 cores of the node for executor 1, half a core for 2, one for 5: the node has no more than 4.
	if n := l.View().Node("attaching"); l.View().Allocation(a, n.Node).Cores(n.Offered) != 4 || a.Tenant.MostOf(a.Executor("2"), 4) != 0.5 {
		t.Fatalf("cores: %v", l.View().Allocation(a, n.Node).Cores(n.Offered))
	}
	if fault := l.Audit(); fault != "" {
		t.Fatal(fault)
	}
	_, first := at(t, attachedFacts()...)
	again := newLedger(t, append(first.Pairs, effects.Pairs...)...)
	was, _ := json.Marshal(a.Tenant.Executors)
	is, _ := json.Marshal(again.View().App(attachedApp).Tenant.Executors)
	if d := cmp.Diff(string(was), string(is)); d != "" || !slices.Equal(attachedExecutors(again), attachedExecutors(l)) {
		t.Fatalf("restored: %s", d)
	}
	if n := again.View().Node("attaching"); !n.Attaches() || n.Machine != "m" {
		t.Fatalf("restored: %+v", n.NodeRecord)
	}
}

// An attached executor that has exited does not come back.
func TestAnAttachedExecutorThatHasExitedStaysAway(t *testing.T) {
	l, _ := at(t, attachedFacts()...)
	exited := attaching()
	exited.Seq, exited.Executors = 2, []api.ExecutorStatus{{App: attachedApp, ID: "4", State: api.ExecutorExited}}
	if err := l.Record(ledger.NodeSaid{Status: exited}); err != nil {
		t.Fatal(err)
	}
	if l.Record(ledger.ExecutorAttached{App: attachedApp, ID: "4", Node: "attaching"}) == nil {
		t.Error("it is taken")
	}
}
