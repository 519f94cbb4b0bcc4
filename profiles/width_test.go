package profiles_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// A stage whose executors used several cores for each task that ran has tasks of several threads; what an
// executor compiles does not make them that. A run that was held back shows less, one at all cores what is so.
func TestTasksOfSeveralThreadsAreSeenInARun(t *testing.T) {
	stage := func(work units.Work, taskTime units.Seconds) api.Profile {
		r := profiles.NewRecorder("p")
		r.Ready(1, ready(0, 0, "fit"))
		d := done(0)
		d.TaskTime = taskTime
		r.Done(11, d)
		r.Work(d.StageKey, work)
		p, err := r.Finish(12, 8)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		work     units.Work
		taskTime units.Seconds
		want     units.Cores
	}{{85, 20, 4}, {22, 20, 0}, {12, 4, 1.75}, {9, 4, 0}, {80, 0, 0}} {
		if got := stage(c.work, c.taskTime).Stages[0].TaskCores; got != c.want {
			t.Errorf("%v core-seconds in tasks of %v: %v cores each, want %v", c.work, c.taskTime, got, c.want)
		}
	}
	wide, thin := stage(85, 20), stage(22, 20)
	if held := paced(wide, thin); held.Stages[0].TaskCores != 4 {
		t.Errorf("after a run that was held back: %v", held.Stages[0].TaskCores)
	}
	if full := atAllCores(wide, thin); full.Stages[0].TaskCores != 0 {
		t.Errorf("after a run at all cores: %v", full.Stages[0].TaskCores)
	}
}
