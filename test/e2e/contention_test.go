package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// TestBesideAFirstRun holds an application to 1.4 times its recorded run beside one that
// nobody has recorded and that would take all cores: it ends in the last 5 % before its
// deadline, with the answer that it has alone. The other one has no quota, is told what it
// lost to whom, and goes on.
func TestBesideAFirstRun(t *testing.T) {
	realenv.RequireSpark(t)
	t.Setenv("SPARK_SUBMIT_OPTS", "") // A user's driver.
	s := realenv.StartUp(t)
	recorded, answer := s.Record(chain...)
	neighbour := s.Submit("--name", "neighbour", "--conf", "spark.pacer.profile=neighbour", "testdata/branches.py", "200")
	other := awaitTasks(t, s, neighbour)
	deadline := (recorded.Duration * 1.4).Duration().Round(time.Millisecond)
	realenv.Repeat(t, func() error {
		run := s.Submit(slices.Concat([]string{"--pacer-deadline", deadline.String()}, chain)...)
		wantAnswer(t, run, realenv.Results(answer))
		paced := s.Newest()
		if !realenv.Paced(paced) {
			t.Errorf("it was %s: %s", paced.Pacing, paced.Reason)
		}
		left := 100 * float64(deadline-run.Took()) / float64(deadline)
		t.Logf("deadline %v, %+.2f %% of it were left at the command's exit", deadline, left)
		if left < 0 || left > 5 {
			return realenv.Timing("%+.2f %% of the deadline were left, want 0 to 5 %%; it lost %+v", left, paced.Losses)
		}
		return nil
	})
	other = s.App(other.ID)
	if other.State != api.AppRunning || other.QuotaChanges != 0 {
		t.Errorf("the neighbour is %s, with %d quotas", other.State, other.QuotaChanges)
	}
	if len(other.Losses) == 0 {
		t.Error("the neighbour has lost nothing to anybody")
	}
	neighbour.Stop()
}
