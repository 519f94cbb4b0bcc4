package meter

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// What the group used is divided over the tasks, and nothing of it is lost, nor of
// the tasks that the page has no room for.
func TestChildrenDivideWhatTheGroupUsed(t *testing.T) {
	key := api.StageKey{Stage: 3}
	task := func(partition int) Task {
		return Task{Stage: key, Partition: partition, Weight: 1, CPU: 0.01, Records: 50}
	}
	other := Task{Stage: api.StageKey{Stage: 9}, Partition: 1, Weight: 1, CPU: 5}
	pages := []struct {
		spent units.Work
		stage Stage
		tasks []Task
		want  map[int]units.Work // By partition of the running tasks.
	}{
		{0.5, Stage{Key: key, Running: 2}, []Task{task(0), task(1)}, nil},
		{0.9, Stage{Key: key, Running: 2}, []Task{task(0), task(1), other}, map[int]units.Work{0: 0.7, 1: 0.7}},
		{1, Stage{Key: key, Running: 2}, []Task{task(1), task(0)}, map[int]units.Work{0: 1.2, 1: 1.2}},
		// Task 0 ended, 2 began: a quarter each, half for the one that stayed.
		{1, Stage{Key: key, Running: 2, Finished: 1, Weight: 1}, []Task{other, task(2), task(1)}, map[int]units.Work{1: 1.7, 2: 0.25}},
		// Of four running tasks two are listed.
		{1, Stage{Key: key, Running: 4, Finished: 1, Weight: 1}, []Task{task(1), task(2)}, map[int]units.Work{1: 1.95, 2: 0.5}},
		{0, Stage{Key: key, Finished: 5, Weight: 5}, nil, map[int]units.Work{}},
	}
	var e children
	var group units.Work
	for i := range pages {
		p := &pages[i]
		e.spent += p.spent
		group += p.spent
		stage, tasks, moved := e.see(&p.stage, p.tasks, 0.01)
		if p.want == nil {
			if stage != &p.stage || moved {
				t.Errorf("page %d: half a core-second is enough to tell", i)
			}
			continue
		}
		if moved != (i == 1) {
			t.Errorf("page %d: moved %v", i, moved)
		}
		got := map[int]units.Work{}
		for _, task := range tasks {
			got[task.Partition] = task.CPU
			if task.Records != 0 || task.Stage != key {
				t.Errorf("page %d: task %+v", i, task)
			}
		}
		if len(got) != len(p.want) {
			t.Fatalf("page %d: %d tasks of %d", i, len(got), len(p.want))
		}
		for partition, want := range p.want {
			if cpu, runs := got[partition]; !runs || math.Abs(float64(cpu-want)) > 1e-9 {
				t.Errorf("page %d: task %d has used %v, want %v", i, partition, cpu, want)
			}
		}
		if sum := stage.CPU + stage.RunningCPU; math.Abs(float64(sum-group)) > 1e-9 || stage.CPU < 0 {
			t.Errorf("page %d: %v of finished and %v of running tasks, the group has used %v", i, stage.CPU, stage.RunningCPU, group)
		}
	}
	jvm, stage := children{group: 10, recent: 3, threads: 1.2}, Stage{Key: key, Running: 1}
	if got, _, _ := jvm.see(&stage, nil, 0); got != &stage {
		t.Error("threads that used 0.4 of the group's CPU time do not count")
	}
}

// A meter that goes on from its state, as JSON carries it, says of every page what the
// one says that has seen all of them.
func TestChildrenSurviveARestart(t *testing.T) {
	key := api.StageKey{Stage: 3}
	target := api.StageTarget{StageKey: key, Weight: 6, Tasks: 6, Work: 12}
	page := func(k int) (Stage, []Task) {
		finished := k / 3
		stage := Stage{Key: key, Finished: finished, Weight: float64(finished), CPU: units.Work(finished) / 50, Running: 2, RunningCPU: 0.02}
		return stage, []Task{{Stage: key, Partition: finished, Weight: 1, CPU: 0.01}, {Stage: key, Partition: finished + 1, Weight: 1, CPU: 0.01}}
	}
	const pages = 12
	for restart := range pages {
		whole := New(Default(), State{})
		again := New(Default(), State{})
		for k := range pages {
			for _, m := range []*Meter{&whole, &again} {
				m.Spend(0.4)
			}
			if k == restart {
				body, err := json.Marshal(again.State())
				if err != nil {
					t.Fatal(err)
				}
				var state State
				if err := json.Unmarshal(body, &state); err != nil {
					t.Fatal(err)
				}
				again = New(Default(), state)
			}
			for _, m := range []*Meter{&whole, &again} {
				stage, tasks := page(k)
				m.Observe(&target, &stage, tasks, 0.01)
			}
			if !whole.children.found && k > 4 {
				t.Fatalf("page %d: the workers are not found", k)
			}
			if math.Abs(whole.Done()-again.Done()) > 0.02 {
				t.Errorf("restarted before page %d: %.4f done by page %d, %.4f without a restart", restart, again.Done(), k, whole.Done())
			}
		}
	}
}
