package admission_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/memory"
	"github.com/sparkpacer/pacer/units"
)

func policy() placement.Policy {
	return placement.Policy{Order: placement.LeastCommitted}
}

func outlook(c *ledgertest.Cluster) *estimate.Outlook {
	return estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesAuto, MaxPool: 4}.Outlook(c.View())
}

func request(name string, deadline units.Seconds) api.RegisterRequest {
	return api.RegisterRequest{V: api.Version, Submission: "submission of " + name, Name: name, Deadline: deadline, Elapsed: 2,
		Launch: api.Launch{DriverURL: "spark://driver@127.0.0.1:1", SparkVersion: "4.3.0", Heap: units.GiB}}
}

// Two planners without common state give no id twice, though both count from 1 and both may
// serve in the same second.
func TestIDsAreThePlannersOwn(t *testing.T) {
	place := policy()
	id := func(identity string) string {
		t.Helper()
		c := ledgertest.Of(t, identity, "a")
		d, err := admission.Decide(outlook(c), place, request("p", 0))
		if err != nil {
			t.Fatal(err)
		}
		return string(d.ID)
	}
	const plain = "app-20270115080000-0001"
	if got := id(""); got != plain {
		t.Errorf("without a store: %s", got)
	}
	seen := map[string]bool{}
	for i := range 100 {
		got := id(fmt.Sprintf("planner-%d", i))
		if !strings.HasPrefix(got, plain+"-") || !api.AppID(got).Of(request("p", 0).Submission) || seen[got] {
			t.Errorf("planner-%d gives %s", i, got)
		}
		seen[got] = true
	}
	if one, again := id("planner-1"), id("planner-1"); one != again {
		t.Errorf("one store has two marks: %s, %s", one, again)
	}
}

func TestDecide(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	place := policy()
	decide := func(r api.RegisterRequest) admission.Admission {
		t.Helper()
		d, err := admission.Decide(outlook(c), place, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.View().Apps()) != 0 {
			t.Fatal("a decider has taken an application in")
		}
		return d
	}
	paced := decide(request("p", 120))
	if paced.Promise.Mode != ledger.Paced || paced.Profile == nil || paced.Tenant.Cores != 8 || paced.Tenant.Launch.OffHeap <= 0 ||
		paced.Promise.Start != c.Now.Add(-2*time.Second) || paced.Wait.Since != c.Now || !strings.Contains(string(paced.ID), "-0001-") {
		t.Errorf("paced: %+v", paced)
	}
	if d := decide(request("q", 120)); d.Promise.Mode != ledger.Recording || d.Profile != nil {
		t.Errorf("without a profile: %+v", d)
	}
	off := request("p", 120)
	off.Mode = api.ModeOff
	if d := decide(off); d.Promise.Mode != ledger.Off || d.Profile != nil {
		t.Errorf("mode off: %+v", d)
	}
	strict := request("p", 30)
	strict.RequireFeasible = true
	if d := decide(strict); !d.Promise.Required {
		t.Errorf("a deadline that must be kept: %+v", d)
	}
	big := request("p", 120)
	big.Launch.Heap = 64 * units.GiB
	if _, err := admission.Decide(outlook(c), place, big); api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), "where a heap of ") {
		t.Errorf("an executor larger than every node: %v", err)
	}
	if _, err := admission.Decide(outlook(ledgertest.New(t)), place, request("p", 120)); api.KindOf(err) != api.KindTransient {
		t.Errorf("without nodes: %v", err)
	}
}

// The profile of a run for which nobody names one is that of what runs, whatever it is called today.
func TestProfileOf(t *testing.T) {
	c := ledgertest.New(t, "a")
	for _, name := range []string{"sales *", "sales 2026-11-20", "old.py"} {
		c.Know(ledger.ProfileSaved{Body: ledgertest.Chain(name)})
	}
	for _, w := range []struct{ profile, name, program, want string }{
		{"", "sales 2026-11-27", "/jobs/sales.py", "sales *"},
		{"", "sales 2026-11-20", "/jobs/sales.py", "sales 2026-11-20"}, // As it was recorded once.
		{"sales 2026-11-27", "etl", "", "sales 2026-11-27"},
		{"", "tiny.py", "/jobs/tiny.py", "/jobs/tiny.py"},
		{"", "old.py", "/jobs/old.py", "old.py"},
		{"sales 2026-11-27#2", "sales 2026-11-27", "", "sales *#2"}, // Of a further context.
		{"tiny.py#3", "tiny.py", "/jobs/tiny.py", "/jobs/tiny.py#3"},
	} {
		r := request(w.name, 120)
		r.Profile, r.Program, r.Context = w.profile, w.program, strings.Count(w.profile, "#")
		d, err := admission.Decide(outlook(c), policy(), r)
		if err != nil || d.Promise.Profile != w.want || (d.Profile != nil) != (c.View().Profile("", w.want) != nil) {
			t.Errorf("%+v: %q, %v", w, d.Promise.Profile, err)
		}
	}
	if err := admission.NoProfile(c.View(), "ann", "sale *"); api.KindOf(err) != api.KindNotFound || !strings.Contains(err.Error(), `the nearest is "sales *"`) {
		t.Errorf("a profile that is not there: %v", err)
	}
	hers := ledgertest.Chain("sale *s")
	hers.Owner = "eve"
	c.Know(ledger.ProfileSaved{Body: hers})
	for user, near := range map[string]string{"eve": "sale *s", "ann": "sales *"} {
		if err := admission.NoProfile(c.View(), user, "sale *"); !strings.Contains(err.Error(), strconv.Quote(near)) {
			t.Errorf("%s is told %v", user, err)
		}
	}
}

// What is taken of the nodes does not change what an application may have at most.
func TestDecideLooksAtWholeNodes(t *testing.T) {
	c := ledgertest.New(t, "a")
	alone, err := admission.Decide(outlook(c), policy(), request("p", 0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		c.App(api.AppID(fmt.Sprint("app-", i)), "q", 0, "a")
	}
	beside, err := admission.Decide(outlook(c), policy(), request("p", 0))
	if err != nil || beside.Tenant.Cores != alone.Tenant.Cores || beside.Tenant.Launch.OffHeap != alone.Tenant.Launch.OffHeap {
		t.Errorf("alone %+v, beside others %+v, %v", alone.Tenant, beside.Tenant, err)
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
	its := request("p", 0)
	its.AppID = a.ID
	if got, err := admission.Known(c.View(), its); err != nil || got != a {
		t.Errorf("one that has its last word to say: %v, %v", got, err)
	}
	c.Know(ledger.Exited{App: a.ID, At: 4, By: api.EndedByLastWord})
	if _, err := admission.Known(c.View(), its); api.KindOf(err) != api.KindConflict {
		t.Errorf("one whose driver has exited: %v", err)
	}
}

// The executors of an application that is not known are had by whoever knows its submission,
// once their nodes follow this planner and everybody has spoken.
func TestReclaim(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	its := request("p", 0)
	find := func() ([]admission.Seat, error) { return admission.Reclaim(c.View(), its) }
	if seats, err := find(); seats != nil || err != nil {
		t.Errorf("%v, %v", seats, err)
	}
	its.AppID = "app-9"
	if _, err := find(); api.KindOf(err) != api.KindTransient {
		t.Errorf("a planner that has only started: %v", err)
	}
	c.Pass(6 * time.Second)
	if seats, err := find(); seats != nil || err != nil {
		t.Errorf("without executors: %v, %v", seats, err)
	}
	seq := uint64(2)
	say := func(follows, owner string) {
		s := ledgertest.Status("a", seq)
		seq++
		s.Executors = []api.ExecutorStatus{{App: "app-9", ID: "2", State: api.ExecutorRunning}, {App: "app-9", ID: "3", State: api.ExecutorExited}}
		if follows == "" {
			s.Orphans = []api.Orphan{{App: "app-9", Owner: owner}}
		}
		c.Know(ledger.NodeSaid{Status: s, Follows: follows})
	}
	say("another", "")
	if _, err := find(); api.KindOf(err) != api.KindTransient || !strings.Contains(err.Error(), "for planner another") {
		t.Errorf("one that runs for another planner: %v", err)
	}
	say("", api.OwnerOf("somebody else's"))
	if _, err := find(); api.KindOf(err) != api.KindConflict {
		t.Errorf("that of another submission: %v", err)
	}
	say("", api.OwnerOf(its.Submission))
	seats, err := find()
	if err != nil || len(seats) != 1 || seats[0].Node != "a" || len(seats[0].Executors) != 1 || seats[0].Executors[0].ID != "2" {
		t.Errorf("%+v, %v", seats, err)
	}
	for _, n := range []string{"a", "b"} {
		c.Know(ledger.NodeDrained{Node: n, Draining: true})
	}
	d, err := admission.Taken(outlook(c), policy(), its, seats)
	// No node takes new executors, and those that run have memory off the heap all the same.
	if want := memory.FloorOf(&its.Launch, 4); d.Tenant.Launch.OffHeap != want || len(c.View().Live()) > 0 {
		t.Errorf("%v off the heap, want %v", d.Tenant.Launch.OffHeap, want)
	}
	told := its
	told.Launch.OffHeap = 5 * units.GiB
	if d, _ := admission.Taken(outlook(c), policy(), told, seats); d.Tenant.Launch.OffHeap != 5*units.GiB {
		t.Errorf("one that was told what it has has %v", d.Tenant.Launch.OffHeap)
	}
	if err != nil || d.ID != its.AppID || d.Promise.Mode != ledger.Unpaced || !d.Promise.Reclaimed || d.Promise.Verdict != api.VerdictNone {
		t.Errorf("%+v, %v", d, err)
	}
}

// One that another planner has taken in is not turned down because no node that is here now holds
// an executor of it: it may be queued, and its driver would end it.
func TestOneThatWaitedElsewhereIsNotTurnedDown(t *testing.T) {
	c := ledgertest.New(t, "a")
	r := request("p", 0)
	r.Launch.Heap = 20 * units.GiB
	if _, err := admission.Decide(outlook(c), policy(), r); api.KindOf(err) != api.KindInvalid {
		t.Errorf("a new one: %v", err)
	}
	r.AppID = "app-9"
	if _, err := admission.Decide(outlook(c), policy(), r); api.KindOf(err) != api.KindTransient || !strings.Contains(err.Error(), "where a heap of") {
		t.Errorf("one that was taken in: %v", err)
	}
}
