package node

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/units"
)

// Tasks whose work is done by Python workers are paced like others: as many tasks as
// slots, of which nothing is seen to end before the deadline is near, and several
// rounds. Where threads alone are looked at the first end two fifths too late: all their
// records are read at once, which counts as half.
func TestPythonWorkersArePaced(t *testing.T) {
	end := func(python bool, tasks int, cpu float64) float64 {
		cfg := testConfig(2)
		cfg.Controller.Law = controller.LawPacer
		w := newWorld(t, cfg)
		a := planApp(appA, 2, ids("1"))
		w.ready(1, a)
		x := w.exec(Key{appA, "1"})
		x.python = python
		s := x.submit(0, tasks, cpu)
		a.Stages = append(a.Stages, target(0, "1", tasks, float64(tasks)*cpu, 20*time.Second, 1))
		begin := w.now
		w.apply(plan(2, a))
		for !x.idle() {
			w.tick(t, w.e)
		}
		return s.end.Sub(begin).Seconds()
	}
	for name, c := range map[string]struct {
		tasks int
		cpu   float64
	}{"one round": {2, 12}, "two rounds": {4, 6}, "many": {60, 0.4}} {
		jvm, python := end(false, c.tasks, c.cpu), end(true, c.tasks, c.cpu)
		if python < 19 || python > 20.3 {
			t.Errorf("%s: it ended after %.2f s of 20, in the JVM's threads after %.2f s", name, python, jvm)
		}
	}
}

// What the group used is divided over the tasks, and nothing of it is lost, nor of
// the tasks that the page has no room for.
func TestElsewhereDividesWhatTheGroupUsed(t *testing.T) {
	key := api.StageKey{Stage: 3}
	task := func(partition int) PageTask {
		return PageTask{Stage: key, Partition: partition, Weight: 1, CPU: 0.01, Records: 50}
	}
	other := PageTask{Stage: api.StageKey{Stage: 9}, Partition: 1, Weight: 1, CPU: 5}
	pages := []struct {
		spent units.Work
		stage PageStage
		tasks []PageTask
		want  map[int]units.Work // By partition of the running tasks.
	}{
		{0.5, PageStage{Key: key, Running: 2}, []PageTask{task(0), task(1)}, nil},
		{0.9, PageStage{Key: key, Running: 2}, []PageTask{task(0), task(1), other}, map[int]units.Work{0: 0.7, 1: 0.7}},
		{1, PageStage{Key: key, Running: 2}, []PageTask{task(1), task(0)}, map[int]units.Work{0: 1.2, 1: 1.2}},
		// Task 0 ended, 2 began: a quarter each, half for the one that stayed.
		{1, PageStage{Key: key, Running: 2, Finished: 1, Weight: 1}, []PageTask{other, task(2), task(1)}, map[int]units.Work{1: 1.7, 2: 0.25}},
		// Of four running tasks two are listed.
		{1, PageStage{Key: key, Running: 4, Finished: 1, Weight: 1}, []PageTask{task(1), task(2)}, map[int]units.Work{1: 1.95, 2: 0.5}},
		{0, PageStage{Key: key, Finished: 5, Weight: 5}, nil, map[int]units.Work{}},
	}
	var e elsewhere
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
	jvm, stage := elsewhere{group: 10, recent: 3, threads: 1.2}, PageStage{Key: key, Running: 1}
	if got, _, _ := jvm.see(&stage, nil, 0); got != &stage {
		t.Error("threads that used 0.4 of the group's CPU time do not count")
	}
}
