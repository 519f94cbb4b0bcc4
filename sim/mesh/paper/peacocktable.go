package paper

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/claim"
)

// PeacockFigure is a number of cells, seed by seed.
type PeacockFigure struct {
	// Name is its name among the figures of the bench.
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	// Theirs is the source's number, "" where it has none.
	Theirs string     `json:"theirs,omitempty"`
	Band   claim.Band `json:"band"`
	// Listed says that FigureRows has it: others are in the table's cells.
	Listed bool `json:"listed"`
}

// each is a number of every run.
func each(runs []PeacockRun, of func(PeacockRun) float64) (values []float64) {
	for _, r := range runs {
		values = append(values, of(r))
	}
	return values
}

// gains are of each cell and system how much less Peacock's mean is.
func gains(cells []PeacockCell, suffix string) (all []PeacockFigure) {
	for _, c := range cells {
		for _, v := range c.Against {
			all = append(all, PeacockFigure{Name: fmt.Sprintf("mesh.gain_pct.%s.%d.%s%s", c.Trace, c.Load, v.System, suffix),
				Unit: "%", Values: each(v.Runs, func(r PeacockRun) float64 { return r.Gain })})
		}
	}
	return all
}

// systemFigures are the gains, and in how many cells there is one.
func systemFigures(cells []PeacockCell) []PeacockFigure {
	all := gains(cells, "")
	for i, v := range cells[0].Against {
		f := PeacockFigure{Name: "mesh.gain_cells." + v.System, Unit: "cells", Values: make([]float64, len(v.Runs)),
			Listed: true}
		for _, c := range cells {
			for seed, r := range c.Against[i].Runs {
				if r.Gain > 0 {
					f.Values[seed]++
				}
			}
		}
		switch v.System {
		case "sparrow":
			f.Theirs, f.Band = "18", atLeast(16)
		case "eagle-thesis":
			f.Theirs, f.Band = "18", atLeast(14)
		}
		all = append(all, f)
	}
	return all
}

// partFigures are the gains over Peacock without a part.
func partFigures(cells []PeacockCell) []PeacockFigure {
	all := gains(cells, "")
	for i := range all {
		f, c := &all[i], cells[i/len(cells[0].Against)]
		system := f.Name[strings.LastIndexByte(f.Name, '.')+1:]
		f.Theirs, _ = theirs("peacock-parts", c.Trace, c.Load, system)
		switch {
		case system == "no-rotation":
			f.Listed, f.Band = true, atLeast(35)
		case c.Load == 20:
			f.Listed, f.Band = true, atMost(5)
		case c.Load >= 200:
			f.Listed, f.Band = true, atLeast(40)
		}
	}
	return all
}

// estimateFigures are the gains over Sparrow, which asks for no estimates.
func estimateFigures(cells []PeacockCell) []PeacockFigure {
	all := gains(cells, "-estimates")
	for i := range all {
		all[i].Listed, all[i].Band = true, atLeast(0)
		all[i].Theirs, _ = theirs("peacock-estimates", cells[i].Trace, cells[i].Load, "sparrow")
	}
	return all
}

// hopFigures are hops as the source counts them.
func hopFigures(cells []PeacockCell) (all []PeacockFigure) {
	for _, c := range cells {
		all = append(all, PeacockFigure{Name: fmt.Sprintf("mesh.hops.%d.%d", c.Load, c.Workers), Unit: "hops",
			Values: each(c.Runs, func(r PeacockRun) float64 { return r.JobHops })})
	}
	return all
}

// killedFigures are how much longer jobs take where workers are killed, and jobs that are lost.
func killedFigures(cells []PeacockCell) (all []PeacockFigure) {
	for _, c := range cells {
		for _, v := range c.Against {
			n, killed := missing(v.System)
			if !killed {
				continue
			}
			name := fmt.Sprintf("mesh.killed.%d.%d.", n, c.Load)
			f := PeacockFigure{Name: name + "jct_pct", Unit: "%", Values: longer(c, v), Listed: true,
				Theirs: theirKilled[fmt.Sprint(v.System, " ", c.Load)]}
			if c.Load == 20 {
				f.Band = atMost(15)
			}
			lost := PeacockFigure{Name: name + "lost", Unit: "jobs", Theirs: "0", Band: atMost(0), Listed: true,
				Values: each(v.Runs, func(r PeacockRun) float64 { return float64(r.Lost) })}
			all = append(all, f, lost)
		}
	}
	return all
}

// longer is how much longer jobs take than Peacock's where nobody is killed, in per cent, run by run.
func longer(c PeacockCell, v PeacockCompared) (values []float64) {
	for i, r := range v.Runs {
		values = append(values, 100*(r.Mean/c.Runs[i].Mean-1))
	}
	return values
}

func atLeast(v float64) claim.Band { return claim.Band{Least: &v, Reason: "traces are made up"} }
func atMost(v float64) claim.Band  { return claim.Band{Most: &v, Reason: "traces are made up"} }

// Rows are the table as text, the heading first: means over the seeds, the source's in brackets.
func (t PeacockTable) Rows() [][]string {
	return experiments[slices.Index(PeacockTables(), t.Name)].rows(t)
}

// comparedRows have a cell and a system a row.
func comparedRows(t PeacockTable) [][]string {
	rows := [][]string{sized("PEACOCK", "SYSTEM", "ITS MEAN", "GAIN", "FASTER, EQUAL, SLOWER")}
	for _, c := range t.Cells {
		ours := fmt.Sprintf("%.1f", over(c.Runs, func(r PeacockRun) float64 { return r.Mean }))
		for _, v := range c.Against {
			number := func(of func(PeacockRun) float64) string { return fmt.Sprintf("%.1f", over(v.Runs, of)) }
			gain, faster := theirs(t.Name, c.Trace, c.Load, v.System)
			parts := strings.Join([]string{number(func(r PeacockRun) float64 { return r.Faster }),
				number(func(r PeacockRun) float64 { return r.Equal }),
				number(func(r PeacockRun) float64 { return r.Slower })}, ", ")
			rows = append(rows, append(c.size(), ours, v.System, number(func(r PeacockRun) float64 { return r.Mean }),
				bracketed(number(func(r PeacockRun) float64 { return r.Gain })+" %", gain), bracketed(parts+" %", faster)))
		}
	}
	return rows
}

// hopRows have a cell a row.
func hopRows(t PeacockTable) [][]string {
	rows := [][]string{sized("HOPS, A JOB ONCE A MESSAGE", "HOPS A TASK")}
	for _, c := range t.Cells {
		number := func(of func(PeacockRun) float64) string { return fmt.Sprintf("%.1f", over(c.Runs, of)) }
		theirs := ""
		if c.Trace == "google" {
			theirs = theirHops[fmt.Sprint(c.Load, " ", c.Workers)]
		}
		rows = append(rows, append(c.size(), bracketed(number(func(r PeacockRun) float64 { return r.JobHops }), theirs),
			number(func(r PeacockRun) float64 { return r.Hops })))
	}
	return rows
}

// killedRows have a cell and a number of workers that are killed, or are fewer, a row.
func killedRows(t PeacockTable) [][]string {
	rows := [][]string{sized("OF 100", "MEAN", "WITHOUT", "LONGER", "LOST JOBS")}
	for _, c := range t.Cells {
		for _, v := range c.Against {
			theirs, lost := theirKilled[fmt.Sprint(v.System, " ", c.Load)], ""
			if theirs != "" {
				lost = "0"
			}
			ms := func(runs []PeacockRun) string {
				return fmt.Sprintf("%.0f ms", 1000*over(runs, func(r PeacockRun) float64 { return r.Mean }))
			}
			rows = append(rows, append(c.size(), v.System, ms(v.Runs), ms(c.Runs),
				bracketed(fmt.Sprintf("%.1f %%", mean(longer(c, v))), theirs),
				bracketed(fmt.Sprintf("%.1f", over(v.Runs, func(r PeacockRun) float64 { return float64(r.Lost) })), lost)))
		}
	}
	return rows
}

// FigureRows are the figures that are in no cell, or have a band, as text, the heading first.
func (t PeacockTable) FigureRows() [][]string {
	rows := [][]string{{"FIGURE", "MEAN", "FROM", "TO", "WANTED"}}
	for _, f := range t.Figures {
		if !f.Listed {
			continue
		}
		wanted := "-"
		if f.Band.Least != nil || f.Band.Most != nil {
			wanted = f.Band.String()
		}
		rows = append(rows, []string{f.Name, bracketed(fmt.Sprintf("%.1f", mean(f.Values)), f.Theirs),
			fmt.Sprintf("%.1f", slices.Min(f.Values)), fmt.Sprintf("%.1f", slices.Max(f.Values)), wanted})
	}
	return rows
}

// Draw writes the table as a picture, once for each file: a chart for each trace.
func (t PeacockTable) Draw(files ...string) error {
	var charts []*chart.Chart
	var fault error
	for len(t.Cells) > 0 {
		n := slices.IndexFunc(t.Cells, func(c PeacockCell) bool { return c.Trace != t.Cells[0].Trace })
		if n < 0 {
			n = len(t.Cells)
		}
		p, err := t.chart(t.Cells[:n])
		charts, fault, t.Cells = append(charts, p), errors.Join(fault, err), t.Cells[n:]
	}
	return errors.Join(fault, chart.Save(16, files, charts...))
}

// chart has the gains of one trace, or the hops where nothing is compared.
func (t PeacockTable) chart(cells []PeacockCell) (*chart.Chart, error) {
	label, series := "gain in mean completion, %", map[string][]chart.XY{}
	var names, order []string
	add := func(c PeacockCell, name string, y float64) {
		if series[name] == nil {
			order = append(order, name)
		}
		series[name] = append(series[name], chart.XY{X: float64(slices.Index(names, c.name())), Y: y})
	}
	for _, c := range cells {
		if !slices.Contains(names, c.name()) {
			names = append(names, c.name())
		}
		for _, v := range c.Against {
			add(c, v.System, over(v.Runs, func(r PeacockRun) float64 { return r.Gain }))
		}
		if len(c.Against) == 0 {
			label = "hops, a job once a message"
			add(c, fmt.Sprint(c.Workers, " workers"), over(c.Runs, func(r PeacockRun) float64 { return r.JobHops }))
		}
	}
	p := chart.New(t.Title, "", label)
	var fault error
	for hue, name := range order {
		fault = errors.Join(fault, p.Dots(series[name], hue, name))
	}
	p.Names(names...)
	p.Room()
	return p, fault
}
