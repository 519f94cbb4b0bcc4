package meter

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// share is one of four tasks, each of 2 core-seconds and 1000 records.
var share = api.StageTarget{Weight: 4, Tasks: 4, Work: 8, Records: 4000}

func TestEq10ProgressOfTasksIsTheFinishedOnesWeight(t *testing.T) {
	m := New(Settings{Progress: Tasks}, State{})
	m.Observe(&share, &Stage{Weight: 1.5, Finished: 2, Running: 1, RunningCPU: 1.9, RunningRecords: 999}, nil, 0)
	if m.Done() != 1.5 {
		t.Errorf("done %v, want 1.5", m.Done())
	}
}

func TestWorkInsideRunningTasks(t *testing.T) {
	for name, c := range map[string]struct {
		stage Stage
		tasks []Task
		want  float64
	}{
		"half of the CPU":              {Stage{Running: 1}, []Task{{Weight: 1, CPU: 1}}, 0.5},
		"reading is half the work":     {Stage{Running: 1}, []Task{{Weight: 1, CPU: 0.3, Records: 1000}}, 0.5},
		"read before it is worked on":  {Stage{Running: 1}, []Task{{Weight: 1, CPU: 0.1, Records: 1000}}, 0.2},
		"more records than expected":   {Stage{Running: 1}, []Task{{Weight: 1, CPU: 0.3, Records: 5000}}, 0.5},
		"never done before it ends":    {Stage{Running: 1}, []Task{{Weight: 1, CPU: 9}}, 0.95},
		"a larger task counts more":    {Stage{Running: 1}, []Task{{Weight: 2, CPU: 2}}, 1},
		"finished ones count whole":    {Stage{Finished: 2, Weight: 2, CPU: 4, Running: 1}, []Task{{Weight: 1, CPU: 1}}, 2.5},
		"finished ones correct":        {Stage{Finished: 2, Weight: 2, CPU: 2, Running: 1}, []Task{{Weight: 1, CPU: 0.75}}, 2.5},
		"what is not listed is a mean": {Stage{Running: 3, RunningCPU: 3}, []Task{{Weight: 1, CPU: 1}}, 1.5},
		"another stage's do not count": {Stage{Running: 0}, []Task{{Stage: api.StageKey{Stage: 7}, Weight: 1, CPU: 1}}, 0},
		"never more than the share":    {Stage{Finished: 9, Weight: 9}, nil, 4},
	} {
		m := New(Settings{Progress: Work, Reading: 0.5}, State{})
		if m.Observe(&share, &c.stage, c.tasks, 0); math.Abs(m.Done()-c.want) > 1e-9 {
			t.Errorf("%s: done %v, want %v", name, m.Done(), c.want)
		}
	}
}

// A task that reads in a fifth of its time, as earlier runs have shown, is no further when it has
// read everything; one that reads in more is not believed to be, for its records may have become more.
func TestWhatIsReadCountsNoMoreThanItTook(t *testing.T) {
	for name, c := range map[string]struct {
		reading units.Fraction
		cpu     units.Work
		want    float64
	}{
		"known":              {0.2, 0.3, 0.2},
		"known, then by CPU": {0.2, 1, 0.5},
		"more than half":     {0.9, 0.9, 0.5},
		"unknown":            {0, 0.9, 0.5},
	} {
		target := share
		target.Reading = c.reading
		for _, tasks := range [][]Task{{{Weight: 1, CPU: c.cpu, Records: 1000}}, nil} {
			m := New(Settings{Progress: Work, Reading: 0.5}, State{})
			m.Observe(&target, &Stage{Running: 1, RunningCPU: c.cpu, RunningRecords: 1000}, tasks, 0)
			if math.Abs(m.Done()-c.want) > 1e-9 {
				t.Errorf("%s, %d listed: done %v, want %v", name, len(tasks), m.Done(), c.want)
			}
		}
	}
}

func TestProgressFallsOnlyAfterAFailure(t *testing.T) {
	m := New(Settings{Progress: Work, Reading: 0.5}, State{})
	see := func(cpu units.Work, failed int) string {
		return m.Observe(&share, &Stage{Running: 1, Failed: failed}, []Task{{Weight: 1, CPU: cpu}}, 0)
	}
	if see(1.6, 0); m.Done() != 0.8 {
		t.Fatalf("done %v", m.Done())
	}
	if fell := see(0.2, 0); fell != "" || m.Done() != 0.8 {
		t.Errorf("without a failure: fell %q, done %v", fell, m.Done())
	}
	if fell := see(0.2, 1); fell == "" || m.Done() != 0.1 {
		t.Errorf("after a failure: fell %q, done %v", fell, m.Done())
	}
}
