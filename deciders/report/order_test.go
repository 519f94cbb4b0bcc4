package report_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// threeJobs is a profile whose stages are jobs of their own.
func threeJobs() api.Profile {
	p := ledgertest.Chain("p")
	for i := range p.Stages {
		p.Stages[i].Job, p.Stages[i].Parents = i, []int{}
	}
	return p
}

// reversed runs the jobs of a profile in reverse order: the first one, which is the profile's last, has been given
// that much of a deadline of 100 s.
func reversed(t *testing.T, given units.Seconds) (c *ledgertest.Cluster, a *ledger.App, running string) {
	t.Helper()
	c = ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: threeJobs()})
	a = c.App("app-1", "p", 100, "a", "b")
	c.To(2)
	s := c.Ready(a, 0, "sum", 2000, "1", "2")
	c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: ledger.Aim{Planned: true}, First: given})
	c.To(2 + given)
	c.Done(a, s, 100, 2)
	s = c.Ready(a, 1, "map", 1000, "1", "2")
	running, _ = summary(c, a)
	c.To(12 + given)
	c.Done(a, s, 10, 2+given)
	s = c.Ready(a, 2, "read", 3000, "1", "2")
	c.To(32 + given)
	c.Done(a, s, 60, 12+given)
	c.Know(ledger.ContextStopped{App: a.ID, At: 33 + given}, ledger.Exited{App: a.ID, At: 33 + given, By: api.EndedByExit})
	return c, a, running
}

func summary(c *ledgertest.Cluster, a *ledger.App) (string, []string) {
	w := (*report.Kept)(nil).Why(c.View(), estimate.Policy{}, a)
	return w.Headline, w.Causes
}

// A stage that was held back for longer than what came after it left is no time as planned, and that is the first
// cause; its order is named while the application runs and at its end.
func TestWhatIsHeldBackByAWrongBeliefIsTold(t *testing.T) {
	c, a, running := reversed(t, 90)
	if !strings.Contains(running, "jobs come in another order than recorded: one is still to come") {
		t.Errorf("while it runs: %q", running)
	}
	w := (*report.Kept)(nil).Why(c.View(), estimate.Policy{}, a)
	parts := map[api.Part]units.Seconds{}
	for _, p := range w.Parts {
		parts[p.Part] = p.For
	}
	// Of 100 s 1 are the tail's, and 2 + 10 + 20 what came after the stage at all cores: at 2 s it could have had 65.
	if parts[api.PartHeld] != 25 || parts[api.PartPlanned] != 95 {
		t.Errorf("parts %v", parts)
	}
	if len(w.Causes) == 0 || w.Causes[0] != "25 s held back too much: jobs came in another order than recorded" {
		t.Errorf("causes %q", w.Causes)
	}
	if !strings.Contains(w.Headline, "23 s late") || !strings.Contains(w.Headline, "another order") {
		t.Errorf("headline %q", w.Headline)
	}
	c, a, _ = reversed(t, 60)
	if headline, causes := summary(c, a); len(causes) > 0 || !strings.Contains(headline, "; jobs came in another order than recorded") {
		t.Errorf("in time: %q, causes %q", headline, causes)
	}
}

// What is left of the profile at the end did not come.
func TestWhatDidNotComeIsTold(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: threeJobs()})
	a := c.App("app-1", "p", 100, "a", "b")
	c.To(2)
	s := c.Ready(a, 0, "read", 3000, "1", "2")
	c.To(30)
	c.Done(a, s, 60, 2)
	c.Know(ledger.ContextStopped{App: a.ID, At: 33}, ledger.Exited{App: a.ID, At: 34, By: api.EndedByExit})
	if headline, _ := summary(c, a); !strings.Contains(headline, "2 of 3 recorded jobs did not come") {
		t.Errorf("%q", headline)
	}
}

// At its end an application tells what it took for what nobody foresaw, of what it had kept for that, and the report
// counts it by that.
func TestWhatNobodyForesawIsTold(t *testing.T) {
	for extra, within := range map[units.Seconds]int{16: 1, 400: 0} {
		c := ledgertest.New(t, "a", "b")
		body := threeJobs()
		body.Residuals = []api.Residual{{Unforeseen: [api.ReservePlaces]units.Seconds{13}}}
		c.Know(ledger.ProfileSaved{Body: body})
		a := c.App("app-1", "p", 200, "a", "b")
		a.Tenant.Launch.Certainty = api.UsualCertainty
		p := estimate.Policy{Equations: dag.Default()}
		c.To(2)
		s := c.Ready(a, 0, "read", 3000, "1", "2")
		c.To(30)
		c.Done(a, s, 60, 2)
		s = c.Ready(a, 1, "new", 500, "1", "2")
		c.Know(ledger.StageAdded{App: a.ID, Stage: s.Key(), Extra: estimate.Extra(a, s)})
		c.To(60)
		c.Done(a, s, extra, 30)
		c.Know(ledger.ContextStopped{App: a.ID, At: 61}, ledger.Exited{App: a.ID, At: 62, By: api.EndedByExit})
		w := (*report.Kept)(nil).Why(c.View(), p, a)
		if w.Reserve == nil || w.Reserve.Time != 13 || w.Reserve.Runs != 1 || w.Reserve.Certainty != api.UsualCertainty {
			t.Errorf("%v: reserve %+v", extra, w.Reserve)
		}
		if !strings.Contains(w.Headline, "for what nobody foresaw, most in stage 1, and had kept 13 s for that") {
			t.Errorf("%v: %q", extra, w.Headline)
		}
		d := report.Detail(c.View(), p, a)
		run := report.Run(p, c.View(), a, &d.AppSummary)
		c.Know(ledger.Archived{App: a.ID, Detail: d, Account: report.Account(p, c.View(), a), Run: run})
		all := report.Runs(c.View(), api.Query{}, func(*ledger.Run) bool { return true }).Total
		if all.Kept != 1 || all.Within != within {
			t.Errorf("%v: %+v of run %+v", extra, all, run)
		}
	}
}
