package admission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/admission"
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/placement"
	"github.com/sparkpacer/pacer/units"
	"github.com/sparkpacer/pacer/verdict"
)

func policies() (placement.Policy, verdict.Policy) {
	e := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesAuto, MaxPool: 4}
	return placement.Policy{Policy: e, Order: placement.LeastCommitted}, verdict.Policy{Policy: e}
}

func request(name string, deadline units.Seconds) api.RegisterRequest {
	return api.RegisterRequest{V: api.Version, Submission: "submission of " + name, Name: name, SparkVersion: "4.3.0", Deadline: deadline, Elapsed: 2,
		Launch: api.Launch{DriverURL: "spark://driver@127.0.0.1:1", SparkVersion: "4.3.0", Heap: units.GiB}}
}

func TestDecide(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	place, judge := policies()
	decide := func(r api.RegisterRequest) admission.Admission {
		t.Helper()
		d, err := admission.Decide(c.View(), place, judge, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.View().Apps()) != 0 {
			t.Fatal("a decider has taken an application in")
		}
		return d
	}
	paced := decide(request("p", 120))
	if paced.Promise.Mode != ledger.Paced || !paced.Matched || len(paced.Seating.Nodes()) != 2 || paced.Tenant.Cores != 8 || paced.Refused ||
		paced.Promise.Start != c.Now.Add(-2*time.Second) || !strings.HasSuffix(string(paced.ID), "-0001") {
		t.Errorf("paced: %+v", paced)
	}
	if d := decide(request("q", 120)); d.Promise.Mode != ledger.Recording || d.Matched || d.Promise.Verdict != api.VerdictUnknown {
		t.Errorf("without a profile: %+v", d)
	}
	off := request("p", 120)
	off.Mode = api.ModeOff
	if d := decide(off); d.Promise.Mode != ledger.Off || d.Matched {
		t.Errorf("mode off: %+v", d)
	}
	strict := request("p", 30)
	strict.RequireFeasible = true
	if d := decide(strict); !d.Refused || d.Promise.Earliest < 60 {
		t.Errorf("infeasible, and must not be: %+v", d)
	}
	big := request("p", 120)
	big.Launch.Heap = 64 * units.GiB
	if _, err := admission.Decide(c.View(), place, judge, big); api.KindOf(err) != api.KindInvalid {
		t.Errorf("an executor larger than every node: %v", err)
	}
	if _, err := admission.Decide(ledgertest.New(t).View(), place, judge, request("p", 120)); api.KindOf(err) != api.KindTransient {
		t.Errorf("without nodes: %v", err)
	}
}

// A registration that is repeated means the application that there is.
func TestKnown(t *testing.T) {
	c := ledgertest.New(t, "a")
	a := c.App("app-1", "p", 0, "a")
	if got, err := admission.Known(c.View(), request("p", 0)); err != nil || got != a {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := admission.Known(c.View(), request("q", 0)); err != nil || got != nil {
		t.Errorf("another submission: %v, %v", got, err)
	}
	c.Know(ledger.ContextStopped{App: a.ID, At: 3})
	if _, err := admission.Known(c.View(), request("p", 0)); api.KindOf(err) != api.KindConflict {
		t.Errorf("one that has ended: %v", err)
	}
}

// Of an application that runs for another planner nothing is started.
func TestElsewhere(t *testing.T) {
	c := ledgertest.New(t, "a")
	if err := admission.Elsewhere(c.View(), ""); err != nil {
		t.Error(err)
	}
	if err := admission.Elsewhere(c.View(), "app-9"); api.KindOf(err) != api.KindTransient {
		t.Errorf("a planner that has only started: %v", err)
	}
	c.Pass(6 * time.Second)
	if err := admission.Elsewhere(c.View(), "app-9"); err != nil {
		t.Error(err)
	}
	s := ledgertest.Status("a", 2)
	s.Executors = []api.ExecutorStatus{{App: "app-9", ID: "1", State: api.ExecutorRunning}}
	c.Know(ledger.NodeSaid{Status: s, Follows: "another"})
	if err := admission.Elsewhere(c.View(), "app-9"); err == nil || !strings.Contains(err.Error(), "for planner another") {
		t.Errorf("one that runs for another planner: %v", err)
	}
}
