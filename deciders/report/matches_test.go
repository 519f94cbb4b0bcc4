package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/ledger/ledgertest"
	"github.com/sparkpacer/pacer/units"
)

// Of each stage is told what its profile knows of it: that it has it, by what it is recognised; that it lacks it, and from
// what its work is estimated, until its tasks say so; and of those that do not come that they are gone. The line about the end
// names what the profile lacked and how long targets were paused.
func TestWhatTheProfileKnowsOfEachStageIsTold(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 100, "a")
	p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	c.To(2)
	read := c.Ready(a, 0, "read", 3000, "1")
	c.To(10)
	c.Done(a, read, 12, 2)
	if got := estimate.Estimated(a); got != 0 {
		t.Errorf("%v of what is left is estimated where the profile has all", got)
	}
	other := c.Ready(a, 1, "other", 500, "1")
	if got := report.Detail(c.View(), p, a).Stages[1].Match; *got != (api.StageMatch{Known: api.StageNew, Stage: -1}) {
		t.Errorf("before it is estimated: %+v", got)
	}
	c.Know(ledger.StageAdded{App: a.ID, Stage: other.Key(), Extra: estimate.Extra(a, other)},
		pause.TargetsPaused{OfApp: ledger.OfApp{App: a.ID}, Paused: true, Known: 0.4})
	c.To(14)
	want := []*api.StageMatch{
		{Known: api.StageKnown, Stage: 0, By: "signature", Sure: 1},
		{Known: api.StageEstimated, Stage: -1, By: string(other.Extra.By)},
	}
	told := func() (all []*api.StageMatch) {
		for _, s := range report.Detail(c.View(), p, a).Stages {
			if s.State == "coming" {
				continue
			}
			if sure := &s.Match.Sure; *sure > 0.9 && *sure <= 1 {
				*sure = 1
			}
			all = append(all, s.Match)
		}
		return all
	}
	if d := cmp.Diff(want, told()); d != "" {
		t.Error(d)
	}
	if got := estimate.Estimated(a); got <= 0 || got >= 0.5 {
		t.Errorf("%v of what is left is estimated", got)
	}
	c.Know(pause.TargetsPaused{OfApp: ledger.OfApp{App: a.ID}, Known: 0.6})
	c.To(20)
	c.Done(a, other, 6, 10)
	if got := estimate.Estimated(a); got != 0 {
		t.Errorf("%v of what is left is estimated when nothing runs", got)
	}
	last := c.Ready(a, 2, "sum", 2000, "1")
	c.To(90)
	c.Done(a, last, 20, 20)
	c.Know(ledger.ContextStopped{App: a.ID, At: 91}, ledger.Exited{App: a.ID, At: 92, By: api.EndedByExit})
	want[1] = &api.StageMatch{Known: api.StageNew, Stage: -1}
	want = append(want, &api.StageMatch{Known: api.StageKnown, Stage: 2, By: "signature", Sure: 1}, &api.StageMatch{Known: api.StageGone, Stage: 1})
	if d := cmp.Diff(want, told()); d != "" {
		t.Error(d)
	}
	d := report.Detail(c.View(), p, a)
	if row := d.Stages[3]; row.Stage != -1 || row.Name != "map" || row.State != "gone" || row.Tasks != 8 {
		t.Errorf("the stage that has not come: %+v", row)
	}
	unforeseen := "a stage that its profile lacks took 6.0 of 38.0 core-seconds; its targets were paused for 4.0 s, as too little was known of its work"
	if !strings.HasPrefix(d.Headline, "ended 8.0 s before") || !strings.HasSuffix(d.Headline, "; "+unforeseen) {
		t.Errorf("in time: %q", d.Headline)
	}
	account := report.Account(estimate.Policy{}, c.View(), a)
	account.Stopped = 0
	if got := report.Line(account, api.AppFinished, 103, api.EndedByExit); !strings.Contains(got, "late, at") ||
		!strings.Contains(got, ": "+strings.ReplaceAll(unforeseen, "; ", ", ")) {
		t.Errorf("late: %q", got)
	}
}

// Without a profile nothing is told, and of a run that failed nobody says that the rest was not to come.
func TestWithoutAProfileNoStageIsMatched(t *testing.T) {
	c := ledgertest.New(t, "a")
	a := c.App("app-1", "p", 0, "a")
	c.Ready(a, 0, "read", 3000, "1")
	if d := report.Detail(c.View(), estimate.Policy{}, a); len(d.Stages) != 1 || d.Stages[0].Match != nil {
		t.Errorf("%+v", d.Stages)
	}
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("q")})
	b := c.App("app-2", "q", 100, "a")
	c.To(40)
	c.Know(ledger.ContextStopped{App: b.ID, At: 40, Failed: true}, ledger.Exited{App: b.ID, At: 41, By: api.EndedByExit, Code: 1})
	if d := report.Detail(c.View(), estimate.Policy{}, b); len(d.Stages) != 0 {
		t.Errorf("%+v", d.Stages)
	}
}

// Stages to come are told as they are planned now, with what they read from; none of one that has ended.
func TestStagesToComeAreTold(t *testing.T) {
	c := ledgertest.New(t, "a")
	c.Know(ledger.ProfileSaved{Body: ledgertest.Chain("p")})
	a := c.App("app-1", "p", 200, "a")
	p := estimate.Policy{Equations: dag.Default(), Branches: estimate.BranchesTogether, MaxPool: 4}
	c.To(2)
	ready := api.StageReady{StageKey: api.StageKey{Stage: 7}, Job: 5, Name: "read", Signature: "read", Parents: []int{3}, Tasks: 8, Records: 3000,
		Bindings: []api.Binding{{Executor: "1", Weight: 8, Tasks: 8}}}
	c.Know(ledger.StageReady{App: a.ID, Ready: ready, At: 2, Seq: 1}, ledger.StageMatched{App: a.ID, Stage: ready.StageKey})
	d := report.Detail(c.View(), p, a)
	if len(d.Stages) != 3 || !slices.Equal(d.Stages[0].Parents, []int{3}) || *d.Stages[0].Job != 5 {
		t.Fatalf("%+v", d.Stages)
	}
	end := units.Seconds(2)
	for i, s := range d.Stages[1:] {
		if s.Stage != -1 || s.State != "coming" || *s.Job != 0 || s.Match.Stage != i+1 || !slices.Equal(s.Parents, []int{i}) || s.Start <= end ||
			s.Deadline <= 0 || s.Duration <= 0 || s.Cores <= 0 || s.Cores > 4 || s.Executors == nil || s.Samples == nil {
			t.Errorf("stage %d of the profile: %+v", i+1, s)
		}
		end = s.Start + s.Duration
	}
	if left := d.Predicted - end; left < 0 || left > 3 {
		t.Errorf("the last stage ends at %v, the application at %v", end, d.Predicted)
	}
	c.To(20)
	c.Know(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: 20, By: api.EndedByExit})
	if d = report.Detail(c.View(), p, a); len(d.Stages) != 1 {
		t.Errorf("of one that has failed: %+v", d.Stages[1:])
	}
}
