package zoe

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/units"
)

// Case is what a way gave: a number for each seed.
type Case struct {
	Rule  string `json:"rule"`
	Order string `json:"order"`
	// Elastic, Rigid and Batch are median turnarounds: of applications that are not rigid, of rigid ones, and of
	// all that nobody waits for. Applications that are due are left out: their deadline is their turnaround under any
	// way.
	Elastic []float64 `json:"elastic_s"`
	Rigid   []float64 `json:"rigid_s"`
	Batch   []float64 `json:"batch_s"`
	// Waits is how long interactive ones wait in the mean, Met how many deadlines are met.
	Waits []float64 `json:"interactive_wait_s"`
	Met   []float64 `json:"met"`
}

// title is the table's.
const title = "Zoe: 100 applications on ten nodes of two units, by rule and order"

// Experiments are one, whose cases are compared and run together.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{Name: "zoe", Title: title, Source: "000", Section: "3.5",
		Takes: []string{experiment.Seeds}, Run: Run, Cases: func(experiment.Options) (names []string, err error) {
			for _, by := range ways() {
				names = append(names, by.rule+" "+by.order)
			}
			return names, nil
		}}}
}

// Run runs the traces of as many seeds under each way, 12 where nothing is said.
func Run(o experiment.Options) (experiment.Table, error) {
	t := experiment.Table{Title: title}
	var known map[string]alone
	var err error
	if !o.Listed {
		if known, err = runAlone(config(o, 0, way{assign.Backfill, assign.EDF})); err != nil {
			return t, err
		}
	}
	var all []experiment.Case[Case, traced]
	for _, by := range ways() {
		all = append(all, experiment.Case[Case, traced]{Name: by.rule + " " + by.order,
			Of:  Case{Rule: by.rule, Order: by.order},
			Run: func(seed int) (traced, error) { return run(config(o, uint64(seed), by), known) }})
	}
	o.Seeds = cmp.Or(o.Seeds, 12)
	if all, err = experiment.RunAll(o, all); err != nil {
		return t, err
	}
	var cases []Case
	for _, c := range all {
		of := func(f func(traced) float64) []float64 { return experiment.Each(c.Runs, f) }
		c.Of.Elastic = of(func(t traced) float64 {
			return experiment.Median(slices.Concat(t.took[elastic], t.took[interactive]))
		})
		c.Of.Rigid = of(func(t traced) float64 { return experiment.Median(t.took[rigid]) })
		c.Of.Batch = of(func(t traced) float64 { return experiment.Median(slices.Concat(t.took[elastic], t.took[rigid])) })
		c.Of.Waits = of(func(t traced) float64 { return t.waits / float64(len(t.took[interactive])) })
		c.Of.Met = of(func(t traced) float64 { return t.met })
		cases = append(cases, c.Of)
	}
	t.Cells, t.Figures = cases, figures(cases)
	t.Rows = [][][]string{rows(cases), experiment.FigureRows(t.Figures, "%.2f", "CASE", "MEASURE")}
	t.Draw = func(files ...string) error { return draw(cases, files) }
	return t, nil
}

// way is a rule and an order by which units are granted.
type way struct{ rule, order string }

// ways are those that are compared, in the order of the table.
func ways() []way {
	return []way{{assign.Rigid, assign.FIFO}, {assign.Flexible, assign.FIFO}, {assign.Backfill, assign.EDF},
		{assign.FlexiblePreemptive, assign.EDF}}
}

func config(o experiment.Options, seed uint64, by way) sim.Config {
	c := sim.Default()
	c.Seed, c.Nodes, c.Stop = 1000*(seed+1), nodes(), o.Stop
	c.Planner.Queue.Rule, c.Planner.Queue.Order = by.rule, by.order
	return c
}

// alone is what a flavour showed with nothing beside it.
type alone struct {
	profile  api.Profile
	duration units.Seconds
}

// runAlone runs each flavour alone.
func runAlone(c sim.Config) (map[string]alone, error) {
	all := map[string]alone{}
	for _, a := range slices.Concat(flavours()...) {
		if _, done := all[a.Name]; done {
			continue
		}
		p, o, err := sim.Record(c, a)
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", a.Name, err)
		}
		all[a.Name] = alone{p, o.Duration}
	}
	return all, nil
}

// traced is what became of the applications of one trace: turnarounds by kind, the sum of what interactive ones waited,
// and how many deadlines were met.
type traced struct {
	took       [kinds][]float64
	waits, met float64
}

// run runs the trace of c's seed.
func run(c sim.Config, known map[string]alone) (t traced, fault error) {
	w, err := sim.New(c)
	if err != nil {
		return t, err
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		p := known[name].profile
		p.Stages = slices.Clone(p.Stages) // A planner may change what it is given.
		if err := w.PutProfile(p); err != nil {
			return t, err
		}
	}
	all, drivers := trace(c.Seed), []*sim.Driver(nil)
	for _, a := range all {
		a.app.Deadline = known[a.app.Name].duration * units.Seconds(a.factor)
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
		fault = errors.Join(fault, err)
		t.took[all[i].kind] = append(t.took[all[i].kind], float64(o.Duration))
		switch {
		case all[i].kind == interactive:
			t.waits += float64(o.Waited)
		case all[i].kind == due && o.Error >= 0:
			t.met++
		}
	}
	return t, fault
}
