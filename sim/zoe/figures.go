package zoe

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/claim"
)

// Figure is a number of one case beside the same of another one, seed by seed. Of one that the source
// does not have Theirs is 0, and its band is what is wanted here.
type Figure struct {
	// Name is its name among the figures of the bench, Values are by seed.
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
	claim.Claim
}

// Why the bands are what they are, and why figures differ.
const (
	shown  = "that it is shorter is the claim; how long the source's applications take is not said"
	wanted = "what is wanted of a rule that may be the default"
	load   = "how much the source's applications ask for is made up"
)

// figures compares cases, which are those of ways. A wait of less than a second counts as one.
func figures(c []Case) []Figure {
	rigid, flexible, backfill, preemptive := c[0], c[1], c[2], c[3]
	ratio := func(x, y float64) float64 { return x / y }
	by := func(of func(x, y float64) float64, ours, base []float64) (v []float64) {
		for i := range ours {
			v = append(v, of(ours[i], base[i]))
		}
		return v
	}
	var all []Figure
	add := func(name, over, measure string, theirs float64, band claim.Band, values []float64) {
		all = append(all, Figure{"queue.sim." + name, values, claim.Claim{Table: "Sec 3.5", Case: over, Measure: measure,
			Theirs: theirs, Band: band, Why: load}.Tried(values)})
	}
	fifo, edf := "flexible over rigid, fifo", "flexible-preemptive over backfill, edf"
	add("elastic_ratio", fifo, "median turnaround of elastic applications, ratio", 0.63,
		claim.Band{Most: new(0.85), Reason: shown}, by(ratio, flexible.Elastic, rigid.Elastic))
	add("rigid_ratio", fifo, "median turnaround of rigid applications, ratio", 0.78,
		claim.Band{Most: new(1.0), Reason: shown}, by(ratio, flexible.Rigid, rigid.Rigid))
	add("interactive_ratio", edf, "mean wait of interactive applications, ratio", 0,
		claim.Band{Most: new(0.2), Reason: wanted},
		by(func(x, y float64) float64 { return max(1, x) / max(1, y) }, preemptive.Waits, backfill.Waits))
	add("met_gain", edf, "deadlines met, more", 0, claim.Band{Least: new(0.0), Reason: wanted},
		by(func(x, y float64) float64 { return x - y }, preemptive.Met, backfill.Met))
	add("batch_ratio", edf, "median turnaround of batch applications, ratio", 0,
		claim.Band{Most: new(1.15), Reason: wanted}, by(ratio, preemptive.Batch, backfill.Batch))
	return all
}

// Claims tries what the source says of its testbed, each with so many seeds, until stop is closed.
func Claims(seeds int, stop <-chan struct{}) ([]claim.Claim, error) {
	t, err := Run(Options{Seeds: seeds, Stop: stop})
	var claims []claim.Claim
	for _, f := range t.Figures {
		if f.Theirs > 0 {
			claims = append(claims, f.Claim)
		}
	}
	return claims, err
}

// Rows are the table as text, the heading first: a way a row, with the means over the seeds.
func (t Table) Rows() [][]string {
	rows := [][]string{{"RULE", "ORDER", "ELASTIC", "RIGID", "BATCH", "INTERACTIVE WAITS", "DEADLINES MET"}}
	for _, c := range t.Cases {
		row := []string{c.Rule, c.Order}
		for _, v := range [][]float64{c.Elastic, c.Rigid, c.Batch, c.Waits} {
			row = append(row, fmt.Sprintf("%.0fs", mean(v)))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.1f of %d", mean(c.Met), count/5)))
	}
	return rows
}

// FigureRows are the figures as text, the heading first, the source's in brackets.
func (t Table) FigureRows() [][]string {
	rows := [][]string{{"FIGURE", "MEAN", "FROM", "TO", "WANTED", "CASE", "MEASURE"}}
	for _, f := range t.Figures {
		ours := fmt.Sprintf("%.2f", f.Ours)
		if f.Theirs > 0 {
			ours += fmt.Sprintf(" (%.2f)", f.Theirs)
		}
		rows = append(rows, []string{f.Name, ours, fmt.Sprintf("%.2f", f.Claim.Least), fmt.Sprintf("%.2f", f.Claim.Most),
			f.Band.String(), f.Case, f.Measure})
	}
	return rows
}

// Draw plots for each way the turnarounds of elastic and of rigid applications, one dot a seed: one file for each
// name, whose end says the form.
func (t Table) Draw(files ...string) (fault error) {
	p := chart.New(t.Title, "", "median turnaround, s")
	var names []string
	for i, kind := range []string{"elastic", "rigid"} {
		var dots []chart.XY
		for at, c := range t.Cases {
			for _, v := range [][]float64{c.Elastic, c.Rigid}[i] {
				dots = append(dots, chart.XY{X: float64(at) + 0.2*float64(i) - 0.1, Y: v})
			}
		}
		fault = errors.Join(fault, p.Dots(dots, i, kind))
	}
	for _, c := range t.Cases {
		names = append(names, c.Rule+" "+c.Order)
	}
	p.Names(names...)
	p.Room()
	return errors.Join(fault, chart.Save(16, files, p))
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
