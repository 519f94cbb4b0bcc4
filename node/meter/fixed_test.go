package meter

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Light tasks cost more than they weigh: of 20 mean tasks of 0.1 s, half of which is for
// being a task, one weighs 10.5 and the others 0.5. With the large one done, half of the
// weight is left, and nearly three quarters of the work.
func TestLightTasksCostMoreThanTheyWeigh(t *testing.T) {
	target := api.StageTarget{Weight: 20, Tasks: 20, Work: 2}
	m := New(Settings{Progress: Work, Reading: 0.5, TaskCost: 0.05}, State{})
	m.Observe(&target, &Stage{Running: 1}, []Task{{Weight: 10.5}}, 0)
	if math.Abs(m.Done()) > 1e-9 {
		t.Errorf("%.3f done of a task that has begun, want 0", m.Done())
	}
	m.Observe(&target, &Stage{Finished: 1, Weight: 10.5, Running: 1}, []Task{{Weight: 0.5}}, 0)
	if want := 20 - (0.5*9.5 + 0.5*19); math.Abs(m.Done()-want) > 1e-9 {
		t.Errorf("%.3f done after the large task, want %.3f", m.Done(), want)
	}
	left := 0.0
	for _, chain := range m.Chains(nil, &target, 2, 3, 0) {
		left += chain
	}
	if want := 0.5*9.5 + 0.5*19; math.Abs(left-want) > 1e-9 {
		t.Errorf("the chains have %.3f, want %.3f", left, want)
	}
	m.Observe(&target, &Stage{Finished: 20, Weight: 20}, nil, 0)
	if math.Abs(m.Done()-20) > 1e-9 {
		t.Errorf("%.3f done in the end, want 20", m.Done())
	}
}

// A share that has fewer tasks than its weight says is done when they are.
func TestAShareOfFewLargeTasksEnds(t *testing.T) {
	target := api.StageTarget{Weight: 10, Tasks: 10, Work: 1}
	m := New(Settings{Progress: Work, Reading: 0.5, TaskCost: 0.05}, State{})
	m.Observe(&target, &Stage{Running: 2}, []Task{{Weight: 6}, {Weight: 4}}, 0)
	m.Observe(&target, &Stage{Finished: 2, Weight: 10}, nil, 0)
	if m.Done() != 10 {
		t.Errorf("%.3f done of 10", m.Done())
	}
}

// Where all tasks weigh the same a share's rounded number of tasks changes nothing.
func TestEqualTasksShareNoFixedCost(t *testing.T) {
	target := api.StageTarget{Weight: 3.4, Tasks: 3, Work: 0.34}
	m := New(Settings{Progress: Work, Reading: 0.5, TaskCost: 0.05}, State{})
	for finished := range 3 {
		m.Observe(&target, &Stage{Finished: finished, Weight: float64(finished), Running: 1}, []Task{{Weight: 1}}, 0)
		if m.Done() != float64(finished) {
			t.Errorf("%.3f done with %d tasks finished", m.Done(), finished)
		}
	}
}

// What earlier runs have shown a task to cost goes before the setting.
func TestTheTargetKnowsWhatATaskCosts(t *testing.T) {
	left := func(known units.Work) float64 {
		target := api.StageTarget{Weight: 20, Tasks: 20, Work: 2, TaskCost: known}
		m := New(Settings{Progress: Work, Reading: 0.5, TaskCost: 0.05}, State{})
		m.Observe(&target, &Stage{Running: 1}, []Task{{Weight: 10.5}}, 0)
		m.Observe(&target, &Stage{Finished: 1, Weight: 10.5, Running: 1}, []Task{{Weight: 0.5}}, 0)
		return target.Weight - m.Done()
	}
	for known, fixed := range map[units.Work]float64{0: 0.5, 0.02: 0.2, 0.09: 0.5} {
		if got, want := left(known), (1-fixed)*9.5+fixed*19; math.Abs(got-want) > 1e-9 {
			t.Errorf("known cost %v: %.3f left, want %.3f", known, got, want)
		}
	}
}
