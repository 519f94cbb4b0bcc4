package attach

import (
	"cmp"
	"math"

	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Result is what became of an application.
type Result struct {
	Seed     uint64
	Deadline float64
	// Ended is when it ended, in seconds, and Held how many executors it had in the mean until then.
	Ended, Held float64
	// Fewest is the least number of executors with which the oracle keeps the deadline, 0 for none, and Needs how many
	// it has then in the mean.
	Fewest int
	Needs  float64
}

// Runs are all of them.
type Runs []Result

// Experiments are one, whose applications are its cases.
func Experiments() []experiment.Experiment {
	const title = "Attached applications: executors that they ask for, beside the fewest that an oracle needs"
	return []experiment.Experiment{{Name: "attached", Title: title, Takes: []string{experiment.Seeds},
		Cases: func(experiment.Options) ([]string, error) { return []string{"attached"}, nil },
		Run: func(o experiment.Options) (experiment.Table, error) {
			runs, err := Run(o)
			if err != nil {
				return experiment.Table{}, err
			}
			t := experiment.Table{Name: "attached", Title: title, Cells: runs}
			for _, f := range []struct {
				name, unit, measure string
				value               float64
			}{{"late_pct", "%", "ended late, of those whose deadline can be met", runs.LatePct()},
				{"executors_ratio", "ratio", "executors held, over the fewest that keep the deadline", runs.ExecutorsRatio()}} {
				t.Figures = append(t.Figures, experiment.NewFigure("attach.virtual."+f.name, f.unit, []float64{f.value},
					experiment.Claim{Measure: f.measure}))
			}
			t.Rows = [][][]string{experiment.FigureRows(t.Figures, "%.2f", "MEASURE")}
			return t, nil
		}}}
}

// Run runs as many applications as there are seeds, 300 where nothing is said.
func Run(o experiment.Options) (Runs, error) {
	o.Seeds = cmp.Or(o.Seeds, 300)
	cases, err := experiment.RunAll(o, []experiment.Case[struct{}, Result]{{Name: "attached",
		Run: func(seed int) (Result, error) { return run(uint64(seed)) }}})
	return cases[0].Runs, err
}

func run(seed uint64) (Result, error) {
	today, recorded := draw(seed)
	r := Result{Seed: seed, Deadline: float64(today.Deadline)}
	profile, _, err := sim.Record(world(seed+1<<32), recorded)
	if err != nil {
		return r, err
	}
	// No world is so kind that executors do more than their cores, but for noise: fewer are not tried.
	work := 0.0
	for _, s := range today.Stages {
		work += float64(s.Work)
	}
	least := int(math.Ceil(0.9 * work / float64(today.ExecutorCores) / r.Deadline))
	for n := max(1, least); n <= most && r.Fewest == 0; n++ {
		_, o, err := sim.Record(world(seed), fixed(today, n))
		if err != nil {
			return r, err
		}
		if o.Duration <= today.Deadline {
			r.Fewest, r.Needs = n, o.Executors
		}
	}
	o, err := sim.Pace(world(seed), today, profile, 0)
	r.Ended, r.Held = float64(o.Duration), o.Executors
	return r, err
}

// LatePct is how many in a hundred ended after their deadlines, of those that could be met.
func (r Runs) LatePct() float64 {
	late, could := 0, 0
	for _, x := range r {
		if x.Fewest > 0 {
			if could++; x.Ended > x.Deadline {
				late++
			}
		}
	}
	return 100 * float64(late) / float64(max(1, could))
}

// ExecutorsRatio is how many executors there were over the fewest that the oracle needs, in the mean over the time of
// each run and over all runs whose deadlines could be met.
func (r Runs) ExecutorsRatio() float64 {
	held, needs := 0.0, 0.0
	for _, x := range r {
		if x.Fewest > 0 {
			held, needs = held+x.Held, needs+x.Needs
		}
	}
	return held / needs
}
