package recording_test

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/recording"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// run is an application of two stages that has stopped its context after 30 s and exited
// after 31.
func run(t *testing.T, c *ledgertest.Cluster, deadline units.Seconds) *ledger.App {
	t.Helper()
	a := c.App("app-1", "p", deadline, "a", "b")
	goOn(c, a)
	return a
}

// goOn has an application that has its executors run its two stages, from now on for 30 s.
func goOn(c *ledgertest.Cluster, a *ledger.App) {
	began := a.At(c.Now)
	at := func(s units.Seconds) { c.To(units.FromDuration(a.Instant(began + s).Sub(ledgertest.Start))) }
	at(2)
	s := c.Ready(a, 1, "read", 3000, "1", "2")
	at(20)
	c.Done(a, s, 60, began+2.1)
	s = c.Ready(a, 2, "sum", 1000, "1", "2")
	at(30)
	c.Done(a, s, 30, began+20.1)
	c.Know(ledger.ContextStopped{App: a.ID, At: began + 30})
}

func exited(a *ledger.App, code int, suspended units.Seconds) ledger.Exited {
	return ledger.Exited{App: a.ID, At: 31, By: api.EndedByExit, Code: code, Suspended: suspended}
}

func TestAFirstRunIsItsProfile(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	a := run(t, c, 0)
	c.Know(exited(a, 0, 0))
	how, p, err := recording.Record(c.View(), a)
	if err != nil || how != recording.Recorded {
		t.Fatalf("%q, %v", how, err)
	}
	if p.Name != "p" || len(p.Stages) != 2 || p.Exit != 1 || p.Cores != 8 || p.Stages[0].CoreSeconds != 60 || p.Work() != 90 {
		t.Errorf("profile %+v", p)
	}
	if c.View().Profile("", "p") != nil {
		t.Error("a decider has stored a profile")
	}
}

func TestWhatTeachesNothing(t *testing.T) {
	for name, w := range map[string]struct {
		fact func(a *ledger.App) ledger.Fact
		says string
	}{
		"an exit that is not known": {func(a *ledger.App) ledger.Fact { return ledger.NoticeTold{App: a.ID} }, "exit code is not known"},
		"a failure":                 {func(a *ledger.App) ledger.Fact { return exited(a, 1, 0) }, "it failed"},
		"a suspended machine":       {func(a *ledger.App) ledger.Fact { return exited(a, 0, 9) }, "was suspended for 9s"},
	} {
		c := ledgertest.New(t, "a", "b")
		a := run(t, c, 0)
		c.Know(w.fact(a))
		if how, _, err := recording.Record(c.View(), a); err == nil || !strings.Contains(err.Error(), w.says) {
			t.Errorf("%s: %q, %v", name, how, err)
		}
	}
	c := ledgertest.New(t, "a", "b")
	a := c.App("app-1", "p", 0, "a")
	c.Know(ledger.RunEnded{App: a.ID, State: api.AppUnknown, At: 5, By: api.EndedByExit})
	if _, _, err := recording.Record(c.View(), a); err == nil || !strings.Contains(err.Error(), "did not say when its context stopped") {
		t.Errorf("without the driver's word: %v", err)
	}
}

// A run of exit code 0 teaches whatever became of single jobs; one that is broken where its
// profile is not teaches nothing.
func TestAFailedJobThatItsProgramSurvives(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	for night, id := range []api.AppID{"app-1", "app-2"} {
		a := c.App(id, "p", 0, "a", "b")
		began := a.At(c.Now)
		to := func(s units.Seconds) { c.To(units.FromDuration(a.Instant(began + s).Sub(ledgertest.Start))) }
		s := c.Ready(a, 1, "read", 3000, "1", "2")
		to(5)
		c.Know(ledger.StageEnded{App: a.ID, At: began + 5, Done: api.StageDone{StageKey: s.Key(), Failed: true, TaskCPU: 12}})
		c.Ready(a, 2, "asynchronous", 10, "1", "2") // Its context stops while it runs.
		s = c.Ready(a, 3, "sum", 1000, "1", "2")
		to(15)
		c.Done(a, s, 30, began+5)
		c.Know(ledger.ContextStopped{App: a.ID, At: began + 15}, ledger.Exited{App: a.ID, At: began + 16, By: api.EndedByExit})
		how, p, err := recording.Record(c.View(), a)
		if want := []string{recording.Recorded, recording.Merged}[night]; err != nil || how != want || len(p.Stages) != 3 || p.Stages[0].CoreSeconds != 12 {
			t.Fatalf("night %d: %q, %v, %+v", night, how, err, p)
		}
		c.Know(ledger.ProfileSaved{Body: p, By: a.ID})
	}
	whole := c.View().Profile("", "p").Body
	whole.Stages[0].Failed = false
	c.Know(ledger.ProfileSaved{Body: whole})
	if how, _, err := recording.Record(c.View(), c.View().App("app-2")); err == nil || !strings.Contains(err.Error(), "a stage failed that completes in its profile: read") {
		t.Errorf("%q, %v", how, err)
	}
}

// A second run at all cores is merged, one that does other things is a variant.
func TestLaterRuns(t *testing.T) {
	c := ledgertest.New(t, "a", "b")
	a := run(t, c, 0)
	c.Know(exited(a, 0, 0))
	_, first, err := recording.Record(c.View(), a)
	if err != nil {
		t.Fatal(err)
	}
	c.Know(ledger.ProfileSaved{Body: first, By: a.ID})
	how, merged, err := recording.Record(c.View(), a)
	if err != nil || how != recording.Merged || merged.Runs != 2 {
		t.Errorf("the same again: %q, %d runs, %v", how, merged.Runs, err)
	}
	c.Know(ledger.ProfileSaved{Body: ledgertest.Diamond("p")})
	how, p, err := recording.Record(c.View(), a)
	if err != nil || how != recording.Founded || len(p.Stages) != 3 || len(p.Variants) != 1 || len(p.Variants[0].Stages) != 2 {
		t.Errorf("of another shape: %q, %+v, %v", how, p, err)
	}
}

// Of a run that was held back a stage teaches its times that had no target, or all cores with it.
func TestWhatHadAllCoresTeachesTimes(t *testing.T) {
	for name, w := range map[string]struct {
		grant  units.Cores
		quotas int
		want   units.Seconds // Of the first stage; its profile says 40 s.
	}{
		"no quota":             {api.Unknown, 0, 29},
		"all cores":            {4, 0, 29},
		"less":                 {3, 0, 40},
		"all cores in the end": {4, 1, 40},
	} {
		c := ledgertest.New(t, "a")
		old := ledgertest.Chain("p")
		old.Cores, old.Stages = 4, old.Stages[:2]
		old.Stages[0].Duration, old.Stages[1].Signature, old.Stages[1].Duration = 40, "sum", 30
		c.Know(ledger.ProfileSaved{Body: old})
		a := c.App("app-1", "p", 100, "a")
		c.To(2)
		s := c.Ready(a, 1, "read", 3000, "1")
		c.Know(ledger.StageAimed{App: a.ID, Stage: s.Key(), Aim: ledger.Aim{Planned: true}, First: 20})
		c.To(10)
		status := ledgertest.Status("a", 2)
		status.Stages = []api.StageStatus{{App: a.ID, StageKey: s.Key(), Executor: "1", QuotaChanges: w.quotas, Samples: []api.StageSample{{Grant: w.grant}}}}
		c.Know(ledger.NodeSaid{Status: status})
		c.To(20)
		c.Done(a, s, 60, 2.1)
		s = c.Ready(a, 2, "sum", 1000, "1")
		c.To(30)
		c.Done(a, s, 10, 20.1)
		c.Know(ledger.ContextStopped{App: a.ID, At: 30})
		p := learn(t, c, a, 1, recording.Merged)
		if p.Stages[0].Duration != w.want || p.Stages[1].Duration != 20 || p.Stages[0].CoreSeconds != 60 {
			t.Errorf("%s: %v and %v, want %v and 20s", name, p.Stages[0].Duration, p.Stages[1].Duration, w.want)
		}
	}
}
