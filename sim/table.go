package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
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
	StageError float64   `json:"stage_error_pct"`
	MeanCores  float64   `json:"mean_cores"`
	CoreRatio  float64   `json:"core_seconds_ratio"`
	Changes    float64   `json:"quota_changes"`
	Variation  float64   `json:"variation"`
	Runs       []Outcome `json:"runs"`
	// several says that Runs are of several applications side by side, and Error
	// the mean of |eps_a| over them.
	several bool
}

// Table is an experiment's outcome.
type Table struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Cells []Cell `json:"cells"`
}

// Options say how an experiment is run.
type Options struct {
	// Laws are the control laws, all if empty; Seeds how often each case is run, 5
	// if 0.
	Laws  []string
	Seeds int
	// Only picks cases whose name contains it.
	Only string
	// Config is what the worlds have in common, Default if nil.
	Config *Config
}

func (o Options) laws() []string {
	if len(o.Laws) == 0 {
		return Laws()
	}
	return o.Laws
}

func (o Options) seeds() int { return cmp.Or(o.Seeds, 5) }

func (o Options) config(law string) (Config, error) { return WithLaw(o.common(), law) }

// common is what the worlds have in common.
func (o Options) common() Config {
	if o.Config != nil {
		return *o.Config
	}
	return Default()
}

// experiments is where a table is entered.
func experiments() []struct {
	name, title string
	run         func(Options) ([]Cell, error)
} {
	return []struct {
		name, title string
		run         func(Options) ([]Cell, error)
	}{
		{"table4", "Table 4: eight applications at the baseline's time, +20 % and +40 %", table4},
		{"exit", "Table 4 at +20 and +40 % with drivers that work, and are due when their process has exited", exits},
		{"lost", "Table 4 at +20 and +40 % where half way to the deadline an executor of four is lost with its outputs", lostOutputs},
		{"runs", "Table 4 at +20 and +40 % where whole runs differ as measured on real Spark", differingRuns},
		{"skew", "Table 5: group-by at +20 % with Zipf-distributed keys", skew},
		{"bytes", "Group-by at +20 % where tasks' bytes follow Zipf's law wholly and their work by 2.8 %", bytesApart},
		{"lone", "Group-by on two cores, of which one task has most, at +20 %", lone},
		{"profile", "Section 7.1: profiles that are wrong, at +20 %", profile},
		{"beta", "Figure 4: the sensitivity to beta at +20 %", beta},
		{"alpha", "Table 4 with alpha 0.95", alpha},
		{"benchmarks", "Benchmarks 1 to 3 (Tables 6 to 9): mean of |error| over three applications", benchmarks},
		{"eq21", "Benchmark 2 with gamma 1 under both readings of Eq 21: mean of |error| over three applications", readings},
	}
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
			return Table{Name: e.name, Title: e.title, Cells: cells}, err
		}
	}
	return Table{}, fmt.Errorf("table %q, want one of %v", name, Tables())
}

// trial is one case of a table.
type trial struct {
	name, figure string
	// profiled is run at all cores for the profile and the deadline, then run under
	// it; revise may change the profile.
	profiled, run Workload
	slack         float64
	revise        func(api.Profile) api.Profile
	tune          func(*Config)  // Of the paced run.
	lost          units.Fraction // When an executor's outputs are lost, of the deadline; 0: never.
	baseline      bool           // The deadline comes from a run of its own at all cores.
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
	outcome Outcome
}

// of returns w's run at all cores, made when it is not there.
func (b baselines) of(c Config, w Workload) (baseline, error) {
	last := w.App.Stages[len(w.App.Stages)-1]
	key := baselineKey{w.Name, last.Zipf, float64(last.Skewed), float64(last.Bytes), c.Seed}
	if done, ok := b[key]; ok {
		return done, nil
	}
	p, o, err := record(c, w)
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
func (t trial) once(c Config, seed uint64, full baselines) (out Outcome, ratio float64, err error) {
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
	out, err = pace(c, t.run, p, base.Duration*units.Seconds(1+t.slack), t.lost)
	if base.CoreSeconds > 0 {
		ratio = out.CoreSeconds / base.CoreSeconds
	}
	return out, ratio, err
}

func (c *Cell) add(o Outcome, ratio float64) {
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
	for _, v := range []*float64{&c.Error, &c.StopError, &c.StageError, &c.MeanCores, &c.CoreRatio, &c.Changes, &c.Variation} {
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

func table4(o Options) ([]Cell, error) {
	var trials []trial
	for _, w := range Workloads() {
		for i, slack := range []int{0, 20, 40} {
			row := paperTable4()[w.Name][i]
			trials = append(trials, trial{name: fmt.Sprintf("%s +%d%%", w.Name, slack),
				figure:   fmt.Sprintf("sim.table4.LAW.%s.%d.error_pct", w.Name, slack),
				profiled: w, run: w, slack: float64(slack) / 100, paper: &row})
		}
	}
	return o.all(trials)
}

// exits is Table 4 with drivers that take a core while they work themselves and a
// second to exit, as on real Spark (0.1 to 1.1 s on an idle machine, 2.8 s on a loaded
// one). The source's tables have neither: it ends an application at its context's stop.
func exits(o Options) ([]Cell, error) {
	return o.slacks("exit", func(t *trial) {
		t.profiled.App.Exit, t.profiled.App.Driver = 1, 1
		t.run = t.profiled
	})
}

// slacks is Table 4 at +20 and +40 %, with each trial changed.
func (o Options) slacks(name string, change func(*trial)) ([]Cell, error) {
	var trials []trial
	for _, w := range Workloads() {
		for _, slack := range []int{20, 40} {
			t := trial{name: fmt.Sprintf("%s +%d%%", w.Name, slack), figure: fmt.Sprintf("sim.%s.LAW.%s.%d.error_pct", name, w.Name, slack),
				profiled: w, run: w, slack: float64(slack) / 100}
			change(&t)
			trials = append(trials, t)
		}
	}
	return o.all(trials)
}

// differingRuns is Table 4 where whole runs, the recorded one too, go as fast as those
// that were measured on real Spark.
func differingRuns(o Options) ([]Cell, error) {
	factors, err := MeasuredRuns()
	if err != nil {
		return nil, err
	}
	c := o.common()
	c.Plant.Runs = factors
	o.Config = &c
	return o.slacks("runs", func(*trial) {})
}

// lostOutputs is Table 4 where half way to the deadline one executor of four is lost
// with what it has written: what is read again is written again, by second attempts.
func lostOutputs(o Options) ([]Cell, error) {
	return o.slacks("lost", func(t *trial) { t.lost = 0.5 })
}

func skew(o Options) ([]Cell, error) {
	var trials []trial
	for i, s := range []float64{1, 2, 3} {
		row := paperSkew()[i]
		trials = append(trials, trial{name: fmt.Sprintf("group-by +20%% s=%g", s), figure: fmt.Sprintf("sim.skew.LAW.%g.error_pct", s),
			profiled: skewed(s, skewShare), run: skewed(s, skewShare), slack: 0.2, paper: &row})
	}
	return o.all(trials)
}

// bytesApart is skew where bytes follow the groups' sizes wholly, whatever they cost: what
// weights are worth that say little of the work.
func bytesApart(o Options) ([]Cell, error) {
	var trials []trial
	for _, s := range []float64{1, 2, 3} {
		w := skewed(s, skewShare)
		w.App.Stages[len(w.App.Stages)-1].Bytes = 1
		trials = append(trials, trial{name: fmt.Sprintf("group-by +20%% s=%g", s), figure: fmt.Sprintf("sim.bytes.LAW.%g.error_pct", s),
			profiled: w, run: w, slack: 0.2})
	}
	return o.all(trials)
}

// profile runs group-by with a profile of other data (the source's two cases), and
// with durations and rates that are wrong by 30 % either way.
func profile(o Options) ([]Cell, error) {
	even, _ := FindWorkload("group-by")
	uneven := skewed(0.5, 1)
	mild, backwards := paperProfile()[0], paperProfile()[1]
	trials := []trial{
		{name: "uniform, run s=0.5", figure: "sim.profile.LAW.uniform_run_skewed.error_pct", profiled: even, run: uneven, slack: 0.2, baseline: true, paper: &mild},
		{name: "s=0.5, run uniform", figure: "sim.profile.LAW.skewed_run_uniform.error_pct", profiled: uneven, run: even, slack: 0.2, baseline: true, paper: &backwards},
	}
	for _, wrong := range []struct {
		name             string
		durations, rates float64
	}{{"durations_high", 1.3, 1}, {"durations_low", 0.7, 1}, {"rates_high", 1, 1.3}, {"rates_low", 1, 0.7}} {
		trials = append(trials, trial{name: wrong.name, figure: "sim.profile.LAW." + wrong.name + ".error_pct", profiled: even, run: even, slack: 0.2,
			revise: func(p api.Profile) api.Profile { return distort(p, wrong.durations, wrong.rates) }})
	}
	return o.all(trials)
}

// distort makes every second stage of a profile wrong, in opposite directions: a
// common factor would say nothing about how time is divided.
func distort(p api.Profile, durations, rates float64) api.Profile {
	p.Stages = slices.Clone(p.Stages)
	for i := range p.Stages {
		s := &p.Stages[i]
		if i%2 == 0 {
			s.Duration *= units.Seconds(durations)
		}
		s.NominalRate *= units.Rate(rates)
		s.CoreSeconds /= units.Work(rates)
	}
	return p
}

func sortedIDs[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
