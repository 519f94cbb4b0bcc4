package bench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/internal/realenv"
)

const app = "../demo/app.py"

// rebind measures on a paced run how long after the end of the stages it reads
// from the first task of a stage starts, by Spark's own event log: the driver's
// work, the binding of warm executors and the launch. It also checks that no JVM
// was started after the pool was warm.
func rebind(t *testing.T, add adder) {
	s := realenv.StartUp(t)
	if code := s.Submit(app, "0.4").Wait(3 * time.Minute); code != 0 {
		t.Fatalf("recording run: exit %d", code)
	}
	recorded := ended(s)
	var gaps []float64
	for range 2 {
		if code := s.Submit("--pacer-deadline", (recorded.Duration * 1.3).String(), app, "0.4").Wait(4 * time.Minute); code != 0 {
			t.Fatalf("paced run: exit %d", code)
		}
		run := ended(s)
		log := realenv.ReadLog(t, s.Events(), run.ID)
		gaps = append(gaps, stageGaps(log)...)
		first, _ := log.Span(run.Stages[0].Stage)
		t.Logf("%s: executors %v, first task at %d", run.ID, log.Added, first)
		if len(log.Removed) > 0 || len(log.Added) != len(run.Executors) {
			t.Errorf("executors added %v, removed %v: the pool did not stay as it was", log.Added, log.Removed)
		}
	}
	if len(gaps) == 0 {
		t.Fatal("no stage followed another")
	}
	t.Logf("first task after the parents' last: %s ms", spread(gaps))
	add(t, "rebind.ms.median", median(gaps), "ms")
}

func ended(s *realenv.System) api.AppDetail {
	return s.AwaitApp("the end", 10*time.Second, func(a api.AppDetail) bool { return a.State == api.AppFinished })
}

// stageGaps is, for each stage that reads from others, the time from their last
// task's end to its first task's launch, in ms.
func stageGaps(log realenv.Log) []float64 {
	var gaps []float64
	for stage, parents := range log.Parents {
		var ready int64
		for _, p := range parents {
			_, last := log.Span(p)
			ready = max(ready, last)
		}
		if first, _ := log.Span(stage); ready > 0 && first > 0 {
			gaps = append(gaps, float64(first-ready))
		}
	}
	return gaps
}

// eventDir is where a run without Pacer puts its event log.
func eventDir(dir string) string { return filepath.Join(dir, "events") }
