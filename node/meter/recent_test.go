package meter

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// What the driver told of the waiting tasks is taken before the profile's longest
// one: with a light rest the longest chain is that of the running tasks.
func TestTheHeaviestWaitingTaskBoundsTheChains(t *testing.T) {
	m := New(Settings{Progress: Work, Reading: 0.5}, State{})
	target := api.StageTarget{Weight: 20, Tasks: 8, Work: 20}
	longest := func(told float64) float64 {
		stage := Stage{Running: 2, Heaviest: told}
		m.Observe(&target, &stage, []Task{{Weight: 1.5}, {Weight: 1.5}}, 0)
		return m.Chains(nil, &target, 2, 2, 12)[0]
	}
	if blind, told := longest(0), longest(3); blind < 13 || told > 12 || told < 10 {
		t.Errorf("the longest chain is %.1f where nothing is told, %.1f where the heaviest is 3", blind, told)
	}
}

// A stage of many brief tasks is seen to end as early as one of few: with 2 core-seconds of
// waiting tasks per slot, and not with more, nor where nobody knows what they take.
func TestChainsOfManyBriefTasks(t *testing.T) {
	for _, tc := range []struct {
		work  units.Work
		known bool
	}{{3.9, true}, {4.2, false}, {0, false}} {
		m := New(Settings{Progress: Work, Reading: 0.5}, State{})
		target := api.StageTarget{Weight: 102, Tasks: 102, Work: tc.work}
		m.Observe(&target, &Stage{Running: 2}, []Task{{Weight: 1}, {Weight: 1}}, 0)
		if chains := m.Chains(nil, &target, 2, 2, 1); (len(chains) == 2) != tc.known {
			t.Errorf("100 waiting tasks of %v core-seconds: chains %v, want some: %v", tc.work, chains, tc.known)
		}
	}
}

// Finished tasks count as long as they are recent; a large one that runs is judged
// by all of them.
func TestThePaceFollowsTheStage(t *testing.T) {
	target := api.StageTarget{Weight: 100, Tasks: 100, Work: 100}
	part := func(weight float64) float64 {
		m := New(Settings{Progress: Work, Reading: 0.5}, State{})
		task := []Task{{Weight: weight, CPU: 0.2}}
		stage := Stage{Running: 1}
		for range 40 {
			stage.Weight++
			stage.CPU++
			m.Observe(&target, &stage, task, 0)
		}
		for range 20 {
			stage.Weight++
			stage.CPU += 0.5
			m.Observe(&target, &stage, task, 0)
		}
		return m.Done() - stage.Weight
	}
	if got := part(1); got < 0.39 || got > 0.41 {
		t.Errorf("0.2 s at 2 a second count as %.3f, want 0.4", got)
	}
	if got, want := part(5), 0.2*62.0/52; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("of a large task they count as %.3f, want %.3f", got, want)
	}
}
