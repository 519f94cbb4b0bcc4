package unknown

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Count is how many applications there are of a kind, and how many of these are in time.
type Count struct {
	All int `json:"all"`
	Met int `json:"met"`
}

// add counts an application.
func (c *Count) add(met bool) {
	c.All++
	if met {
		c.Met++
	}
}

// Trace is what became of the applications of one trace: of all, of the new ones, and of the new ones for which cores
// were reserved. Feasible are the known ones whose deadline the planner called feasible when they came.
type Trace struct {
	Any      Count `json:"any"`
	New      Count `json:"new"`
	Reserved Count `json:"reserved"`
	Feasible Count `json:"feasible"`
}

// Case is what an admission gave under a load, a Trace for each seed.
type Case struct {
	Load      string  `json:"load"` // It is in Loads.
	Admission string  `json:"admission"`
	Traces    []Trace `json:"traces"`
}

// Experiments are one, whose cases are compared and run together.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{Name: "unknown", Title: title, Takes: []string{experiment.Seeds}, Run: Run,
		Cases: func(experiment.Options) (names []string, err error) { return assign.Admissions(), nil }}}
}

// title is the table's.
var title = fmt.Sprintf("%d applications with deadlines on 4 nodes of 16 cores, half of them new, by admission", count)

// Run runs the traces of as many seeds under each load and admission, 12 where nothing is said.
func Run(o experiment.Options) (experiment.Table, error) {
	t := experiment.Table{Title: title}
	var known []alone
	var err error
	if !o.Listed {
		if known, err = runAlone(config(o, 0, assign.Open)); err != nil {
			return t, err
		}
	}
	var all []experiment.Case[Case, Trace]
	for _, load := range Loads() {
		for _, by := range assign.Admissions() {
			all = append(all, experiment.Case[Case, Trace]{Name: by + ", " + load, Of: Case{Load: load, Admission: by},
				Run: func(seed int) (Trace, error) { return run(config(o, uint64(seed), by), known, load) }})
		}
	}
	o.Seeds = cmp.Or(o.Seeds, 12)
	if all, err = experiment.RunAll(o, all); err != nil {
		return t, err
	}
	var cases []Case
	for _, c := range all {
		c.Of.Traces = c.Runs
		cases = append(cases, c.Of)
	}
	for of := range slices.Chunk(cases, len(assign.Admissions())) {
		t.Figures = append(t.Figures, figures(of)...)
	}
	t.Cells, t.Rows = cases, [][][]string{rows(cases), experiment.FigureRows(t.Figures, "%.2f", "MEASURE")}
	return t, nil
}

func config(o experiment.Options, seed uint64, admission string) sim.Config {
	c := sim.Default()
	c.Seed, c.Stop, c.Planner.Queue.Admission = 1000*(seed+1), o.Stop, admission
	return c
}

// cores are those of all nodes.
func cores(c sim.Config) (all float64) {
	for _, n := range c.Nodes {
		all += float64(n.Cores)
	}
	return all
}

// run runs the trace of c's seed under a load.
func run(c sim.Config, known []alone, load string) (t Trace, fault error) {
	w, err := sim.New(c)
	if err != nil {
		return t, err
	}
	for _, k := range known {
		p := k.profile
		p.Stages = slices.Clone(p.Stages) // A planner may change what it is given.
		if err := w.PutProfile(p); err != nil {
			return t, err
		}
	}
	all, drivers := trace(c.Seed, known, cores(c), load), []*sim.Driver(nil)
	for _, a := range all {
		d, err := w.Submit(w.Now()+a.at, a.app)
		if err != nil {
			return t, err
		}
		drivers = append(drivers, d)
	}
	if err := w.Run(); err != nil {
		return t, err
	}
	for i, d := range drivers {
		o, err := d.Outcome()
		if err != nil {
			fault = errors.Join(fault, err)
			continue
		}
		met := o.Error >= 0
		t.Any.add(met)
		switch {
		case all[i].new:
			t.New.add(met)
			if o.Reserved {
				t.Reserved.add(met)
			}
		case o.Verdict == api.VerdictFeasible:
			t.Feasible.add(met)
		}
	}
	return t, fault
}
