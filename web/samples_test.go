package web_test

import (
	"encoding/json"
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// Two executors that tick at different moments: fractions are means and cores sums, what has ended stays done and has no
// cores, and a grant or a request that one does not tell is null.
func TestSamplesAreSummedOverExecutors(t *testing.T) {
	w := newWorld(t)
	w.planner.reply = api.ControlReply{App: &api.AppDetail{Stages: []api.AppStage{{State: "done"}, {StageKey: api.StageKey{Stage: 1}, Samples: []api.AppSample{
		{At: 0, Executor: "1", SetPoint: 0.2, Progress: 0.1, Grant: 2, Used: 1.5, Request: 2.5},
		{At: 0.1, Executor: "2", SetPoint: 0.4, Progress: 0.3, Grant: api.Unknown, Used: 1},
		{At: 0.5, Executor: "1", SetPoint: 0.6, Progress: 1, Grant: 2, Used: 1, Request: 1},
		{At: 1.1, Executor: "2", SetPoint: 0.8, Progress: 0.5, Grant: 1, Used: 0.5},
	}}}}}
	_, said := w.do("GET", "/api/v1/applications/app-1/samples", w.mine(), "")
	want := map[string]string{"at_s": "[0.1,0.5,1.1]", "request_cores": "[2.5,1,null]", "grant_cores": "[null,null,1]", "used_cores": "[2.5,2,0.5]",
		"set_point": "[0.3,0.5,0.7]", "progress": "[0.2,0.65,0.75]"}
	stages := said["stages"].([]any)
	for key, column := range want {
		if got, _ := json.Marshal(stages[0].(map[string]any)[key]); string(got) != column {
			t.Errorf("%s: %s, want %s", key, got, column)
		}
	}
	if len(stages) != 1 {
		t.Errorf("%d stages have samples", len(stages))
	}
}

// Progress that nothing measures is not known: an executor that is done keeps its own while another one is at work, and
// of an application that records or is released nothing is drawn.
func TestProgressWithoutControlIsNotKnown(t *testing.T) {
	w := newWorld(t)
	w.planner.reply = api.ControlReply{App: &api.AppDetail{Stages: []api.AppStage{{Samples: []api.AppSample{
		{At: 0, Executor: "1", SetPoint: 0.5, Progress: 0.5, Used: 1},
		{At: 0.1, Executor: "2", SetPoint: 0.4, Progress: 0.3, Used: 1},
		{At: 0.5, Executor: "1", Used: 1}, // The end of its part of the stage.
		{At: 0.6, Executor: "2", SetPoint: 0.8, Progress: 0.7, Used: 1},
		{At: 1.1, Executor: "2", Used: 2}, // Released.
		{At: 1.6, Executor: "2", Used: 2},
	}}}}}
	_, said := w.do("GET", "/api/v1/applications/app-1/samples", w.mine(), "")
	stage := said["stages"].([]any)[0].(map[string]any)
	for key, column := range map[string]string{"set_point": "[0.45,0.65,null,null]", "progress": "[0.4,0.6,null,null]", "used_cores": "[2,2,2,2]"} {
		if got, _ := json.Marshal(stage[key]); string(got) != column {
			t.Errorf("%s: %s, want %s", key, got, column)
		}
	}
}
