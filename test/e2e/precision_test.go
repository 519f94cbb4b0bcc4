package e2e

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// chain are the arguments of an application of some 20 s whose plan is known whole when its
// query begins: adaptive execution is off. Its two stages are long enough to be steered; an
// application of that length that ends with stages of a second or two misses the bounds
// of the tests that run it (docs/STATUS.md). The session records it once.
var chain = []string{"--conf", "spark.sql.adaptive.enabled=false", "testdata/chain.py", "3"}

// earliest is how early an ordinary report may end, in per cent of its deadline. How precise
// Pacer is, `make bench` measures (precision.*): a test on a shared machine cannot.
const earliest = 6

// TestAnOrdinaryReport holds a report that sets nothing, adaptive execution as it comes, with
// its user's JVM settings, to 1.4 times its recorded run, by this test's clock from the start of
// `pacer submit` to its exit. It ends in the last 6 % before its deadline unless its cores were
// taken, which it then tells. Its last long stage has two tasks, whose CPU time differs by a second from run to run
// while their code is compiled: a report of 25 s ended 1.4 % late to 8.7 % early for that, one of 33 s, which this is,
// 1.4 to 4.9 % early (n = 7).
func TestAnOrdinaryReport(t *testing.T) {
	realenv.RequireSpark(t)
	t.Setenv("SPARK_SUBMIT_OPTS", "") // A user's driver.
	s := realenv.StartUp(t)
	report := []string{"--conf", "spark.executor.extraJavaOptions=-XX:+UseParallelGC -Duser.timezone=UTC", "testdata/daily.py", "10", "75000"}
	recorded, answer := s.Record(report...)
	deadline := (recorded.Duration * 1.4).Duration().Round(time.Millisecond)
	realenv.Repeat(t, func() error {
		run := s.Submit(append([]string{"--pacer-deadline", deadline.String()}, report...)...)
		wantAnswer(t, run, realenv.Results(answer))
		app := s.AwaitApp("the paced run to be finished", patience, func(a api.AppDetail) bool { return a.State == api.AppFinished })
		if !realenv.Paced(app) {
			t.Errorf("it was %s: %s", app.Pacing, app.Notices)
		}
		left := 100 * float64(deadline-run.Took()) / float64(deadline)
		t.Logf("deadline %v, %+.2f %% of it were left at the command's exit", deadline, left)
		switch {
		case left >= 0 && left <= earliest:
			return nil
		case left < 0 && len(app.Shortages) > 0:
			t.Logf("its cores were taken: %+v", app.Shortages)
			return nil
		}
		_, why := s.Pacer("why", string(app.ID))
		t.Log(why)
		return realenv.Timing("%+.2f %% of the deadline were left, want 0 to %d %%", left, earliest)
	})
}
