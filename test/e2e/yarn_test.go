package e2e

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestDeadlineOnYARN is the story of who has a YARN and keeps it: a first run records the profile, a
// second one has a deadline and is held to it on the executors that YARN has started, and the answers are
// stock Spark's.
func TestDeadlineOnYARN(t *testing.T) {
	realenv.RequireSpark(t)
	want := realenv.Results(realenv.Stock(t, "testdata/branches.py", scale))
	y := realenv.NewYARN(t)
	s := realenv.New(t)
	s.On(y)
	s.StartPlanner()
	s.StartNode("--attach")

	wantAnswer(t, s.Submit("testdata/branches.py", scale), want)
	recorded := s.AwaitApp("the recording run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
	if recorded.Pacing != "recording" || recorded.CoreSeconds <= 0 {
		t.Errorf("the first run: pacing %s, %v core-seconds, notices %q", recorded.Pacing, recorded.CoreSeconds, recorded.Notices)
	}
	found(t, recorded)

	deadline := fmt.Sprintf("%dms", (recorded.Duration * 1.4).Duration().Milliseconds())
	realenv.Repeat(t, func() error {
		run := s.Submit("--pacer-deadline", deadline, "testdata/branches.py", scale)
		wantAnswer(t, run, want)
		app := s.AwaitApp("the paced run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
		found(t, app)
		if foreign := realenv.Foreign(s.Log(app.ID), app); len(foreign) > 0 {
			t.Errorf("tasks ran on executors that their stages did not have: %+v", foreign)
		}
		if err := realenv.AtExit(run.Took(), app); err != nil {
			t.Error(err)
		}
		if app.QuotaChanges == 0 {
			t.Error("no quota was ever written")
		}
		t.Logf("deadline %v, took %v, mean cores %.2f, notices %q", app.Deadline, app.Duration, float64(app.MeanCores), app.Notices)
		return realenv.Held(app)
	})
}

// found says which executors of an application no node has found.
func found(t *testing.T, app api.AppDetail) {
	t.Helper()
	if len(app.Executors) == 0 {
		t.Error("it had no executors")
	}
	for _, x := range app.Executors {
		if x.Node == "" || x.Unpaced != "" {
			t.Errorf("executor %s on %s: node %q, %s", x.ID, x.Host, x.Node, x.Unpaced)
		}
	}
}
