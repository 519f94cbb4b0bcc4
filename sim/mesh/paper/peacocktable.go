package paper

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// says is what the source says of a number, in words, "" where it says nothing, in which section; band is where ours
// has to lie. Where none is wanted the cells have the number.
type says struct {
	section, words string
	band           experiment.Band
}

// figure is a number of the cells.
func (s says) figure(name, unit, cell, measure string, values []float64) experiment.Figure {
	c := experiment.Claim{Case: cell, Measure: measure, Says: s.words, Band: s.band, Why: "traces are made up"}
	if first, _, _ := strings.Cut(s.words, " "); first != "" {
		c.Table = "Sec " + s.section
		c.Theirs, _ = strconv.ParseFloat(first, 64)
	}
	f := experiment.NewFigure(name, unit, values, c)
	f.InCells = s.band.String() == ""
	return f
}

// gains are of each cell and system how much less Peacock's mean is; wanted is what is said of it.
func gains(cells []PeacockCell, suffix string, wanted func(c PeacockCell, system string) says) (
	all []experiment.Figure) {
	for _, c := range cells {
		for _, v := range c.Against {
			all = append(all, wanted(c, v.System).figure(fmt.Sprintf("mesh.gain_pct.%s.%d.%s%s", c.Trace, c.Load, v.System,
				suffix), "%", c.name(), "mean completion, less than "+v.System+"'s, %",
				experiment.Each(v.Runs, func(r PeacockRun) float64 { return r.Gain })))
		}
	}
	return all
}

// systemFigures are the gains, and in how many cells there is one.
func systemFigures(cells []PeacockCell) []experiment.Figure {
	all := gains(cells, "", func(PeacockCell, string) says { return says{} })
	for i, v := range cells[0].Against {
		values := make([]float64, len(v.Runs))
		for _, c := range cells {
			for seed, r := range c.Against[i].Runs {
				if r.Gain > 0 {
					values[seed]++
				}
			}
		}
		said := map[string]says{"sparrow": {"3.7.1", "18", atLeast(16)},
			"eagle-thesis": {"3.7.2", "18", atLeast(14)}, "eagle-author": {section: "3.7.2", words: "18"}}[v.System]
		f := said.figure("mesh.gain_cells."+v.System, "cells", "all traces and loads",
			"cells whose mean completion is less than "+v.System+"'s, of 18", values)
		f.InCells = false
		all = append(all, f)
	}
	return all
}

// longFigures are the gains of a long run.
func longFigures(cells []PeacockCell) []experiment.Figure {
	return gains(cells, ".long", func(PeacockCell, string) says { return says{} })
}

// partFigures are the gains over Peacock without a part.
func partFigures(cells []PeacockCell) []experiment.Figure {
	return gains(cells, "", func(c PeacockCell, system string) says {
		words, _ := theirs("peacock-parts", c.Trace, c.Load, system)
		switch {
		case system == "no-rotation":
			return says{"3.7.3", words, atLeast(35)}
		case c.Load == 20:
			return says{"3.7.4", words, atMost(5)}
		case c.Load >= 200:
			return says{"3.7.4", words, atLeast(40)}
		}
		return says{"3.7.4", words, experiment.Band{}}
	})
}

// estimateFigures are the gains over Sparrow, which asks for no estimates.
func estimateFigures(cells []PeacockCell) []experiment.Figure {
	return gains(cells, "-estimates", func(c PeacockCell, system string) says {
		words, _ := theirs("peacock-estimates", c.Trace, c.Load, system)
		return says{"3.7.5", words, atLeast(0)}
	})
}

// hopFigures are hops as the source counts them.
func hopFigures(cells []PeacockCell) (all []experiment.Figure) {
	for _, c := range cells {
		all = append(all, says{}.figure(fmt.Sprintf("mesh.hops.%d.%d", c.Load, c.Workers), "hops", c.name(), "hops",
			experiment.Each(c.Runs, func(r PeacockRun) float64 { return r.JobHops })))
	}
	return all
}

// killedFigures are how much longer jobs take where workers are killed, and jobs that are lost.
func killedFigures(cells []PeacockCell) (all []experiment.Figure) {
	for _, c := range cells {
		for _, v := range c.Against {
			n, killed := missing(v.System)
			if !killed {
				continue
			}
			name, cell := fmt.Sprintf("mesh.killed.%d.%d.", n, c.Load), c.name()+", "+v.System
			longest := says{"3.7.8", theirKilled[fmt.Sprint(v.System, " ", c.Load)], experiment.Band{}}
			if c.Load == 20 {
				longest.band = atMost(15)
			}
			f := longest.figure(name+"jct_pct", "%", cell, "mean completion, longer, %", longer(c, v))
			f.InCells = false
			lost := says{"3.7.8", "0", atMost(0)}
			all = append(all, f, lost.figure(name+"lost", "jobs", cell, "jobs lost", experiment.Each(v.Runs, lostJobs)))
		}
	}
	return all
}

func lostJobs(r PeacockRun) float64 { return float64(r.Lost) }

// longer is how much longer jobs take than Peacock's where nobody is killed, in per cent, run by run.
func longer(c PeacockCell, v PeacockCompared) (values []float64) {
	for i, r := range v.Runs {
		values = append(values, 100*(r.Mean/c.Runs[i].Mean-1))
	}
	return values
}

func atLeast(v float64) experiment.Band { return experiment.AtLeast(v, "traces are made up") }
func atMost(v float64) experiment.Band  { return experiment.AtMost(v, "traces are made up") }

// comparedRows have a cell and a system a row.
func comparedRows(e peacock, cells []PeacockCell) [][]string {
	rows := [][]string{sized("PEACOCK", "SYSTEM", "ITS MEAN", "GAIN", "FASTER, EQUAL, SLOWER")}
	for _, c := range cells {
		ours := fmt.Sprintf("%.1f", experiment.Over(c.Runs, func(r PeacockRun) float64 { return r.Mean }))
		for _, v := range c.Against {
			number := func(of func(PeacockRun) float64) string { return fmt.Sprintf("%.1f", experiment.Over(v.Runs, of)) }
			gain, faster := theirs(e.name, c.Trace, c.Load, v.System)
			parts := strings.Join([]string{number(func(r PeacockRun) float64 { return r.Faster }),
				number(func(r PeacockRun) float64 { return r.Equal }),
				number(func(r PeacockRun) float64 { return r.Slower })}, ", ")
			rows = append(rows, append(c.size(), ours, v.System, number(func(r PeacockRun) float64 { return r.Mean }),
				experiment.Beside(number(func(r PeacockRun) float64 { return r.Gain })+" %", gain),
				experiment.Beside(parts+" %", faster)))
		}
	}
	return rows
}

// hopRows have a cell a row.
func hopRows(_ peacock, cells []PeacockCell) [][]string {
	rows := [][]string{sized("HOPS, A JOB ONCE A MESSAGE", "HOPS A TASK")}
	for _, c := range cells {
		number := func(of func(PeacockRun) float64) string { return fmt.Sprintf("%.1f", experiment.Over(c.Runs, of)) }
		theirs := ""
		if c.Trace == "google" {
			theirs = theirHops[fmt.Sprint(c.Load, " ", c.Workers)]
		}
		rows = append(rows, append(c.size(),
			experiment.Beside(number(func(r PeacockRun) float64 { return r.JobHops }), theirs),
			number(func(r PeacockRun) float64 { return r.Hops })))
	}
	return rows
}

// killedRows have a cell and a number of workers that are killed, or are fewer, a row.
func killedRows(_ peacock, cells []PeacockCell) [][]string {
	rows := [][]string{sized("OF 100", "MEAN", "WITHOUT", "LONGER", "LOST JOBS")}
	for _, c := range cells {
		for _, v := range c.Against {
			theirs, lost := theirKilled[fmt.Sprint(v.System, " ", c.Load)], ""
			if theirs != "" {
				lost = "0"
			}
			ms := func(runs []PeacockRun) string {
				return fmt.Sprintf("%.0f ms", 1000*experiment.Over(runs, func(r PeacockRun) float64 { return r.Mean }))
			}
			rows = append(rows, append(c.size(), v.System, ms(v.Runs), ms(c.Runs),
				experiment.Beside(fmt.Sprintf("%.1f %%", experiment.Mean(longer(c, v))), theirs),
				experiment.Beside(fmt.Sprintf("%.1f", experiment.Over(v.Runs, lostJobs)), lost)))
		}
	}
	return rows
}

// drawPeacock draws cells as a picture, once for each file: a chart for each trace.
func drawPeacock(title string, cells []PeacockCell, files []string) error {
	var charts []*chart.Chart
	var fault error
	for len(cells) > 0 {
		n := slices.IndexFunc(cells, func(c PeacockCell) bool { return c.Trace != cells[0].Trace })
		if n < 0 {
			n = len(cells)
		}
		p, err := peacockChart(title, cells[:n])
		charts, fault, cells = append(charts, p), errors.Join(fault, err), cells[n:]
	}
	return errors.Join(fault, chart.Save(16, files, charts...))
}

// peacockChart has the gains of one trace, or the hops where nothing is compared.
func peacockChart(title string, cells []PeacockCell) (*chart.Chart, error) {
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
			add(c, v.System, experiment.Over(v.Runs, func(r PeacockRun) float64 { return r.Gain }))
		}
		if len(c.Against) == 0 {
			label = "hops, a job once a message"
			add(c, fmt.Sprint(c.Workers, " workers"), experiment.Over(c.Runs, func(r PeacockRun) float64 { return r.JobHops }))
		}
	}
	p := chart.New(title, "", label)
	var fault error
	for hue, name := range order {
		fault = errors.Join(fault, p.Dots(series[name], hue, name))
	}
	p.Names(names...)
	p.Room()
	return p, fault
}
