package fluid

import (
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// sizes is what the source says of SJF by three definitions of an application's size (section 3.3.4, Table 3.2).
func sizes() experiment.Experiment {
	const title = "Pace 3.3.4: shortest jobs first by time, time and components, and time, cores and memory"
	all := func() (all []Cell) {
		for _, rule := range []string{assign.Rigid, assign.Flexible} {
			for _, size := range assign.Sizes() {
				all = append(all, Cell{Case: rule + " " + size,
					policy: assign.Policy{Rule: rule, Order: assign.SJF, Size: size}})
			}
		}
		return all
	}
	return experiment.Experiment{Name: "pace-sizes", Title: title, Source: "000", Section: "3.3.4",
		Takes: []string{experiment.Only, experiment.Seeds},
		Cases: func(experiment.Options) (names []string, err error) {
			for _, c := range all() {
				names = append(names, c.Case)
			}
			return names, nil
		}, Run: func(o experiment.Options) (experiment.Table, error) {
			t, err := run(title, o, all(), paceTrace(o))
			if cells := t.Cells.([]Cell); err == nil && len(cells) == len(all()) {
				t.Figures = sizeFigures(cells)
				t.Rows = append(t.Rows, experiment.FigureRows(t.Figures, "%.2f", "CASE", "MEASURE"))
			}
			return t, err
		}}
}

// sizeFigures are the orders of mean turnarounds that the source prints, as the ratio that says whether they hold: it
// has no numbers of them.
func sizeFigures(cells []Cell) []experiment.Figure {
	mean := func(rule, size string) []float64 {
		for _, c := range cells {
			if c.Case == rule+" "+size {
				return experiment.Each(c.Runs, turnaround)
			}
		}
		return nil
	}
	over := func(rule, first, second string) (v []float64) {
		a, b := mean(rule, first), mean(rule, second)
		for i := range a {
			v = append(v, a[i]/b[i])
		}
		return v
	}
	flexible, other := over(assign.Flexible, assign.ByTimeUnits, assign.ByTime),
		over(assign.Flexible, assign.ByTimeCoresMemory, assign.ByTimeUnits)
	for i, v := range other {
		flexible[i] = max(flexible[i], v)
	}
	figure := func(rule, measure string, band experiment.Band, values []float64) experiment.Figure {
		return experiment.NewFigure("fluid.sizes."+rule+".mean_ratio", "ratio", values, experiment.Claim{Table: "Sec 3.3.4",
			Case: rule, Measure: measure, Theirs: 1, Says: band.String(), Band: band, Why: "which applications are large in " +
				"two dimensions, and how they correlate with time, is made up"})
	}
	const reason = "the order that the text states; it has no numbers"
	return []experiment.Figure{
		figure(assign.Flexible, "mean turnaround, the greater of 2D over time and 3D over 2D, ratio",
			experiment.AtMost(1, reason), flexible),
		figure(assign.Rigid, "mean turnaround, 3D over 2D, ratio", experiment.AtLeast(1, reason),
			over(assign.Rigid, assign.ByTimeCoresMemory, assign.ByTimeUnits)),
	}
}
