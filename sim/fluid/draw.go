package fluid

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// rows are the cells as text below a heading, means over their seeds: mean and median turnaround, medians of wait and
// slowdown, and means over the time from the first arrival to the last. The source's numbers are in brackets.
func rows(cells []Cell) [][]string {
	rows := [][]string{{"CASE", "MEAN, s", "(SOURCE)", "MEDIAN, s", "WAIT, s", "SLOWDOWN", "CORES", "(SOURCE)", "MEMORY",
		"(SOURCE)", "WAIT", "RUN", "REFUSED"}}
	for _, c := range cells {
		source := []string{"-", "-", "-"}
		if s := c.Source; s != nil {
			source = []string{fmt.Sprintf("(%.3g)", s[0]), fmt.Sprintf("(%.0f%%)", s[1]), fmt.Sprintf("(%.0f%%)", s[2])}
		}
		of := func(format string, value func(Run) float64) string { return fmt.Sprintf(format, c.mean(value)) }
		median := func(format, name string) string { return of(format, func(r Run) float64 { return r.Boxes[name][2] }) }
		rows = append(rows, []string{c.Case, of("%.3g", func(r Run) float64 { return r.Turnaround }), source[0],
			median("%.3g", "turnaround"), median("%.3g", "wait"), median("%.2f", "slowdown"),
			of("%.1f%%", func(r Run) float64 { return 100 * r.Mean.Cores }), source[1],
			of("%.1f%%", func(r Run) float64 { return 100 * r.Mean.Memory }), source[2],
			of("%.1f", func(r Run) float64 { return r.Mean.Pending }),
			of("%.1f", func(r Run) float64 { return r.Mean.Running }),
			of("%.0f", func(r Run) float64 { return float64(r.Refused) })})
	}
	return rows
}

// measureRows are figures as text below a heading, without what the names of all begin with.
func measureRows(figures []experiment.Figure) [][]string {
	rows := [][]string{{"MEASURE", "WHAT", "MEAN", "(SOURCE)", "FROM", "TO"}}
	for _, f := range figures {
		if name := strings.SplitN(f.Name, ".", 3); !f.InCells {
			rows = append(rows, []string{name[2], f.Measure, fmt.Sprintf("%.3g", f.Ours), fmt.Sprintf("(%.3g)", f.Theirs),
				fmt.Sprintf("%.3g", f.Least), fmt.Sprintf("%.3g", f.Most)})
		}
	}
	return rows
}

// draw writes the cells as the source's figures below each other, one file for each name; the name's end says the form
// (png, svg, pdf). A box is from 25 to 75 per cent of the values, with a line at the median; its whiskers are from 5 to
// 95.
func draw(title string, cells []Cell, files []string) error {
	var charts []*chart.Chart
	var faults []error
	const logarithm = "log10"
	batch, all := []string{" elastic", " rigid"}, []string{" elastic", " rigid", " interactive"}
	for _, f := range []struct {
		title, label, box string
		trace             int
		kinds             []string // These follow the name of its boxes.
	}{
		{"Fig 3.3: turnaround", logarithm + " of seconds", "turnaround", 0, batch},
		{"Fig 3.3: wait", logarithm + " of seconds", "wait", 0, batch},
		{"Fig 3.3: slowdown", logarithm, "slowdown", 0, batch},
		{"Fig 3.4: jobs that wait", logarithm, "pending", 0, []string{""}},
		{"Fig 3.4: jobs that are served", "jobs", "running", 0, []string{""}},
		{"Fig 3.5: cores granted", "%", "cores", 0, []string{""}},
		{"Fig 3.5: memory granted", "%", "memory", 0, []string{""}},
		{"Fig 3.9: wait, without and with preemption", logarithm + " of seconds", "wait", 1, all},
	} {
		p := chart.New(f.title, "", f.label)
		var names []string
		for hue, c := range cells {
			for _, kind := range f.kinds {
				if c.trace != f.trace {
					continue
				}
				var b Box
				for q := range b {
					b[q] = c.mean(func(r Run) float64 { return r.Boxes[f.box+kind][q] })
					if strings.HasPrefix(f.label, logarithm) {
						b[q] = math.Log10(max(1, b[q])) // Less than a second, or a job, counts as one.
					}
				}
				faults = append(faults, box(p, float64(len(names)), b, hue))
				names = append(names, c.Case+kind)
			}
		}
		if len(names) > 0 {
			p.Names(names...)
			p.Room()
			charts = append(charts, p)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("draw %s: %w", title, err)
	}
	return chart.Save(24, files, charts...)
}

// box draws a box at a place of the horizontal axis.
func box(p *chart.Chart, at float64, b Box, hue int) error {
	left, right := at-0.25, at+0.25
	var faults []error
	for _, line := range [][]chart.XY{{{X: at, Y: b[0]}, {X: at, Y: b[1]}}, {{X: at, Y: b[3]}, {X: at, Y: b[4]}},
		{{X: left, Y: b[2]}, {X: right, Y: b[2]}},
		{{X: left, Y: b[1]}, {X: right, Y: b[1]}, {X: right, Y: b[3]}, {X: left, Y: b[3]}, {X: left, Y: b[1]}}} {
		faults = append(faults, p.Line(line, hue, "", false))
	}
	return errors.Join(faults...)
}
