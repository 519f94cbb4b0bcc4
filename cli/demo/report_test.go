package demo

import (
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Stages that share an executor show its cores once, stages on several the sum;
// an executor that left long ago counts no more.
func TestProgressLineCountsExecutorsOnce(t *testing.T) {
	sample := func(at units.Seconds, id api.ExecutorID, used units.Cores) api.AppSample {
		return api.AppSample{At: at, Executor: id, Used: used}
	}
	a := &api.AppDetail{Stages: []api.AppStage{
		{State: "running", Samples: []api.AppSample{sample(9.5, "1", 1.5), sample(10, "1", 1.7), sample(4, "3", 1)}},
		{State: "running", Samples: []api.AppSample{sample(10, "1", 1.7), sample(9.9, "2", 0.2)}},
	}}
	if line := progressLine(a, 0); !strings.Contains(line, "stages: 0 done, 2 running on 1.90 cores") {
		t.Errorf("%q", line)
	}
}

// A run that failed before its deadline was not early.
func TestAFailedRunHasNoError(t *testing.T) {
	r := Result{Run: "1.3", Detail: api.AppDetail{AppSummary: api.AppSummary{State: api.AppFinished, Duration: 60}}}
	r.Detail.Deadline = 80
	if l := r.Line(); l.ErrorPct == nil || *l.ErrorPct != 25 {
		t.Errorf("finished: error %v", l.ErrorPct)
	}
	r.Detail.State = api.AppFailed
	if l := r.Line(); l.ErrorPct != nil || l.Deadline == nil {
		t.Errorf("failed: error %v", *l.ErrorPct)
	}
}
