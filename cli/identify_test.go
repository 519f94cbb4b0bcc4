package cli

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/cli/command"
	"github.com/sparkpacer/pacer/units"
)

// stepped is an application whose stage 3 has answered a step at 10 s: p = 0.4, a
// share of 50 core-seconds on executor 1; executor 2 has no samples of it.
func stepped() api.AppDetail {
	s := api.AppStage{StageKey: api.StageKey{Stage: 3}, Start: 5, Executors: []api.ExecutorID{"1", "2"}}
	x, done := 1.0, 0.1
	for k := range 60 {
		at := 8 + 0.5*float64(k)
		cores := 1.0 // As it was, then twice 8 s.
		switch {
		case at >= 10 && at < 18:
			cores = 0.6
		case at >= 18 && at < 26:
			cores = 1.4
		}
		s.Samples = append(s.Samples, api.AppSample{At: units.Seconds(at), Executor: "1", Progress: units.Fraction(done), Grant: units.Cores(cores)})
		x = 0.4*x + 0.6*cores
		done += x * 0.5 / 50
	}
	return api.AppDetail{AppSummary: api.AppSummary{ID: "app-1"}, Stages: []api.AppStage{s}}
}

func TestIdentifyFitsTheSamplesOfTheStep(t *testing.T) {
	app := stepped()
	found := identify(&app, api.Step{Stage: 3, Each: 8, At: 10}, 500*time.Millisecond)
	if len(found) != 2 {
		t.Fatalf("%+v", found)
	}
	if f := found[0]; f.Fault != "" || math.Abs(f.P-0.4) > 0.01 || math.Abs(float64(f.CoreSeconds)-50) > 0.5 || f.Fit < 0.99 {
		t.Errorf("executor 1: %+v, want p 0.4 and 50 core-seconds", f)
	}
	if f := found[1]; !strings.Contains(f.Fault, "rates") || f.P != 0 {
		t.Errorf("executor 2: %+v, want a fault", f)
	}
	if got := identify(&app, api.Step{Stage: 4, At: 10}, 500*time.Millisecond); len(got) != 0 {
		t.Errorf("another stage: %+v", got)
	}
}

func TestIdentifyAsksForAStepAndPrintsThePlant(t *testing.T) {
	w := newWorld(t)
	// The fake's step is over at once; its samples are those of a longer one.
	f := startPlanner(t, &fakePlanner{apps: []api.AppDetail{stepped()}, step: &api.Step{Stage: 3, Each: 0, At: 10}})
	o := w.run(t, "--planner", f.address, "identify", "app-1", "--low", "0.5", "--each", "8s", "--settle", "0s", "-o", "json")
	var found []identified
	if err := json.Unmarshal([]byte(o.out), &found); o.code != 0 || err != nil || len(found) != 2 {
		t.Fatalf("exit code %d, %s%s, %v", o.code, o.out, o.err, err)
	}
	f.mu.Lock()
	var asked *api.Step
	for i, v := range f.verbs {
		if v == api.VerbStep {
			asked = f.asked[i].Step
		}
	}
	f.mu.Unlock()
	if asked == nil || *asked != (api.Step{Stage: -1, Low: 0.5, High: 1.4, Each: 8}) {
		t.Errorf("asked for %+v", asked)
	}
	o = w.run(t, "--planner", f.address, "identify", "app-1", "--settle", "0s")
	for _, want := range []string{"done: step", "EXECUTOR", "CORE-SECONDS", "rates"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	w.run(t, "--planner", f.address, "identify").wantLine(t, command.ExitUsage, "1 arg")
}
