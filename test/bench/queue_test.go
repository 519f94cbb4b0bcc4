package main

import (
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/test/sparklog"
)

func TestWhatIsBusyAndLost(t *testing.T) {
	a := api.AppDetail{Executors: []api.AppExecutor{{ID: "1", Node: "n1"}, {ID: "2", Node: "n2"}, {ID: "3", Node: "n2"}},
		Stages: []api.AppStage{{Samples: []api.AppSample{{Executor: "2", Used: 0.5}, {Executor: "1"}}},
			{Samples: []api.AppSample{{Executor: "3", Used: 0.5}, {Executor: "9", Used: 1}}}}}
	if got := busy(a); !slices.Equal(got, []string{"n2"}) {
		t.Errorf("busy: %v, want n2 once, where executors have worked that are known", got)
	}
	again := api.StageKey{Stage: 1, Attempt: 1}
	failed, repeated := lost(sparklog.Log{Tasks: []eventlog.Task{{OK: true}, {Reason: "FetchFailed"}, {StageKey: again, OK: true}, {StageKey: again, OK: true}}})
	if failed != 1 || repeated != 2 {
		t.Errorf("%d failed and %d ran again, want 1 and 2", failed, repeated)
	}
}
