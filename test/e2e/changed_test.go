package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/realenv"
)

// reports is where a report of SQL is, and the program that makes its tables.
const reports = "../bench/testdata"

// TestAChangedReport is the story of a report of SQL, Spark as it comes: it is recorded, and when it has one query
// more it runs under a deadline, and is held to it. make test-all has it on every other Spark, too.
func TestAChangedReport(t *testing.T) {
	realenv.RequireSpark(t)
	realenv.Beside(t)
	tables := filepath.Join(t.TempDir(), "tables")
	realenv.Stock(t, filepath.Join(reports, "tables.py"), tables, "60000")
	report := func(queries string) []string { return []string{filepath.Join(reports, "report.py"), tables, queries} }
	recorded, changed := report("days,customers,regions"), report("days,customers,returns,regions")
	want := realenv.Results(realenv.Stock(t, changed...))
	s := realenv.StartUp(t)
	run := s.Submit(recorded...)
	if code := run.Wait(patience); code != 0 {
		t.Fatalf("the recorded run: exit %d", code)
	}
	learnt(t, s, "report")
	deadline := (run.Took() * 8 / 5).Round(time.Millisecond)
	realenv.Repeat(t, func() error {
		run := s.Submit(append([]string{"--pacer-deadline", deadline.String()}, changed...)...)
		wantAnswer(t, run, want)
		return realenv.Held(s.AwaitApp("the changed run to be finished", patience, finished))
	})
}

func finished(a api.AppDetail) bool { return a.State == api.AppFinished }

// TestAReportInReversedOrder is the story of a report of eight queries, Spark as it comes, that is recorded in one order
// and comes in the other one: its last query first says nothing of the others, which are still to come. It is in time,
// ends in the last 15 % before its deadline, and pacer why names the order.
func TestAReportInReversedOrder(t *testing.T) {
	realenv.RequireSpark(t)
	s := realenv.StartUp(t)
	recorded, answer := s.Record("testdata/eight.py")
	deadline := (recorded.Duration * 1.4).Duration().Round(time.Millisecond)
	realenv.Repeat(t, func() error {
		run := s.Submit("--pacer-deadline", deadline.String(), "testdata/eight.py", "reversed")
		wantAnswer(t, run, realenv.Results(answer))
		app := s.AwaitApp("the reversed run to be finished", patience, finished)
		if !realenv.Paced(app) {
			t.Errorf("it was %s: %s", app.Pacing, app.Notices)
		}
		if _, why := s.Pacer("why", string(app.ID)); !strings.Contains(why, "queries came in another order than recorded") {
			t.Errorf("pacer why says\n%s", why)
		}
		left := 100 * float64(deadline-run.Took()) / float64(deadline)
		t.Logf("deadline %v, %+.2f %% of it were left at the command's exit, %s", deadline, left, app.Headline)
		switch {
		case left >= 0 && left <= 15:
			return nil
		case left < 0 && len(app.Shortages) > 0:
			t.Logf("its cores were taken: %+v", app.Shortages)
			return nil
		}
		return realenv.Timing("%+.2f %% of the deadline were left, want 0 to 15 %%", left)
	})
}
