package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/units"
)

// Cell is one line of a table: what an experiment gave under one law, over its
// seeds, and what the source says of it.
type Cell struct {
	Law  string `json:"law"`
	Case string `json:"case"`
	// Figure is the name of its error among the figures of `make bench`.
	Figure string `json:"figure"`
	// Paper is the source's error, NaN-free: nil where it has none. PaperStage and
	// PaperCores are its mean stage error and mean cores.
	Paper      *float64 `json:"paper_error_pct,omitempty"`
	PaperStage *float64 `json:"paper_stage_error_pct,omitempty"`
	PaperCores *float64 `json:"paper_mean_cores,omitempty"`
	// Error is the mean of eps_a over the seeds, Least and Most its range, Late
	// how many of them were late.
	Error float64 `json:"error_pct"`
	Least float64 `json:"least_pct"`
	Most  float64 `json:"most_pct"`
	Late  int     `json:"late"`
	// StopError is the mean error at the context's stop, which is the source's.
	StopError float64 `json:"stop_error_pct"`
	// The rest are means over the seeds.
	StageError float64       `json:"stage_error_pct"`
	MeanCores  float64       `json:"mean_cores"`
	CoreRatio  float64       `json:"core_seconds_ratio"`
	Changes    float64       `json:"quota_changes"`
	Variation  float64       `json:"variation"`
	Runs       []sim.Outcome `json:"runs"`
	// several says that Runs are of several applications side by side, and Error
	// the mean of |eps_a| over them.
	several bool
}

// Table is an experiment's outcome.
type Table struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Cells []Cell `json:"cells"`
	seeds int
}

// Options say how an experiment is run.
type Options struct {
	// Laws are the control laws, all if empty; Seeds how often each case is run, 5
	// if 0.
	Laws  []string
	Seeds int
	// Only picks cases whose name contains it.
	Only string
	// Config is what the worlds have in common, sim.Default if nil.
	Config *sim.Config
}

func (o Options) laws() []string {
	if len(o.Laws) == 0 {
		return sim.Laws()
	}
	return o.Laws
}

func (o Options) seeds() int { return cmp.Or(o.Seeds, 5) }

func (o Options) config(law string) (sim.Config, error) { return sim.WithLaw(o.common(), law) }

// common is what the worlds have in common.
func (o Options) common() sim.Config {
	if o.Config != nil {
		return *o.Config
	}
	return sim.Default()
}

// Tables are the names of the experiments.
func Tables() []string {
	var names []string
	for _, e := range experiments() {
		names = append(names, e.name)
	}
	return names
}

// Run runs the experiment of that name.
func Run(name string, o Options) (Table, error) {
	for _, e := range experiments() {
		if e.name == name {
			cells, err := e.run(o)
			return Table{Name: e.name, Title: e.title, Cells: cells, seeds: o.seeds()}, err
		}
	}
	return Table{}, fmt.Errorf("table %q, want one of %v", name, Tables())
}

// trial is one case of a table.
type trial struct {
	name, figure string
	// profiled is run at all cores for the profile and the deadline, then run under
	// it; revise may change the profile.
	profiled, run plant.App
	slack         float64
	revise        func(api.Profile) api.Profile
	tune          func(*sim.Config) // Of the paced run.
	lost          units.Fraction    // When an executor's outputs are lost, of the deadline; 0: never.
	baseline      bool              // The deadline comes from a run of its own at all cores.
	paper         *paperRow
}

// baselines keeps the runs at all cores of one law, which many cases share.
type baselines map[baselineKey]baseline

type baselineKey struct {
	app                 string
	zipf, skewed, bytes float64
	seed                uint64
}

type baseline struct {
	profile api.Profile
	outcome sim.Outcome
}

// of returns w's run at all cores, made when it is not there.
func (b baselines) of(c sim.Config, w plant.App) (baseline, error) {
	last := w.Stages[len(w.Stages)-1]
	key := baselineKey{w.Name, last.Zipf, float64(last.Skewed), float64(last.Bytes), c.Seed}
	if done, ok := b[key]; ok {
		return done, nil
	}
	p, o, err := sim.Record(c, w)
	if err == nil {
		b[key] = baseline{p, o}
	}
	return baseline{p, o}, err
}

// try runs one case under one law with all seeds.
func (o Options) try(law string, t trial, full baselines) (Cell, error) {
	cell := Cell{Law: law, Case: t.name, Figure: strings.ReplaceAll(t.figure, "LAW", law)}
	c, err := o.config(law)
	if err != nil {
		return cell, err
	}
	for seed := range o.seeds() {
		out, ratio, err := t.once(c, uint64(seed), full)
		if err != nil {
			return cell, fmt.Errorf("%s under %s: %w", t.name, law, err)
		}
		cell.add(out, ratio)
	}
	cell.conclude()
	if p := t.paper; p != nil {
		cell.Paper, cell.PaperStage, cell.PaperCores = p.err, p.stage, p.cores
	}
	return cell, nil
}

// once runs a case with one seed; ratio is its core-seconds over the baseline's.
func (t trial) once(c sim.Config, seed uint64, full baselines) (out sim.Outcome, ratio float64, err error) {
	c.Seed = 1000 * (seed + 1)
	recorded, err := full.of(c, t.profiled)
	if err != nil {
		return out, 0, err
	}
	p, base := recorded.profile, recorded.outcome
	p.Stages = slices.Clone(p.Stages) // A planner may change what it is given.
	if t.baseline {
		c.Seed++
		if recorded, err = full.of(c, t.run); err != nil {
			return out, 0, err
		}
		base = recorded.outcome
	}
	if t.revise != nil {
		p = t.revise(p)
	}
	if t.tune != nil {
		t.tune(&c)
	}
	c.Seed += 10
	app := t.run
	app.Deadline = base.Duration * units.Seconds(1+t.slack)
	out, err = sim.Pace(c, app, p, t.lost)
	if base.CoreSeconds > 0 {
		ratio = out.CoreSeconds / base.CoreSeconds
	}
	return out, ratio, err
}

func (c *Cell) add(o sim.Outcome, ratio float64) {
	if len(c.Runs) == 0 {
		c.Least, c.Most = o.Error, o.Error
	}
	c.Runs = append(c.Runs, o)
	c.Least, c.Most = min(c.Least, o.Error), max(c.Most, o.Error)
	if o.Error < 0 {
		c.Late++
	}
	c.Error += o.Error
	c.StopError += o.StopError
	c.StageError += o.StageError
	c.MeanCores += o.MeanCores
	c.CoreRatio += ratio
	c.Changes += float64(o.Changes)
	c.Variation += o.Variation
}

func (c *Cell) conclude() {
	n := float64(max(1, len(c.Runs)))
	for _, v := range []*float64{&c.Error, &c.StopError, &c.StageError, &c.MeanCores, &c.CoreRatio, &c.Changes,
		&c.Variation} {
		*v /= n
	}
}

// all runs the trials under all laws.
func (o Options) all(trials []trial) ([]Cell, error) {
	var cells []Cell
	for _, law := range o.laws() {
		full := baselines{}
		for _, t := range trials {
			if !strings.Contains(t.name, o.Only) {
				continue
			}
			cell, err := o.try(law, t, full)
			if err != nil {
				return cells, err
			}
			cells = append(cells, cell)
		}
	}
	return cells, nil
}
