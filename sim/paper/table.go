package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim"
	"github.com/sparkpacer/pacer/sim/experiment"
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

// setup is how an experiment is run, and what its worlds have in common.
type setup struct {
	experiment.Options
	base sim.Config
}

func (o setup) laws() []string {
	if len(o.Laws) == 0 {
		return sim.Laws()
	}
	return slices.DeleteFunc(sim.Laws(), func(law string) bool { return !slices.Contains(o.Laws, law) })
}

func (o setup) config(law string) (sim.Config, error) { return sim.WithLaw(o.base, law) }

// attempt is a case under a law: each seed gives outcomes and the core-seconds of them over those of the run at all
// cores, 0 where there is none.
type attempt = experiment.Case[Cell, gave]

type gave struct {
	runs  []sim.Outcome
	ratio float64
}

// attemptOf is the case of a cell, whose name is the law's with it.
func attemptOf(c Cell, run func(seed int) (gave, error)) attempt {
	return attempt{Name: c.Case + " under " + c.Law, Of: c, Run: run}
}

// Run gives the cells of the experiment of that name.
func Run(name string, o experiment.Options) ([]Cell, error) {
	e, err := experiment.Named(Experiments(), name)
	if err != nil {
		return nil, err
	}
	t, err := e.Run(o)
	cells, _ := t.Cells.([]Cell)
	return cells, err
}

// attempts are the cases of e that o picks.
func (e entry) attempts(o experiment.Options) ([]attempt, error) {
	base := sim.Default()
	base.Stop = o.Stop
	for _, law := range o.Laws {
		if !slices.Contains(sim.Laws(), law) {
			return nil, fmt.Errorf("law %q, want one of %v", law, sim.Laws())
		}
	}
	all, err := e.cases(setup{o, base})
	return slices.DeleteFunc(all, func(a attempt) bool {
		return !strings.Contains(a.Of.Case, o.Only) && a.Of.Case != allRules
	}), err
}

// run runs the cases.
func (e entry) run(o experiment.Options) (experiment.Table, error) {
	t := experiment.Table{Name: e.name, Title: e.title}
	o.Seeds = cmp.Or(o.Seeds, usualSeeds)
	all, err := e.attempts(o)
	if err != nil {
		return t, err
	}
	o.Only = ""
	all, err = experiment.Run(o, all)
	var cells []Cell
	for _, a := range all {
		a.Of.take(a.Runs)
		cells = append(cells, a.Of)
		if c := a.Of; c.Figure != "" && err == nil {
			f := experiment.NewFigure(c.Figure, "%", experiment.Each(c.Runs, c.error), experiment.Claim{Measure: c.Case})
			f.InCells = true
			t.Figures = append(t.Figures, f)
		}
	}
	t.Cells, t.Rows = cells, [][][]string{rows(cells)}
	if e.name == ablated {
		t.Rows[0] = EffectRows(cells, o.Seeds)
	}
	t.Draw = func(files ...string) error { return draw(e.title, cells, files) }
	return t, err
}

// usualSeeds is how often each case is run where nothing is said.
const usualSeeds = 5

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
type baselines struct{ made sync.Map }

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
func (b *baselines) of(c sim.Config, w plant.App) (baseline, error) {
	last := w.Stages[len(w.Stages)-1]
	key := baselineKey{w.Name, last.Zipf, float64(last.Skewed), float64(last.Bytes), c.Seed}
	once, _ := b.made.LoadOrStore(key, sync.OnceValues(func() (baseline, error) {
		p, o, err := sim.Record(c, w)
		return baseline{p, o}, err
	}))
	return once.(func() (baseline, error))()
}

// once runs a case with one seed; ratio is its core-seconds over the baseline's.
func (t trial) once(c sim.Config, seed uint64, full *baselines) (out sim.Outcome, ratio float64, err error) {
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

// take makes up the cell of what all seeds gave.
func (c *Cell) take(all []gave) {
	for _, g := range all {
		for _, o := range g.runs {
			c.add(o, g.ratio)
		}
	}
	n := float64(max(1, len(c.Runs)))
	for _, v := range []*float64{&c.Error, &c.StopError, &c.StageError, &c.MeanCores, &c.CoreRatio, &c.Changes,
		&c.Variation} {
		*v /= n
	}
}

// error is what the cell's error is the mean of.
func (c *Cell) error(o sim.Outcome) float64 {
	if c.several {
		return math.Abs(o.Error)
	}
	return o.Error
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
	c.Error += c.error(o) - o.Error
	c.StopError += o.StopError
	c.StageError += o.StageError
	c.MeanCores += o.MeanCores
	c.CoreRatio += ratio
	c.Changes += float64(o.Changes)
	c.Variation += o.Variation
}

// all are the trials under all laws.
func (o setup) all(trials []trial) (all []attempt, err error) {
	for _, law := range o.laws() {
		c, err := o.config(law)
		if err != nil {
			return nil, err
		}
		full := &baselines{}
		for _, t := range trials {
			cell := Cell{Law: law, Case: t.name, Figure: strings.ReplaceAll(t.figure, "LAW", law)}
			if p := t.paper; p != nil {
				cell.Paper, cell.PaperStage, cell.PaperCores = p.err, p.stage, p.cores
			}
			all = append(all, attemptOf(cell, func(seed int) (gave, error) {
				out, ratio, err := t.once(c, uint64(seed), full)
				return gave{[]sim.Outcome{out}, ratio}, err
			}))
		}
	}
	return all, nil
}
