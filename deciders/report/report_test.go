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

// The line about an end, for each way to end.
func TestLine(t *testing.T) {
	account := func(change func(*ledger.Account)) ledger.Account {
		c := ledger.Account{Start: units.Instant(6 * 3600 * 1e9), Deadline: 60, Stopped: 50, Exit: 1, Mean: 1.44, Cores: 8}
		change(&c)
		return c
	}
	as := func(*ledger.Account) {}
	for _, w := range []struct {
		account ledger.Account
		state   api.AppState
		ended   units.Seconds
		by      api.EndedBy
		want    string
	}{
		{ledger.Account{}, api.AppFinished, 50, api.EndedByExit, "ended after 50 s"},
		{ledger.Account{Reason: "no room"}, api.AppRefused, 50, "", "refused: no room"},
		{account(as), api.AppFinished, 56, "", ""},
		{account(as), api.AppFinished, 56, api.EndedByExit, "ended 4.0 s before 06:01:00, on 1.4 of 8 cores"},
		{account(func(c *ledger.Account) { c.Work, c.Profiled = 100, 140 }), api.AppFinished, 56, api.EndedByExit,
			"ended 4.0 s before 06:01:00, on 1.4 of 8 cores; 40.0 core-seconds fewer than at all cores"},
		{account(func(c *ledger.Account) { c.Work, c.Profiled = 1000, 100 }), api.AppFinished, 56, api.EndedByLastWord,
			"ended 4.0 s before 06:01:00, on 1.4 of 8 cores; 15 core-minutes more than at all cores"},
		{account(func(c *ledger.Account) { c.Stopped, c.Causes = 71, []string{"9.0 s waiting for cores"} }), api.AppFinished, 72, api.EndedByExit,
			"12 s late, at 06:01:12, on 1.4 of 8 cores: 9.0 s waiting for cores"},
		{account(as), api.AppFinished, 63, api.EndedByExit, "ended late by its exit: 3.0 s after 06:01:00, 13 s after its context stopped"},
		{account(as), api.AppUnknown, 50, api.EndedByStop, "stopped its context after 50 s; its exit is not known"},
		{account(as), api.AppUnknown, 50, api.EndedByLastWord, "ended after 50 s; its exit code is not known"},
		{account(func(c *ledger.Account) { c.Reason = "out of memory" }), api.AppFailed, 20, api.EndedByExit, "failed after 20 s: out of memory"},
	} {
		if got := report.Line(w.account, w.state, w.ended, w.by); got != w.want {
			t.Errorf("%q, want %q", got, w.want)
		}
	}
}

// An application that is refused ends with the line that says why, whatever was asked of it.
func TestARefusalIsTold(t *testing.T) {
	for _, deadline := range []units.Seconds{0, 60} {
		s := api.AppSummary{State: api.AppRefused, Pacing: "unpaced", Deadline: deadline, Headline: "refused: no room"}
		if got := report.Told(&s); got != s.Headline {
			t.Errorf("deadline %v: %q", deadline, got)
		}
	}
}

// Of a running application its row says when it ends; a failed one was neither early nor late.
func TestSummary(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 100, "a", "b")
	p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	s := report.Summary(c.View(), p, a)
	if s.State != api.AppRunning || s.Pacing != "paced" || s.Predicted < 90 || s.Predicted > 100 || s.ErrorPct != nil ||
		s.Headline != "will end 08:01:39, 1 s before its deadline" || s.Risk != api.RiskOK {
		t.Errorf("running: %+v", s)
	}
	c.To(40)
	c.Know(ledger.ContextStopped{App: a.ID, At: 40, Failed: true, Reason: "no space"},
		ledger.Exited{App: a.ID, At: 41, By: api.EndedByExit, Reason: "no space", Code: 1})
	d := report.Detail(c.View(), p, a)
	if d.ErrorPct != nil || d.Duration != 41 || !strings.Contains(d.Headline, "failed after 41 s: no space") || len(d.Notices) == 0 {
		t.Errorf("failed: %+v", d)
	}
}

// The end of an application that lacked cores says who had them, and that it was given up; its
// shortages end with it.
func TestContentionIsTold(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 60, "a")
	c.To(2)
	read := c.Ready(a, 0, "read", 3000, "1")
	c.To(20)
	s := ledgertest.Status("a", 9)
	s.Losses = []api.Loss{{App: a.ID, To: "app-7", CoreSeconds: 31}}
	s.Shortages = []api.Shortage{{App: a.ID, Asked: 2, Had: 0.5, To: "app-7", GivenUp: true}}
	c.Know(ledger.NodeSaid{Status: s})
	p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	want := api.AppShortage{Node: "a", Begin: 20, Shortage: s.Shortages[0]}
	if d := report.Detail(c.View(), p, a); len(d.Shortages) != 1 || d.Shortages[0] != want || len(d.Losses) != 1 {
		t.Errorf("while it runs: %+v, %+v", d.Shortages, d.Losses)
	}
	if got, want := report.Summary(c.View(), p, a).Headline, "short of 1.5 cores, which app-7 has"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want ... %s", got, want)
	}
	c.To(60)
	c.Done(a, read, 60, 2)
	c.To(72)
	c.Know(ledger.ContextStopped{App: a.ID, At: 72}, ledger.Exited{App: a.ID, At: 72, By: api.EndedByExit})
	d := report.Detail(c.View(), p, a)
	if !strings.Contains(d.Headline, "12 s late") || !strings.HasSuffix(d.Headline, ": 30 s short of cores, which app-7 had (given up, since not all on a could be in time), "+
		"11 s longer after the last stage than in its profile, 8.0 s more in stages than planned, for no reason that is known") {
		t.Errorf("its line is %q", d.Headline)
	}
	if want.End = 72; len(d.Shortages) != 1 || d.Shortages[0] != want {
		t.Errorf("at its end: %+v", d.Shortages)
	}
}

func TestNodeStates(t *testing.T) {
	v := ledgertest.New(t).View()
	for want, n := range map[string]*ledger.Node{
		"ready":     {},
		"lost":      {Presence: ledger.Lost},
		"left":      {Presence: ledger.Left},
		"another's": {Allegiance: ledger.Allegiance{Foreign: true}},
		"draining":  {NodeRecord: ledger.NodeRecord{Drained: true}, Executors: 1},
		"drained":   {NodeRecord: ledger.NodeRecord{Drained: true}},
	} {
		if got := report.Node(v, n).State; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A run that was ended early has figures: what it used over the time that it ran, and which of its
// executors there were.
func TestFiguresOfRunsThatWereCutShort(t *testing.T) {
	for name, stop := range map[string]func(c *ledgertest.Cluster, a *ledger.App, s *ledger.Stage){
		"while a stage ran": func(c *ledgertest.Cluster, a *ledger.App, _ *ledger.Stage) {
			c.Know(ledger.ContextStopped{App: a.ID, At: 42})
		},
		"after its stage failed": func(c *ledgertest.Cluster, a *ledger.App, s *ledger.Stage) {
			c.Know(ledger.StageEnded{App: a.ID, At: 42, Done: api.StageDone{StageKey: s.Key(), Failed: true}}, ledger.ContextStopped{App: a.ID, At: 60})
		},
		"by a driver that was lost": func(c *ledgertest.Cluster, a *ledger.App, _ *ledger.Stage) {
			c.Know(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: 42, By: api.EndedBySilence})
		},
	} {
		c := ledgertest.New(t, "a")
		a := c.App("app-1", "p", 100, "a")
		c.To(2)
		s := c.Ready(a, 0, "read", 0, "1")
		c.To(32)
		used := ledgertest.Status("a", 2)
		used.Executors = []api.ExecutorStatus{{App: a.ID, ID: "1", State: api.ExecutorRunning, CPU: 80}}
		c.Know(ledger.NodeSaid{Status: used})
		c.To(42)
		stop(c, a, s)
		c.Know(ledger.ExecutorLost{App: a.ID, ID: "1", Reason: "stopped"})
		d := report.Detail(c.View(), estimate.Policy{}, a)
		if d.CoreSeconds <= 0 || d.MeanCores != units.Cores(d.CoreSeconds/40) || !d.Executors[0].Registered {
			t.Errorf("%s: %v core-seconds, mean %v, registered %v", name, d.CoreSeconds, d.MeanCores, d.Executors[0].Registered)
		}
	}
}
