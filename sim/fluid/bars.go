package fluid

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/experiment"
)

// figures are those of a run, by their headings and by their names among the figures of the bench, "" of none.
var figures = []struct {
	name, recorded string
	of             func(ReserveRun) float64
}{
	{"SDR", "sdr", func(r ReserveRun) float64 { return r.SDR }},
	{"PTR", "ptr", func(r ReserveRun) float64 { return r.PTR }},
	{"WTR", "wtr", func(r ReserveRun) float64 { return r.WTR }},
	{"AS PRINTED", "", func(r ReserveRun) float64 { return r.WTRPrinted }},
	{"JAIN", "jain", func(r ReserveRun) float64 { return r.Jain }},
	{"EQUALITY", "", func(r ReserveRun) float64 { return r.Equality }},
}

func (c ReserveCell) mean(of func(ReserveRun) float64) float64 { return experiment.Over(c.Runs, of) }

// reserveRows are the cells as text below a heading, means over their seeds. The source's numbers are in brackets:
// deadlines that fs met, and waste where deadlines vary; the rest of it are ratios, which are measures.
func reserveRows(cells []ReserveCell) [][]string {
	rows := [][]string{{"RULE", "DEADLINES", "CPUS"}}
	for _, f := range figures {
		if rows[0] = append(rows[0], f.name); f.name == "SDR" || f.name == "WTR" {
			rows[0] = append(rows[0], "(SOURCE)")
		}
	}
	for _, c := range cells {
		row := []string{c.Rule, c.Generator, fmt.Sprint(c.CPUs)}
		for _, f := range figures {
			row = append(row, fmt.Sprintf("%.3f", c.mean(f.of)))
			switch f.name {
			case "SDR":
				row = append(row, theirSDR(c))
			case "WTR":
				row = append(row, theirWaste(c))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func theirSDR(c ReserveCell) string {
	if c.Case() == "fs fixed2x 2250" {
		return "(0.20)"
	}
	return "-"
}

func theirWaste(c ReserveCell) string {
	source := map[string]string{"pythia 2250": "(0)", "pythia 4500": "(0)", "fs 2250": "(0.99)",
		"fs 4500": "(0.84 to 0.93)", "fs-reactive 2250": "(0.24 to 0.30)",
		"fs-reactive 4500": "(0.12 to 0.30)"}[fmt.Sprint(c.Rule, " ", c.CPUs)]
	if source == "" || !slices.Contains(varied, c.Generator) {
		return "-"
	}
	return source
}

// drawReserved writes the figures as bars below each other, for each number of CPUs. A file's end says the form: png,
// svg, pdf.
func drawReserved(title string, cells []ReserveCell, files []string) error {
	var charts []*chart.Chart
	var faults []error
	var cpus []int
	for _, c := range cells {
		if !slices.Contains(cpus, c.CPUs) {
			cpus = append(cpus, c.CPUs)
		}
	}
	for _, n := range cpus {
		for _, f := range figures {
			p, named := chart.New(fmt.Sprintf("%s, %d CPUs", f.name, n), "", ""), map[string]bool{}
			names := GeneratorNames()
			for _, c := range cells {
				hue := slices.Index(assign.Reserving(), c.Rule)
				if c.CPUs != n || !c.Usual() {
					continue
				}
				const width = 0.16
				legend := c.Rule
				if named[c.Rule] {
					legend = ""
				}
				named[c.Rule] = true
				at := float64(slices.Index(names, c.Generator)) + width*float64(hue-2)
				faults = append(faults, p.Bar(at, width, c.mean(f.of), hue, legend))
			}
			if len(named) > 0 {
				p.Names(names...)
				p.Span(-0.5, float64(len(names))-0.5)
				p.Rise(0, 1.6) // All are parts; the legend stands above them.
				charts = append(charts, p)
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("draw %s: %w", title, err)
	}
	return chart.Save(24, files, charts...)
}
