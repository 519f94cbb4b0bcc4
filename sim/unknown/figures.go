package unknown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// figures are those of pythia under a load. A ratio to open is to its mean over the seeds: in a single trace nobody may
// be in time.
func figures(c []Case) []experiment.Figure {
	of := func(name string) Case {
		return c[slices.IndexFunc(c, func(c Case) bool { return c.Admission == name })]
	}
	open, pythia := of(assign.Open), of(assign.Pythia)
	part := func(of func(Trace) Count) (v []float64) {
		for _, t := range pythia.Traces {
			if n := of(t); n.All > 0 {
				v = append(v, float64(n.Met)/float64(n.All))
			}
		}
		return v
	}
	var ratio, gain []float64
	base := open.mean(func(t Trace) int { return t.New.Met })
	for i, t := range pythia.Traces {
		ratio = append(ratio, float64(t.New.Met)/max(1, base))
		gain = append(gain, float64(t.Any.Met-open.Traces[i].Any.Met))
	}
	var all []experiment.Figure
	prefix := "admission.sim.pythia."
	if load := c[0].Load; load != Paced {
		prefix = "admission.sim." + load + ".pythia."
	}
	add := func(name, unit, measure string, least float64, values []float64) {
		if len(values) > 0 {
			all = append(all, experiment.NewFigure(prefix+name, unit, values,
				experiment.Claim{Measure: measure, Band: experiment.Band{Least: &least}}))
		}
	}
	add("met_ratio", "ratio", "new ones in time, over open's", 1.5, ratio)
	add("reserved_met_ratio", "ratio", "of those that have a reservation in time", 0.75,
		part(func(t Trace) Count { return t.Reserved }))
	add("all_gain", "applications", "all in time, more than under open", 0, gain)
	add("known_met_ratio", "ratio", "of known ones called feasible in time", 0.95,
		part(func(t Trace) Count { return t.Feasible }))
	return all
}

// mean is the mean of a number over the traces.
func (c Case) mean(of func(Trace) int) float64 {
	return experiment.Over(c.Traces, func(t Trace) float64 { return float64(of(t)) })
}

// rows are the cases as text, the heading first: an admission a row, with the means over the seeds.
func rows(cases []Case) [][]string {
	rows := [][]string{{"LOAD", "ADMISSION", "NEW IN TIME", "RESERVED IN TIME", "KNOWN IN TIME", "FEASIBLE IN TIME",
		"ALL IN TIME"}}
	for _, c := range cases {
		row := []string{strings.ReplaceAll(c.Load, "_", " "), c.Admission}
		for _, of := range []func(Trace) Count{
			func(t Trace) Count { return t.New }, func(t Trace) Count { return t.Reserved },
			func(t Trace) Count { return Count{t.Any.All - t.New.All, t.Any.Met - t.New.Met} },
			func(t Trace) Count { return t.Feasible }, func(t Trace) Count { return t.Any }} {
			row = append(row, fmt.Sprintf("%.1f of %.1f", c.mean(func(t Trace) int { return of(t).Met }),
				c.mean(func(t Trace) int { return of(t).All })))
		}
		rows = append(rows, row)
	}
	return rows
}
