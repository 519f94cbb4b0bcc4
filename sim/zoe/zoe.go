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
	"github.com/sparkpacer/pacer/units"
)

// Case is what a way gave: a number for each seed.
type Case struct {
	Rule  string `json:"rule"`
	Order string `json:"order"`
	// Elastic, Rigid and Batch are median turnarounds: of those that are not rigid, of those that are, and of
	// all that nobody waits for; without those that are due, whose deadline is their turnaround under any way.
	Elastic []float64 `json:"elastic_s"`
	Rigid   []float64 `json:"rigid_s"`
	Batch   []float64 `json:"batch_s"`
	// Waits is how long interactive ones wait in the mean, Met how many deadlines are met.
	Waits []float64 `json:"interactive_wait_s"`
	Met   []float64 `json:"met"`
}

// Options say how the table is made.
type Options struct {
	// Seeds is how many traces are run, 12 if 0. Stop, when it is closed, ends it (sim.Config.Stop).
	Seeds int
	Stop  <-chan struct{}
}

// Table is what all ways gave.
type Table struct {
	Title   string   `json:"title"`
	Cases   []Case   `json:"cases"`
	Figures []Figure `json:"figures"`
}

// Run runs the traces of as many seeds under each way. The same Options give the same Table.
func Run(o Options) (Table, error) {
	t := Table{Title: "Zoe: 100 applications on ten nodes of two units, by rule and order"}
	alone, err := runAlone(o.config(0, way{assign.Backfill, assign.EDF}))
	if err != nil {
		return t, err
	}
	for _, by := range ways() {
		c := Case{Rule: by.rule, Order: by.order}
		for seed := range cmp.Or(o.Seeds, 12) {
			if err := c.add(o.config(uint64(seed), by), alone); err != nil {
				return t, fmt.Errorf("%s %s, seed %d: %w", by.rule, by.order, seed, err)
			}
		}
		t.Cases = append(t.Cases, c)
	}
	t.Figures = figures(t.Cases)
	return t, nil
}

// way is a rule and an order by which units are granted.
type way struct{ rule, order string }

// ways are those that are compared, in the order of the table.
func ways() []way {
	return []way{{assign.Rigid, assign.FIFO}, {assign.Flexible, assign.FIFO}, {assign.Backfill, assign.EDF},
		{assign.FlexiblePreemptive, assign.EDF}}
}

func (o Options) config(seed uint64, by way) sim.Config {
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

// add runs the trace of c's seed.
func (t *Case) add(c sim.Config, known map[string]alone) error {
	w, err := sim.New(c)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		p := known[name].profile
		p.Stages = slices.Clone(p.Stages) // A planner may change what it is given.
		if err := w.PutProfile(p); err != nil {
			return err
		}
	}
	all, drivers := trace(c.Seed), []*sim.Driver(nil)
	for _, a := range all {
		a.app.Deadline = known[a.app.Name].duration * units.Seconds(a.factor)
		d, err := w.Submit(w.Now()+a.at, a.app)
		if err != nil {
			return err
		}
		drivers = append(drivers, d)
	}
	if err := w.Run(); err != nil {
		return err
	}
	return t.take(all, drivers)
}

// take takes what became of a trace's applications.
func (t *Case) take(all []comes, drivers []*sim.Driver) (fault error) {
	took, waits, met := [kinds][]float64{}, 0.0, 0.0
	for i, d := range drivers {
		o, err := d.Outcome()
		fault = errors.Join(fault, err)
		took[all[i].kind] = append(took[all[i].kind], float64(o.Duration))
		switch {
		case all[i].kind == interactive:
			waits += float64(o.Waited)
		case all[i].kind == due && o.Error >= 0:
			met++
		}
	}
	t.Elastic = append(t.Elastic, median(slices.Concat(took[elastic], took[interactive])))
	t.Rigid = append(t.Rigid, median(took[rigid]))
	t.Batch = append(t.Batch, median(slices.Concat(took[elastic], took[rigid])))
	t.Waits, t.Met = append(t.Waits, waits/float64(len(took[interactive]))), append(t.Met, met)
	return fault
}
