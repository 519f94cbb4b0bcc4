package e2e

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestExecutorsOfOneCore is the story of a user whose executors have fewer cores than a node: a stage
// uses both cores by two executors, recorded and paced, and the deadline is met.
func TestExecutorsOfOneCore(t *testing.T) {
	realenv.RequireAll(t)
	args := []string{"--conf", "spark.executor.cores=1", "testdata/chain.py", scale}
	want := realenv.Results(realenv.Stock(t, "testdata/chain.py", scale))
	s := realenv.StartUp(t)
	finished := func(a api.AppDetail) bool { return a.State == api.AppFinished }
	wantAnswer(t, s.Submit(args...), want)
	app := s.AwaitApp("the recording run to be finished", patience, finished)
	bothCores(t, s, app)
	deadline := (app.Duration * 1.5).Duration().Round(time.Millisecond)
	realenv.Repeat(t, func() error {
		run := s.Submit(append([]string{"--pacer-deadline", deadline.String()}, args...)...)
		wantAnswer(t, run, want)
		app := s.AwaitApp("the paced run to be finished", patience, finished)
		bothCores(t, s, app)
		owned(t, s.Log(app.ID), app)
		t.Logf("deadline %v, took %v, error %.2f %%", deadline, app.Duration, *app.ErrorPct)
		if err := realenv.AtExit(run.Took(), app); err != nil {
			t.Error(err)
		}
		return realenv.Held(app)
	})
}

// bothCores fails unless a stage ran on two executors at a time.
func bothCores(t *testing.T, s *realenv.System, app api.AppDetail) {
	t.Helper()
	if n := s.Log(app.ID).AtOnce(); n != 2 {
		t.Errorf("%s: a stage ran on %d of %d executors at a time, want 2", app.Pacing, n, len(app.Executors))
	}
}
