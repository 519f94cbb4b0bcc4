package fluid

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/assign/scores"
	"github.com/sparkpacer/pacer/sim/experiment"
	"github.com/sparkpacer/pacer/units"
)

// ReserveRun is what one trace gave under one rule.
type ReserveRun struct {
	SDR        float64 `json:"sdr"`
	PTR        float64 `json:"ptr"`
	WTR        float64 `json:"wtr"`
	WTRPrinted float64 `json:"wtr_printed"`
	Jain       float64 `json:"jain"`
	Equality   float64 `json:"equality"`
}

// ReserveCell is a rule with a generator of deadlines on so many CPUs, over its seeds. A rule that is not read as usual
// says how.
type ReserveCell struct {
	Rule      string       `json:"rule"`
	Generator string       `json:"generator"`
	CPUs      int          `json:"cpus"`
	Runs      []ReserveRun `json:"runs"`
	policy    assign.Policy
}

// Case is the cell's name.
func (c ReserveCell) Case() string { return fmt.Sprintf("%s %s %d", c.Rule, c.Generator, c.CPUs) }

// Usual reports whether its rule is read as the others are.
func (c ReserveCell) Usual() bool { return slices.Contains(assign.Reserving(), c.Rule) }

// frozen follows the names of fs and fs-reactive where they give a job units once only.
const frozen = ", frozen"

// several follows the name of justice where jobs of one task are left out of the mean error, which is tried with
// aria2x4x, too.
const several = ", one task left out"

// readings are the other readings of the source, tried with two generators on the first cluster.
func readings() []ReserveCell {
	of := func(says, rule string, r assign.Reading) ReserveCell {
		return ReserveCell{Rule: rule + says, policy: assign.Policy{Rule: rule, Reading: r}}
	}
	once, first := assign.Reading{Frozen: true}, assign.Reading{Bootstrap: 1}
	return []ReserveCell{of(", from 1 end", assign.Pythia, first), of(", from 1 end", assign.Justice, first),
		of(", recent errors", assign.Justice, assign.Reading{Recent: 0.2}),
		of(", violators of 100", assign.Justice, assign.Reading{Violators: 100}),
		of(", ended ones teach", assign.Justice, assign.Reading{Truncated: true}),
		of(several, assign.Justice, assign.Reading{Several: true}),
		of(frozen, assign.FS, once), of(frozen, assign.FSReactive, once)}
}

// reserveCells are those of so many clusters.
func reserveCells(clusters []int) (all []ReserveCell) {
	add := func(c ReserveCell, generator string, cpus int) {
		c.Generator, c.CPUs, c.policy.Order = generator, cpus, assign.FIFO
		all = append(all, c)
	}
	for i, cpus := range clusters {
		for _, d := range Generators() {
			for _, rule := range assign.Reserving() {
				add(ReserveCell{Rule: rule, policy: assign.Policy{Rule: rule}}, d.Name, cpus)
			}
			for _, c := range readings() {
				most := d.Name == "aria2x4x" && c.policy.Reading.Several
				if i == 0 && (most || slices.Contains([]string{"fixed2x", "jockey1x2x"}, d.Name)) {
					add(c, d.Name, cpus)
				}
			}
		}
	}
	return all
}

// clusters are those of o, the source's where there are none.
func clusters(o experiment.Options) []int {
	if len(o.CPUs) == 0 {
		return []int{2250, 4500, 15000}
	}
	return o.CPUs
}

// experiment compares the rules on a trace, on each number of CPUs.
func (m Made) experiment() experiment.Experiment {
	rules, generators := strings.Join(assign.Reserving(), ", "), strings.Join(GeneratorNames(), ", ")
	e := experiment.Experiment{Name: m.Name, Run: m.run,
		Title:  strings.ToUpper(m.Name) + ": jobs with deadlines whose work nobody knows",
		Takes:  []string{experiment.CPUs, experiment.Full, experiment.Only, experiment.Seeds},
		Naming: "RULE DEADLINES CPUS, of " + rules + "; " + generators,
		Cases: func(o experiment.Options) (names []string, err error) {
			for _, c := range reserveCells(clusters(o)) {
				names = append(names, c.Case())
			}
			return names, nil
		}}
	if m.Name == TR1.Name {
		e.Source, e.Claims = "002", reserveClaimed
	}
	return e
}

// run gives the table of a trace.
func (m Made) run(o experiment.Options) (experiment.Table, error) {
	t := experiment.Table{Name: m.Name, Title: fmt.Sprintf("%s: %d jobs. What was learnt counts after 2 ends, all "+
		"errors weigh the same, who is past its deadline is ended, fs completes what it has begun, WTR is of what was used",
		strings.ToUpper(m.Name), m.count(o))}
	cells, err := m.cells(o, reserveCells(clusters(o)))
	for _, c := range cells {
		for _, f := range figures {
			if c.Usual() && f.recorded != "" {
				name := fmt.Sprintf("fluid.%s.%s.%s.%d.%s", m.Name, c.Rule, c.Generator, c.CPUs, f.recorded)
				x := experiment.NewFigure(name, "ratio", experiment.Each(c.Runs, f.of), experiment.Claim{Measure: f.name})
				x.InCells = true
				t.Figures = append(t.Figures, x)
			}
		}
	}
	if m.Name == TR1.Name {
		t.Figures = append(t.Figures, compared(cells)...)
	}
	first := slices.DeleteFunc(slices.Clone(cells), func(c ReserveCell) bool { return c.CPUs != cells[0].CPUs })
	measures := measureRows(t.Figures)
	t.Cells, t.Rows = cells, [][][]string{reserveRows(cells), measures}
	t.Shown = [][][]string{reserveRows(first), measures}
	t.Draw = func(files ...string) error { return drawReserved(t.Title, cells, files) }
	return t, err
}

// count is how many jobs are made.
func (m Made) count(o experiment.Options) int {
	if o.Full {
		return m.Full
	}
	return cmp.Or(o.Jobs, 20_000)
}

// cells runs those that o picks.
func (m Made) cells(o experiment.Options, all []ReserveCell) (cells []ReserveCell, err error) {
	var cases []experiment.Case[ReserveCell, ReserveRun]
	for _, c := range all {
		cases = append(cases, experiment.Case[ReserveCell, ReserveRun]{Name: c.Case(), Of: c,
			Run: func(n int) (ReserveRun, error) {
				seed := uint64(n) + 1
				return c.run(m.Jobs(m.count(o), seed), seed, o.Stop)
			}})
	}
	cases, err = experiment.Run(o, cases)
	for _, c := range cases {
		c.Of.Runs = c.Runs
		cells = append(cells, c.Of)
	}
	return cells, err
}

func (c *ReserveCell) run(jobs []assign.Job, seed uint64, stop <-chan struct{}) (ReserveRun, error) {
	all := Generators()
	d := all[slices.IndexFunc(all, func(d Deadlines) bool { return d.Name == c.Generator })]
	whole := assign.Amount{Cores: units.Cores(c.CPUs)}
	out, err := Simulate(Config{Total: whole, Policy: c.policy, Stop: stop}, d.Due(jobs, c.CPUs, seed))
	if err != nil {
		return ReserveRun{}, err
	}
	runs := make([]scores.Run, len(out.Jobs))
	for i, j := range out.Jobs {
		runs[i] = j.Run
	}
	s, _ := scores.Of(runs)
	return ReserveRun{s.SDR, s.PTR, s.WTR, s.WTRPrinted, out.Fairness, out.Equality}, nil
}

// varied are the generators of the source's figures of waste.
var varied = []string{"jockey1x2x", "jockey2x4x", "aria1x3x", "aria2x4x"}

// comparison is what makes a measure: of each seed it takes the generators together.
type comparison struct {
	name, says, unit string
	source           float64
	cpus             int
	generators       []string
	over             func([]float64) float64
	of               func(a, b ReserveRun) float64
	first, second    string
	inCells          bool // Its numbers are the cells' own: no row shows it.
}

// comparisons are the source's (sections 4.4 and 5.4).
func comparisons() (all []comparison) {
	every, two := GeneratorNames(), []string{"fixed2x"}
	sdr := func(a, b ReserveRun) float64 { return a.SDR / b.SDR }
	apart := func(a, b ReserveRun) float64 { return 100 * math.Abs(a.SDR-b.SDR) }
	wtr := func(a, _ ReserveRun) float64 { return a.WTR }
	fairer := func(a, b ReserveRun) float64 {
		if a.Jain > b.Jain {
			return 1
		}
		return 0
	}
	least, most, mean := slices.Min[[]float64], slices.Max[[]float64], experiment.Mean[float64]
	ratio := func(name, says string, source float64, cpus int, generators []string, over func([]float64) float64,
		first, second string) {
		says = fmt.Sprintf("deadlines met, %s, %d", says, cpus)
		all = append(all, comparison{name, says, "ratio", source, cpus, generators, over, sdr, first, second, false})
	}
	ratio("pythia_fs.sdr_ratio", two[0], 3.95, 2250, two, mean, assign.Pythia, assign.FS)
	ratio("pythia_reactive.sdr_ratio", two[0], 2.43, 2250, two, mean, assign.Pythia, assign.FSReactive)
	ratio("pythia_fs.frozen.sdr_ratio", two[0]+", frozen", 3.95, 2250, two, mean, assign.Pythia, assign.FS+frozen)
	ratio("pythia_reactive.frozen.sdr_ratio", two[0]+", frozen", 2.43, 2250, two, mean, assign.Pythia,
		assign.FSReactive+frozen)
	ratio("pythia_oracle.sdr_ratio.least", "least", 0.95, 2250, every, least, assign.Pythia, assign.Oracle)
	ratio("justice_fs.sdr_ratio.least", "least", 1.88, 2250, every, least, assign.Justice, assign.FS)
	ratio("justice_reactive.sdr_ratio.least", "least", 1.83, 2250, every, least, assign.Justice, assign.FSReactive)
	ratio("justice_reactive.sdr_ratio.most", "greatest", 3.07, 2250, every, most, assign.Justice, assign.FSReactive)
	for _, g := range []string{"jockey1x2x", "aria1x3x"} {
		ratio("justice_reactive.sdr_ratio."+g+".4500", g, map[string]float64{"jockey1x2x": 1.44, "aria1x3x": 1.33}[g], 4500,
			[]string{g}, mean, assign.Justice, assign.FSReactive)
	}
	for _, rule := range []string{assign.Pythia, assign.FS, assign.FSReactive} {
		all = append(all, comparison{strings.ReplaceAll(rule, "fs-", "") + ".waste", "WTR where deadlines vary, 2250", "part",
			map[string]float64{assign.FS: 0.99, assign.FSReactive: 0.27}[rule], 2250, varied, mean, wtr, rule, rule, false})
	}
	for _, rule := range []string{assign.FS, assign.FSReactive} {
		all = append(all, comparison{"justice_" + strings.TrimPrefix(rule, "fs-") + ".fairer",
			"generators with a greater Jain, 2250", "of 7", 7, 2250, every, sum, fairer, assign.Justice, rule,
			false})
	}
	for _, rule := range []string{assign.Pythia, assign.FS, assign.FSReactive} {
		all = append(all, comparison{"oracle_" + strings.TrimPrefix(rule, "fs-") + ".sdr_points.15000",
			"deadlines met, greatest difference, 15000", "points", 0, 15000, every, most, apart, assign.Oracle, rule,
			false})
	}
	return append(all, inCells()...)
}

// compared are the comparisons of cells. One is there where its cells are.
func compared(cells []ReserveCell) (all []experiment.Figure) {
	of := func(rule, generator string, cpus int) []ReserveRun {
		for _, c := range cells {
			if c.Rule == rule && c.Generator == generator && c.CPUs == cpus {
				return c.Runs
			}
		}
		return nil
	}
	for _, c := range comparisons() {
		whole, each := true, [][]float64(nil) // By seed.
		for _, g := range c.generators {
			a, b := of(c.first, g, c.cpus), of(c.second, g, c.cpus)
			whole = whole && a != nil && b != nil
			each = append(each, make([][]float64, max(0, len(a)-len(each)))...)
			for seed := range min(len(a), len(b)) {
				each[seed] = append(each[seed], c.of(a[seed], b[seed]))
			}
		}
		if whole {
			var values []float64
			for _, of := range each {
				values = append(values, c.over(of))
			}
			f := experiment.NewFigure("fluid.tr1."+c.name, c.unit, values, c.claim())
			f.InCells = c.inCells
			all = append(all, f)
		}
	}
	return all
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}
