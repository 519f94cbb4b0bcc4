package sim

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/sparkpacer/pacer/api"
)

// palette has colours that differ for colour-blind readers too (Okabe and Ito).
func palette(i int) color.Color {
	colors := []color.RGBA{{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF}, {0xCC, 0x79, 0xA7, 0xFF},
		{0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF}, {0x60, 0x60, 0x60, 0xFF}}
	return colors[i%len(colors)]
}

// Draw writes the table's errors as a plot, one file for each name; the name's end
// says the form (png, svg, pdf). Bars are the laws, crosses the source's figures.
func (t Table) Draw(files ...string) error {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = t.Title, "error, % of the deadline (below 0: late)"
	names, laws := t.cases(), map[string]plotter.XYs{}
	var order []string
	var paper plotter.XYs
	at := map[string]int{}
	for i, n := range names {
		at[n] = i
	}
	for _, c := range t.Cells {
		if laws[c.Law] == nil {
			order = append(order, c.Law)
			if len(order) == 1 {
				paper = nil
			}
		}
		shift := 0.12 * float64(len(order)-1)
		for _, r := range c.Runs {
			laws[c.Law] = append(laws[c.Law], plotter.XY{X: float64(at[c.Case]) + shift, Y: r.Error})
		}
		if c.Paper != nil && c.Law == order[0] {
			paper = append(paper, plotter.XY{X: float64(at[c.Case]) - 0.12, Y: *c.Paper})
		}
	}
	for i, law := range order {
		if err := points(p, laws[law], palette(i), law); err != nil {
			return fmt.Errorf("draw %s: %w", t.Name, err)
		}
	}
	if err := points(p, paper, color.Black, "paper"); err != nil {
		return fmt.Errorf("draw %s: %w", t.Name, err)
	}
	p.Add(plotter.NewGrid())
	p.NominalX(names...)
	p.X.Tick.Label.Rotation = math.Pi / 4
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = -1, -0.5
	p.Legend.Top = true
	return save(p, vg.Length(max(16, 1.2*float64(len(names))))*vg.Centimeter, files)
}

func (t Table) cases() []string {
	var names []string
	seen := map[string]bool{}
	for _, c := range t.Cells {
		if !seen[c.Case] {
			seen[c.Case] = true
			names = append(names, c.Case)
		}
	}
	return names
}

func points(p *plot.Plot, xys plotter.XYs, c color.Color, name string) error {
	if len(xys) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	s.Color, s.Radius = c, vg.Points(2)
	p.Add(s)
	p.Legend.Add(name, s)
	return nil
}

// Draw writes the cores that each application used over time as a plot, and red
// lines at the deadlines.
func (r Report) Draw(files ...string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = r.Proves, "s", "cores used"
	for i, d := range r.world.drivers {
		if d.result == nil {
			continue
		}
		began := seconds(0, d.began)
		line, err := plotter.NewLine(used(d.result.Stages, began))
		if err != nil {
			continue // It ran too short for a tick.
		}
		line.Color = palette(i)
		p.Add(line)
		p.Legend.Add(strings.TrimSpace(fmt.Sprintf("%s %d", d.app.Name, i+1)), line)
		if d.app.Deadline > 0 {
			at := began + float64(d.app.Deadline)
			mark, err := plotter.NewLine(plotter.XYs{{X: at, Y: 0}, {X: at, Y: 1}})
			if err != nil {
				return fmt.Errorf("draw the scenario: %w", err)
			}
			mark.Color = color.RGBA{0xC0, 0, 0, 0xFF}
			p.Add(mark)
		}
	}
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	return save(p, 26*vg.Centimeter, files)
}

// used sums the cores of all executors up, by ticks of half a second.
func used(stages []api.AppStage, began float64) plotter.XYs {
	slots := map[int]float64{}
	for _, s := range stages {
		for _, x := range s.Samples {
			slots[int(math.Round(2*float64(x.At)))] += float64(x.Used)
		}
	}
	var xys plotter.XYs
	for _, k := range sortedIDs(slots) {
		xys = append(xys, plotter.XY{X: began + float64(k)/2, Y: slots[k]})
	}
	return xys
}

func save(p *plot.Plot, width vg.Length, files []string) error {
	for _, f := range files {
		if err := p.Save(width, 14*vg.Centimeter, f); err != nil {
			return fmt.Errorf("draw %s: %w", f, err)
		}
	}
	return nil
}
