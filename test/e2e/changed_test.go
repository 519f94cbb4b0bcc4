package e2e

import (
	"path/filepath"
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
