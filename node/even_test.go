package node

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// Light tasks cost more than they weigh: of 20 mean tasks of 0.1 s, half of which is for
// being a task, one weighs 10.5 and the others 0.5. With the heavy one done, half of the
// weight is left, and nearly three quarters of the work.
func TestLightTasksCostMoreThanTheyWeigh(t *testing.T) {
	target := api.StageTarget{Weight: 20, Tasks: 20, Work: 2}
	m := meter{mode: Work, read: 0.5, cost: 0.05}
	m.observe(&target, &PageStage{Running: 1}, []PageTask{{Weight: 10.5}}, 0)
	if math.Abs(m.done) > 1e-9 {
		t.Errorf("%.3f done of a task that has begun, want 0", m.done)
	}
	m.observe(&target, &PageStage{Finished: 1, Weight: 10.5, Running: 1}, []PageTask{{Weight: 0.5}}, 0)
	if want := 20 - (0.5*9.5 + 0.5*19); math.Abs(m.done-want) > 1e-9 {
		t.Errorf("%.3f done after the heavy task, want %.3f", m.done, want)
	}
	left := 0.0
	for _, chain := range m.chains(nil, &target, &record{finished: 1, running: 1}, 3, 0) {
		left += chain
	}
	if want := 0.5*9.5 + 0.5*19; math.Abs(left-want) > 1e-9 {
		t.Errorf("the chains have %.3f, want %.3f", left, want)
	}
	m.observe(&target, &PageStage{Finished: 20, Weight: 20}, nil, 0)
	if math.Abs(m.done-20) > 1e-9 {
		t.Errorf("%.3f done in the end, want 20", m.done)
	}
}

// A share that has fewer tasks than its weight says is done when they are.
func TestAShareOfFewHeavyTasksEnds(t *testing.T) {
	target := api.StageTarget{Weight: 10, Tasks: 10, Work: 1}
	m := meter{mode: Work, read: 0.5, cost: 0.05}
	m.observe(&target, &PageStage{Running: 2}, []PageTask{{Weight: 6}, {Weight: 4}}, 0)
	m.observe(&target, &PageStage{Finished: 2, Weight: 10}, nil, 0)
	if m.done != 10 {
		t.Errorf("%.3f done of 10", m.done)
	}
}

// Where all tasks weigh the same a share's rounded number of tasks changes nothing.
func TestEqualTasksNeedNoEvening(t *testing.T) {
	target := api.StageTarget{Weight: 3.4, Tasks: 3, Work: 0.34}
	m := meter{mode: Work, read: 0.5, cost: 0.05}
	for finished := range 3 {
		m.observe(&target, &PageStage{Finished: finished, Weight: float64(finished), Running: 1}, []PageTask{{Weight: 1}}, 0)
		if m.done != float64(finished) {
			t.Errorf("%.3f done with %d tasks finished", m.done, finished)
		}
	}
}
