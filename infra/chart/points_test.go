package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
)

func TestPointsJoinExecutorsAndEndWithTheStage(t *testing.T) {
	got := Points([]api.AppSample{
		{At: 1.02, Executor: "1", SetPoint: 0.2, Progress: 0.1, Grant: 0.5, Used: 0.4},
		{At: 0.98, Executor: "2", SetPoint: 0.2, Progress: 0.3, Grant: 0.7, Used: 0.6},
		{At: 1.51, Executor: "1", SetPoint: 0.4, Progress: 0.4, Grant: -1, Used: 1},
		{At: 2.01, Executor: "1", Grant: -1, Used: 0.1}, // After its end.
	})
	want := []Point{
		{At: 1, SetPoint: 0.2, Progress: 0.2, Grant: 1.2, Used: 1, n: 2},
		{At: 1.5, SetPoint: 0.4, Progress: 0.4, Used: 1, Free: true, n: 1},
	}
	near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Point{}), near); d != "" {
		t.Error(d)
	}
	if got := Points([]api.AppSample{{At: 1, Used: 1, Grant: -1}}); len(got) != 1 {
		t.Errorf("a stage without progress: %v", got)
	}
}
