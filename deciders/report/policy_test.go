package report_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// is fails unless a score is the one that is wanted, below 0 for none.
func is(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if (got == nil) != (want < 0) || got != nil && math.Abs(*got-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Of those with a deadline: two in time, one late, one failed early, one of 100 core-seconds that was refused. Of one whose end nobody
// knows, and of one that had no deadline, nothing is said.
func TestWhatDeadlinesScore(t *testing.T) {
	c := ledgertest.New(t, "a")
	s := report.Queue(c.View(), api.QueuePolicy{}, reservation.Policy{}, report.Evenness{}).Scores
	is(t, "met of nothing", s.Met, -1)
	is(t, "useful of nothing", s.Useful, -1)
	for i, d := range []api.AppSummary{
		{State: api.AppFinished, Deadline: 60, Duration: 60, CoreSeconds: 100}, {State: api.AppFinished, Deadline: 60, Duration: 20, CoreSeconds: 50},
		{State: api.AppFinished, Deadline: 60, Duration: 61, CoreSeconds: 30}, {State: api.AppFailed, Deadline: 60, Duration: 9, CoreSeconds: 20},
		{State: api.AppRefused, Deadline: 60}, {State: api.AppUnknown, Deadline: 60, CoreSeconds: 1000}, {State: api.AppFinished, Duration: 5, CoreSeconds: 1000},
	} {
		d.ID = api.AppID(rune('a' + i))
		if d.State == api.AppRefused {
			c.Know(ledger.Refused{Detail: api.AppDetail{AppSummary: d}, Account: ledger.Account{Profiled: 100}})
			continue
		}
		c.App(d.ID, "p", 60, "a")
		c.Know(ledger.RunEnded{App: d.ID, State: api.AppUnknown, At: d.Duration}, ledger.Archived{App: d.ID, Detail: api.AppDetail{AppSummary: d}})
	}
	s = report.Queue(c.View(), api.QueuePolicy{}, reservation.Policy{}, report.Evenness{}).Scores
	is(t, "met", s.Met, 2.0/5)
	is(t, "useful", s.Useful, 150.0/300)
	is(t, "wasted", s.Wasted, 50.0/300)
	// One that runs past its deadline has missed it; until then nobody knows.
	c.App("app-9", "p", 30, "a")
	c.To(29)
	is(t, "met before", report.Queue(c.View(), api.QueuePolicy{}, reservation.Policy{}, report.Evenness{}).Scores.Met, 2.0/5)
	c.To(31)
	is(t, "met after", report.Queue(c.View(), api.QueuePolicy{}, reservation.Policy{}, report.Evenness{}).Scores.Met, 2.0/6)
}

// One has all four nodes, one two of the two that its user wants, one waits.
func TestHowEvenApplicationsAreServed(t *testing.T) {
	c := ledgertest.New(t, "a", "b", "c", "d")
	e := report.Even(c.View(), placement.Policy{})
	is(t, "fairness of nobody", e.Fairness, -1)
	is(t, "equality of nobody", e.Equality, -1)
	c.App("app-1", "p", 0, "a", "b", "c", "d")
	c.App("app-2", "p", 0, "a", "b")
	e = report.Even(c.View(), placement.Policy{MaxNodes: 2})
	is(t, "fairness of those who have all", e.Fairness, 1)
	is(t, "equality of 4 and 2", e.Equality, 36.0/(2*20))
	c.Pass(time.Second)
	c.Know(ledger.Registered{ID: "app-3", Name: "p", Serial: c.View().Serial() + 1, Promise: ledger.Promise{Profile: "p", Start: c.View().Now()},
		Tenant: ledger.Tenant{Launch: api.Launch{Heap: units.GiB}}, Queued: true})
	e = report.Even(c.View(), placement.Policy{})
	is(t, "fairness of 1, a half and 0", e.Fairness, 2.25/(3*1.25))
	is(t, "equality of 4, 2 and 0", e.Equality, 36.0/(3*20))
}

// What is reserved, and by how many runs that is known, is told of the queue; and of an application from when on, and
// what it has had, until it ends and after that.
func TestWhatIsReservedIsTold(t *testing.T) {
	c := ledgertest.New(t, "a")
	by := reservation.Policy{Policy: estimate.Policy{Equations: dag.Default()}, Admission: assign.Pythia}
	if d := report.Queue(c.View(), api.QueuePolicy{}, by, report.Evenness{}); d.Fraction != nil || d.Runs != 0 || d.Reserved != 0 || d.Idle == nil {
		t.Errorf("nothing has run: %+v", d)
	}
	var learnt []byte
	for range 2 {
		learnt = assign.Policy{Rule: assign.Pythia}.Learn(learnt, assign.Outcome{Units: 40, Most: 80, Work: 2000, Deadline: 50, Met: true})
	}
	c.Know(ledger.QueueLearnt{Key: ledger.DeadlinesKey, State: learnt})
	a := c.App("app-1", "new", 100, "a")
	detail := func() string { return strings.Join(report.Detail(c.View(), by.Policy, a).Notices, "\n") }
	if said := detail(); strings.Contains(said, "reserved") {
		t.Errorf("nothing is reserved: %q", said)
	}
	c.To(4)
	c.Know(reservation.Reserved{OfApp: ledger.OfApp{App: a.ID, Why: "two runs"}, State: reservation.State{Cores: 1.5, From: 4}})
	d := report.Queue(c.View(), api.QueuePolicy{}, by, report.Evenness{})
	if is(t, "fraction", d.Fraction, 0.5); d.Runs != 2 || d.Reserved != 1.5 {
		t.Errorf("%+v", d)
	}
	if d := report.Queue(c.View(), api.QueuePolicy{}, reservation.Policy{Admission: assign.Open}, report.Evenness{}); d.Fraction != nil || d.Reserved != 1.5 {
		t.Errorf("open: %+v", d)
	}
	if said := detail(); !strings.Contains(said, "1.50 cores are reserved from 4.0 s on, and it has had 0.00") {
		t.Errorf("told: %q", said)
	}
	c.Know(ledger.RunEnded{App: a.ID, State: api.AppUnknown, At: 60})
	if said := detail(); !strings.Contains(said, "1.50 cores were reserved from 4.0 s on") {
		t.Errorf("told at the end: %q", said)
	}
}
