package paper

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// composite is a benchmark of several applications that come after each other.
type composite struct {
	name string
	apps []composed
	// paper is the mean of |eps_a| by strategy, for gamma 0 and 1; 0 is unknown.
	paper map[string][2]float64
	// size multiplies the work of its applications.
	size float64
}

type composed struct {
	name         string
	at, deadline units.Seconds
}

// overload is how much larger the applications of Benchmark 3 are: the source does
// not say their size, but that no strategy can meet all three deadlines. It is
// fitted so that EDF_pure under the paper's law errs as much as Table 9 says.
const overload = 1.2

// times returns w with that many times the work and the records.
func times(w plant.App, size float64) plant.App {
	w.Stages = slices.Clone(w.Stages)
	for i := range w.Stages {
		s := &w.Stages[i]
		s.Work *= units.Work(size)
		s.Records, s.Written = int64(float64(s.Records)*size), int64(float64(s.Written)*size)
	}
	return w
}

// composites are Benchmarks 1 to 3 (Tables 6 to 9 of the source).
func composites() []composite {
	return []composite{
		{"bench1", []composed{{"pagerank", 0, 300}, {"kmeans", 40, 300}, {"svm", 80, 120}},
			map[string][2]float64{"edf-pure": {experiment.Mean(paperTable6()["edf-pure g=0"]), 0},
				"edf-all": {0, experiment.Mean(paperTable6()["edf-all g=1"])}}, 1},
		{"bench2", []composed{{"pagerank", 0, 250}, {"kmeans", 40, 160}, {"svm", 80, 250}},
			map[string][2]float64{"edf-all": {12.4, 37.2}, "edf-pure": {6.6, 12.0}, "edf-prop": {6.7, 17.1},
				"proportional": {6.8, 13.7}, "speed": {5.5, 18.1}}, 1},
		{"bench3", []composed{{"aggr-by-key", 0, 120}, {"group-by", 40, 200}, {"aggr-by-key-int", 80, 160}},
			map[string][2]float64{"edf-all": {20.2, 24.4}, "edf-pure": {10.8, 11.5}, "edf-prop": {11.0, 10.8},
				"proportional": {12.6, 11.7}, "speed": {13.6, 11.5}}, overload},
	}
}

// benchmarks are the composites with every strategy and gamma 0 and 1. The error
// of a cell is the mean of |eps_a| over its applications, Late counts those that
// were late.
func benchmarks(o setup) (all []attempt, err error) {
	for _, law := range o.laws() {
		for _, b := range composites() {
			for _, strategy := range supervisor.Strategies() {
				for gamma := range 2 {
					name := fmt.Sprintf("%s %s g=%d", b.name, strategy, gamma)
					figure := fmt.Sprintf("sim.benchmarks.%s.%s.%s.%d.mean_abs_error_pct", law, b.name, strategy, gamma)
					a, err := o.compose(Cell{Law: law, Case: name, Figure: figure, several: true}, b, strategy, gamma, "")
					if err != nil {
						return nil, err
					}
					all = append(all, a)
				}
			}
		}
	}
	return all, nil
}

// readings are Benchmark 2 with gamma 1, where the reading of Eq 21 counts, under
// each reading.
func readings(o setup) (all []attempt, err error) {
	for _, law := range o.laws() {
		for _, reading := range supervisor.Eq21Readings() {
			for _, strategy := range supervisor.Strategies() {
				name := fmt.Sprintf("bench2 %s g=1 %s", strategy, reading)
				figure := fmt.Sprintf("sim.eq21.%s.%s.%s.mean_abs_error_pct", law, reading, strategy)
				a, err := o.compose(Cell{Law: law, Case: name, Figure: figure, several: true}, composites()[1], strategy, 1,
					reading)
				if err != nil {
					return nil, err
				}
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// compose is a composite as a case; reading is that of Eq 21, the law's own if it is "".
func (o setup) compose(cell Cell, b composite, strategy string, gamma int, reading string) (attempt, error) {
	if p := b.paper[strategy][gamma]; p > 0 {
		cell.Paper = &p
	}
	c, err := o.config(cell.Law)
	c.Node.Supervisor.Strategy, c.Node.Supervisor.Gamma = strategy, float64(gamma)
	c.Node.Supervisor.Eq21 = cmp.Or(reading, c.Node.Supervisor.Eq21)
	return attemptOf(cell, func(seed int) (g gave, err error) {
		c := c
		c.Seed = 1000 * (uint64(seed) + 1)
		g.runs, err = b.run(c)
		return g, err
	}), err
}

// run runs a composite in a world of cfg.
func (b composite) run(cfg sim.Config) (runs []sim.Outcome, err error) {
	var profiles []api.Profile
	for _, a := range b.apps {
		w, err := FindWorkload(a.name)
		if err != nil {
			return nil, err
		}
		p, _, err := sim.Record(cfg, times(w, b.size))
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, p)
	}
	cfg.Seed += 10
	world, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	var drivers []*sim.Driver
	for i, a := range b.apps {
		w, _ := FindWorkload(a.name) // Found above.
		if err := world.PutProfile(profiles[i]); err != nil {
			return nil, err
		}
		w = times(w, b.size)
		w.Deadline = a.deadline
		d, err := world.Submit(world.Now()+a.at, w)
		if err != nil {
			return nil, err
		}
		drivers = append(drivers, d)
	}
	if err := world.Run(); err != nil {
		return nil, err
	}
	for _, d := range drivers {
		out, err := d.Outcome()
		if err != nil {
			return nil, err
		}
		runs = append(runs, out)
	}
	return runs, nil
}
