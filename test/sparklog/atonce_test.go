package sparklog

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
)

func TestExecutorsAtOnceAreOfOneStage(t *testing.T) {
	task := func(stage int, executor api.ExecutorID, launch, finish int64) eventlog.Task {
		return eventlog.Task{StageKey: api.StageKey{Stage: stage}, Executor: executor, Launch: launch, Finish: finish}
	}
	for _, c := range []struct {
		name  string
		tasks []eventlog.Task
		want  int
	}{
		{"none", nil, 0},
		{"one after another", []eventlog.Task{task(0, "1", 0, 10), task(0, "2", 10, 20), task(0, "1", 25, 30)}, 1},
		{"side by side on one executor", []eventlog.Task{task(0, "1", 0, 10), task(0, "1", 9, 12), task(0, "1", 5, 9)}, 1},
		{"side by side on two", []eventlog.Task{task(0, "1", 0, 10), task(0, "1", 9, 12), task(0, "2", 11, 15)}, 2},
		{"of two stages", []eventlog.Task{task(0, "1", 0, 10), task(1, "2", 0, 10), task(1, "3", 5, 8)}, 2},
	} {
		if got := (Log{Tasks: c.tasks}).AtOnce(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
