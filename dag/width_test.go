package dag_test

import (
	"math"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// A stage whose tasks use eight cores each may have as many for each task, up to those that there are.
func TestAStageOfWideTasks(t *testing.T) {
	p := api.Profile{Schema: 1, Name: "p", Runs: 1, Cores: 16, Duration: 10, Stages: []api.ProfileStage{{Name: "fit", Signature: "fit", Tasks: 2,
		Duration: 10, Records: 2, Bytes: 1, CoreSeconds: 160, NominalRate: 2.0 / 160, LongestTask: 80, TaskCores: 8}}}
	g, err := dag.New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cores units.Cores
		full  float64
		at18  api.Verdict
	}{{16, 10, api.VerdictFeasible}, {12, 40.0 / 3, api.VerdictFeasible}, {8, 20, api.VerdictInfeasible}, {32, 10, api.VerdictFeasible}} {
		f := g.Forecast(dag.Default(), 18, dag.Supply{Cores: c.cores, Slots: int(c.cores)}, 0)
		if math.Abs(float64(f.FullCores)-c.full) > 1e-6 || f.Verdict != c.at18 {
			t.Errorf("%v cores: %v at all cores, 18 s are %s; want %v and %s", c.cores, f.FullCores, f.Verdict, c.full, c.at18)
		}
	}
}
