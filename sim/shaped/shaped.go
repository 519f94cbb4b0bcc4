package shaped

import (
	"cmp"
	"fmt"

	"github.com/sparkpacer/pacer/memory/shaping"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Cell is a way to give memory, over its seeds, beside the baseline with the same seeds.
type Cell struct {
	Case   string    `json:"case"`
	Runs   []Outcome `json:"runs"`
	config Config
	// theirs are the source's gain, slack and part that fails; a band of none is none.
	theirs [3]said
}

// said is what the source says of a measure, and where ours has to lie.
type said struct {
	value float64
	band  experiment.Band
}

// The sizes: a fiftieth of the source's, and the source's, whose machines have so many applications each.
const usualApps, fullApps, each = 3_000, 150_000, 600

// Why the bands are what they are, and why claims differ.
const (
	drawn = "half to one and a half: courses of use are made up"
	whole = "it is said without a range"
	why   = "how memory is used over time is made up: gains and failures go by it"
)

// cells are those of section 4.3.2.
func cells() []Cell {
	of := func(policy, forecast string, k1, k2 float64, theirs [3]said) Cell {
		c := Config{Policy: policy, Forecast: forecast, Params: shaping.Params{K1: k1, K2: k2}}
		return Cell{Case: c.name(), config: c, theirs: theirs}
	}
	within, none := experiment.Within, said{}
	return []Cell{
		of("none", "peak", 0, 0, [3]said{}),
		of("optimistic", Oracle, 0, 0, [3]said{none, none, {37.67, within(20, 55, drawn)}}),
		of("pessimistic", Oracle, 0, 0, [3]said{none, none, {0, experiment.AtMost(0, whole)}}),
		of("pessimistic", "arima", 0.05, 0, [3]said{{7.5, within(4, 11, drawn)}, {30, within(15, 45, drawn)},
			{26, within(13, 39, drawn)}}),
		of("pessimistic", "arima", 0.05, 3, [3]said{}),
		of("pessimistic", "gp", 0.05, 0, [3]said{}),
		of("pessimistic", "gp", 0.05, 3, [3]said{{10.6, within(5, 16, drawn)}, {22, within(15, 33, drawn)}, none}),
		of("pessimistic", "arima", 1, 0, [3]said{{1, experiment.Around(1, 0, whole)}, none, none}),
	}
}

// Experiments is the one of the source's section 4.3.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{Name: "shaped", Title: title, Source: "000", Section: "4.3", Run: table,
		Takes:  []string{experiment.Full, experiment.Jobs, experiment.Only, experiment.Seeds},
		Claims: claims,
		Naming: "POLICY FORECAST K1 K2", Cases: func(experiment.Options) (names []string, err error) {
			for _, c := range cells() {
				names = append(names, c.Case)
			}
			return names, nil
		}}}
}

const title = "Pace 4.3: memory by what is foretold of its use, and not by what is reserved"

// table runs the cases that o picks.
func table(o experiment.Options) (experiment.Table, error) {
	t := experiment.Table{Name: "shaped", Title: title}
	n := cmp.Or(o.Jobs, usualApps)
	if o.Full {
		n = fullApps
	}
	machines := max(2, n/each)
	var cases []experiment.Case[Cell, Outcome]
	for _, c := range cells() {
		cases = append(cases, experiment.Case[Cell, Outcome]{Name: c.Case, Of: c, Run: func(seed int) (Outcome, error) {
			config := c.config
			config.Machines, config.Seed, config.Stop = machines, uint64(seed)+1, o.Stop
			return Simulate(config, trace(n, machines, config.Seed))
		}})
	}
	cases, err := experiment.Run(o, cases)
	if err != nil {
		return t, err
	}
	var all []Cell
	for _, c := range cases {
		c.Of.Runs = c.Runs
		all = append(all, c.Of)
	}
	t.Figures = figures(all)
	t.Cells, t.Rows = all, [][][]string{rows(all), experiment.FigureRows(t.Figures, "%.2f", "CASE", "MEASURE")}
	return t, nil
}

// claims tries what the source says on the document's size, with three seeds at most: with ten of the usual size that
// would take half an hour.
func claims(o experiment.Options) ([]experiment.Claim, error) {
	o.Jobs, o.Seeds = cmp.Or(o.Jobs, 1_200), min(o.Seeds, 3)
	t, err := table(o)
	return experiment.Claims(t.Figures), err
}

// cell is the one of that name, nil where it was not picked.
func cell(all []Cell, name string) *Cell {
	for i := range all {
		if all[i].Case == name {
			return &all[i]
		}
	}
	return nil
}

// gains are by how much less the mean turnaround of c is than that of other, seed by seed.
func (c Cell) gains(other *Cell) (gains []float64) {
	for i, r := range c.Runs {
		gains = append(gains, other.Runs[i].Turnaround/r.Turnaround)
	}
	return gains
}

// pairs is the unit of what compares two cases, which no cell has.
const pairs = "ratio"

func slack(r Outcome) float64  { return r.Slack }
func broken(r Outcome) float64 { return r.Failed }

// figures are those of all cells, and of pairs of them.
func figures(all []Cell) (out []experiment.Figure) {
	add := func(name, unit, of, measure string, s said, values []float64) {
		claim := experiment.Claim{Table: "Sec 4.3", Case: of, Measure: measure, Theirs: s.value, Band: s.band, Why: why}
		if s.band.String() == "" {
			claim.Table = ""
		}
		f := experiment.NewFigure(name, unit, values, claim)
		f.InCells = unit != pairs
		out = append(out, f)
	}
	none := cell(all, "none")
	for _, c := range all {
		p := c.config
		name := fmt.Sprintf("shaping.%s.%s.%g.%g.", p.Policy, p.Forecast, 100*p.K1, p.K2)
		if p.Policy == "none" {
			name = "shaping.none."
		} else if none != nil {
			add(name+"gain", "times", c.Case, "mean turnaround, the baseline's over it, ratio", c.theirs[0], c.gains(none))
		}
		add(name+"slack_pct", "%", c.Case, "slack of memory, %", c.theirs[1], experiment.Each(c.Runs, slack))
		add(name+"failed_pct", "%", c.Case, "applications that fail, %", c.theirs[2], experiment.Each(c.Runs, broken))
	}
	pair := func(name, a, b, measure string, s said, of func(a, b *Cell) []float64) {
		if first, second := cell(all, a), cell(all, b); first != nil && second != nil {
			add("shaping."+name, pairs, a+" over "+b, measure, s, of(first, second))
		}
	}
	const doubt, useless = "half or less: it drops quickly, says the text", "about unchanged, says the text"
	pair("gp.failed_ratio", "pessimistic gp 0.05 3", "pessimistic gp 0.05 0", "applications that fail, ratio",
		said{0.5, experiment.AtMost(0.5, doubt)}, func(a, b *Cell) (v []float64) {
			for i := range a.Runs {
				v = append(v, a.Runs[i].Failed/max(1e-9, b.Runs[i].Failed))
			}
			return v
		})
	pair("arima.gain_ratio", "pessimistic arima 0.05 3", "pessimistic arima 0.05 0", "gain, ratio",
		said{1, experiment.Within(0.8, 1.25, useless)}, func(a, b *Cell) []float64 { return a.gains(b) })
	return out
}

// rows are the cells as text, the heading first.
func rows(all []Cell) [][]string {
	rows := [][]string{{"POLICY, FORECAST, K1, K2", "MEAN TURNAROUND, h", "GAIN", "SLACK, %", "FAILED, %", "PREEMPTED, %",
		"SOMEBODY WAITS, %"}}
	none := cell(all, "none")
	for _, c := range all {
		mean := func(of func(Outcome) float64) string { return fmt.Sprintf("%.1f", experiment.Over(c.Runs, of)) }
		theirs := func(i int) string {
			if c.theirs[i].band.String() == "" {
				return ""
			}
			return fmt.Sprint(c.theirs[i].value)
		}
		gain := "-"
		if none != nil {
			gain = fmt.Sprintf("%.1f", experiment.Mean(c.gains(none)))
		}
		rows = append(rows, []string{c.Case, mean(func(r Outcome) float64 { return r.Turnaround / 3600 }),
			experiment.Beside(gain, theirs(0)), experiment.Beside(mean(slack), theirs(1)),
			experiment.Beside(mean(broken), theirs(2)), mean(func(r Outcome) float64 { return r.Preempted }),
			mean(func(r Outcome) float64 { return r.Saturated })})
	}
	return rows
}
