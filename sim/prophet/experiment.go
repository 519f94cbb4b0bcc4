package prophet

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/sim/experiment"
)

// Case is what one policy gave, in seconds, one value a seed. Ran and Took are medians over the applications.
type Case struct {
	Policy   string    `json:"policy"`
	Makespan []float64 `json:"makespan_s"`
	Ran      []float64 `json:"execution_s"`
	Took     []float64 `json:"completion_s"`
}

const title = "where executors go when disks and networks are short: 90 applications on 16 servers"

// Experiments are one: the source's evaluation of Prophet.
func Experiments() []experiment.Experiment {
	e := experiment.Experiment{Name: "prophet", Source: "001", Section: "4.4", Title: title,
		Takes: []string{experiment.Seeds, experiment.Only}}
	e.Cases = func(experiment.Options) ([]string, error) { return Policies(), nil }
	e.Run = func(o experiment.Options) (experiment.Table, error) {
		cases, err := run(o)
		if err != nil {
			return experiment.Table{}, err
		}
		t := experiment.Table{Title: title, Cells: cases, Figures: figures(cases)}
		t.Rows = [][][]string{rows(cases)}
		if len(t.Figures) > 0 {
			t.Rows = append(t.Rows, experiment.FigureRows(t.Figures, "%.0f", "MEASURE"))
		}
		return t, nil
	}
	return []experiment.Experiment{e}
}

func run(o experiment.Options) (all []Case, err error) {
	var cases []experiment.Case[string, Outcome]
	for _, name := range Policies() {
		cases = append(cases, experiment.Case[string, Outcome]{Name: name, Of: name, Run: func(seed int) (Outcome, error) {
			return Run(name, Draw(uint64(seed)), DefaultParams)
		}})
	}
	if cases, err = experiment.Run(o, cases); err != nil {
		return nil, err
	}
	for _, c := range cases {
		one := Case{Policy: c.Name}
		for _, r := range c.Runs {
			one.Makespan = append(one.Makespan, r.Makespan)
			one.Ran, one.Took = append(one.Ran, experiment.Median(r.Ran)), append(one.Took, experiment.Median(r.Took))
		}
		all = append(all, one)
	}
	return all, nil
}

// rows are the cases as text, the source's makespans in brackets.
func rows(cases []Case) [][]string {
	rows := [][]string{{"POLICY", "MAKESPAN", "EXECUTION, MEDIAN", "COMPLETION, MEDIAN"}}
	theirs := map[string]string{"capacity": "16604", "drf": "18369", "tetris": "25537", "prophet-no-backoff": "15707",
		"prophet": "11290"}
	for _, c := range cases {
		text := func(v []float64) string { return fmt.Sprintf("%.0f", experiment.Mean(v)) }
		rows = append(rows, []string{c.Policy, experiment.Beside(text(c.Makespan), theirs[c.Policy]), text(c.Ran),
			text(c.Took)})
	}
	return rows
}

// Why the bands are what they are, and why figures differ.
const (
	half   = "half of the source's to one and a half times it: its stages and sizes of executors are not printed"
	sign   = "the sign alone: its stages and sizes of executors are not printed"
	madeUp = "the applications' stages are made up"
)

// figures compares the policies with prophet; none unless all were run.
func figures(cases []Case) (all []experiment.Figure) {
	of := map[string]Case{}
	for _, c := range cases {
		of[c.Policy] = c
	}
	if len(of) < len(policies) {
		return nil
	}
	less := func(a, b []float64) (pct []float64) {
		for i := range a {
			pct = append(pct, 100*(1-a[i]/b[i]))
		}
		return pct
	}
	for _, other := range []struct {
		name   string
		theirs float64
	}{{"capacity", 32}, {"drf", 39}, {"tetris", 56}, {"prophet-no-backoff", 28}} {
		all = append(all, experiment.NewFigure("prophet.makespan_gain_pct."+other.name, "%",
			less(of["prophet"].Makespan, of[other.name].Makespan),
			experiment.Claim{Table: "Sec 4.4", Case: "prophet / " + other.name,
				Measure: "makespan, % less", Theirs: other.theirs, Why: madeUp,
				Band: experiment.Within(other.theirs/2, other.theirs*1.5, half)}))
	}
	var ordered []float64
	for seed := range of["prophet"].Makespan {
		var makespans []float64
		for _, name := range []string{"prophet", "prophet-no-backoff", "capacity", "drf", "tetris"} {
			makespans = append(makespans, of[name].Makespan[seed])
		}
		ordered = append(ordered, map[bool]float64{true: 1}[slices.IsSorted(makespans)])
	}
	all = append(all, experiment.NewFigure("prophet.order_ok", "part", ordered,
		experiment.Claim{Table: "Sec 4.4", Case: "all policies",
			Measure: "prophet, without backoff, capacity, drf, tetris is the order of makespans, part of the seeds", Theirs: 1,
			Why: madeUp, Band: experiment.AtLeast(1, "the order is the claim")}))
	for _, pair := range []struct {
		less, more string
		theirs     float64
	}{{"tetris", "prophet", 18}, {"prophet", "capacity", 31}, {"prophet", "drf", 40}} {
		all = append(all, experiment.NewFigure("prophet.execution_gain_pct."+pair.less+"."+pair.more, "%",
			less(of[pair.less].Ran, of[pair.more].Ran), experiment.Claim{Table: "Fig 4.7", Case: pair.less + " / " + pair.more,
				Measure: "median time of execution, % less", Theirs: pair.theirs, Why: madeUp,
				Band: experiment.AtLeast(0.01, sign)}))
	}
	return all
}
