package main

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/test/benchline"
	"github.com/sparkpacer/pacer/test/realenv"
	"github.com/sparkpacer/pacer/test/sparklog"
)

const app = "cli/demo/app.py"

// rebind measures on paced runs how long after a stage became ready, when its
// warm executors are bound to it, its first task is launched. Beside it stands
// the time from the end of the parents' last task, which holds the driver's own
// work in any Spark (stage submission, broadcast of the tasks' code), and the same on
// stock Spark. It also checks that no JVM was started after the pool was warm.
func rebind(t testing.TB, add adder) {
	// A stage that waits its turn is ready long before it is bound.
	s := realenv.StartUp(t, "--set", "planner.branches=together")
	if code := s.Submit(app, "0.4").Wait(3 * time.Minute); code != 0 {
		t.Fatalf("recording run: exit %d", code)
	}
	recorded := ended(s)
	var bound, parents []float64
	for range 2 {
		code := s.Submit("--pacer-deadline", (recorded.Duration * 1.3).String(), app, "0.4").Wait(4 * time.Minute)
		if code != 0 {
			t.Fatalf("paced run: exit %d", code)
		}
		run := ended(s)
		log := s.Log(run.ID)
		parents = append(parents, stageGaps(log)...)
		for _, stage := range run.Stages {
			if len(log.Stage(stage.Stage).Parents) > 0 {
				bound = append(bound, 1000*float64(stage.FirstLaunch-stage.Start))
			}
		}
		if len(log.Removed) > 0 || len(log.Added) != len(run.Executors) {
			t.Errorf("executors added %v, removed %v: the pool did not stay as it was", log.Added, log.Removed)
		}
	}
	if len(bound) == 0 || len(parents) == 0 {
		t.Fatal("no stage followed another")
	}
	add("rebind.ms.median", benchline.Median(bound), "ms")
	add("rebind.parents_ms.median", benchline.Median(parents), "ms")
	s.Up.Stop() // Stock Spark has the machine to itself.
	stock := stageGaps(stockRun(t, startStandalone(t), app, "0.4").Log)
	if len(stock) == 0 {
		t.Fatal("no stage followed another on stock Spark")
	}
	add("rebind.stock_parents_ms.median", benchline.Median(stock), "ms")
}

func ended(s *realenv.System) api.AppDetail {
	return s.AwaitApp("the end", 10*time.Second, func(a api.AppDetail) bool { return a.State == api.AppFinished })
}

// stageGaps is, for each stage that reads from others, the time from their last
// task's end to its first task's launch, in ms.
func stageGaps(log sparklog.Log) []float64 {
	var gaps []float64
	for _, stage := range log.Stages {
		var ready int64
		for _, p := range stage.Parents {
			_, last := log.Span(p)
			ready = max(ready, last)
		}
		if first, _ := log.Span(stage.ID); ready > 0 && first > 0 {
			gaps = append(gaps, float64(first-ready))
		}
	}
	return gaps
}
