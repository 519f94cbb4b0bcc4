package sim

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// A search of 3,000 small jobs, two of which take turns, is recorded, and is in time on fewer cores than all.
func TestASearchOfManySmallJobsIsPaced(t *testing.T) {
	app := plant.App{Name: "search", Head: 3, Tail: 0.2, Exit: 0.5, Driver: 1}
	for job := range 3000 {
		s := plant.Stage{Name: "fit", Job: job, Tasks: 4, Work: 2, Records: 1000, Gap: 0.05}
		if job%2 == 1 {
			s = plant.Stage{Name: "score", Job: job, Tasks: 4, Work: 1, Records: 500, Gap: 0.02}
		}
		app.Stages = append(app.Stages, s)
	}
	c := Default()
	c.Nodes = []NodeSpec{{Name: "n1", Cores: 4}}
	p, full, err := Record(c, app)
	if err != nil {
		t.Fatal(err)
	}
	stages := 0
	for _, s := range p.Stages {
		stages += p.Count(s.ID)
	}
	if stages != 3000 || len(p.Stages) > api.MostStages/2 {
		t.Fatalf("%d stages in %d", stages, len(p.Stages))
	}
	if off := p.Duration/full.Duration - 1; off < -0.02 || off > 0.02 {
		t.Errorf("the run took %v s, its profile takes %v s", full.Duration, p.Duration)
	}
	c.Seed++
	app.Deadline = full.Duration * 1.5
	o, err := Pace(c, app, p, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("at all cores %.0f s on %.2f cores; paced %.0f s of %.0f s on %.2f cores, %s, error %.2f %%", float64(full.Duration),
		full.MeanCores, float64(o.Duration), float64(o.Deadline), o.MeanCores, o.Pacing, o.Error)
	if o.Verdict != api.VerdictFeasible || o.Error < 0 || o.Error > 6 || o.MeanCores > 0.75*full.MeanCores {
		t.Errorf("%+v", o)
	}
	if units.Work(o.CoreSeconds) > 1.1*units.Work(full.CoreSeconds) {
		t.Errorf("it took %.0f core-seconds, %.0f at all cores", o.CoreSeconds, full.CoreSeconds)
	}
}
