package sim

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/sparkpacer/pacer/api"
)

// palette has colours that differ for colour-blind readers too (Okabe and Ito).
func palette(i int) color.Color {
	colors := []color.RGBA{{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF}, {0xCC, 0x79, 0xA7, 0xFF},
		{0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF}, {0x60, 0x60, 0x60, 0xFF}}
	return colors[i%len(colors)]
}

// Draw writes the table's errors as a plot, one file for each name; the name's end
// says the form (png, svg, pdf). Dots are the laws' runs, crosses the source's figures.
// Of cases with several applications a dot is the mean of their |error|.
func (t Table) Draw(files ...string) error {
	p := newPlot(t.Title, "", "error, % of the deadline (below 0: late)")
	names := t.cases()
	var order []string
	laws, paper := map[string]plotter.XYs{}, plotter.XYs{}
	for _, c := range t.Cells {
		if !slices.Contains(order, c.Law) {
			order = append(order, c.Law)
		}
		at := float64(slices.Index(names, c.Case))
		shifted := at + 0.14*float64(slices.Index(order, c.Law)+1)
		if c.several {
			p.Y.Label.Text = "mean of |error|, % of the deadline"
			laws[c.Law] = append(laws[c.Law], plotter.XY{X: shifted, Y: c.Error})
		} else {
			for _, r := range c.Runs {
				laws[c.Law] = append(laws[c.Law], plotter.XY{X: shifted, Y: r.Error})
			}
		}
		if c.Paper != nil && c.Law == order[0] {
			paper = append(paper, plotter.XY{X: at - 0.14, Y: *c.Paper})
		}
	}
	p.Add(plotter.NewGrid())
	fault := stroke(p, plotter.XYs{{X: -0.5, Y: 0}, {X: float64(len(names)) - 0.5, Y: 0}}, color.Gray{0x60}, "", false)
	for i, law := range order {
		fault = errors.Join(fault, points(p, laws[law], draw.GlyphStyle{Color: palette(i), Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}, law))
	}
	fault = errors.Join(fault, points(p, paper, draw.GlyphStyle{Color: color.Black, Radius: vg.Points(3), Shape: draw.CrossGlyph{}}, "paper"))
	if fault != nil {
		return fmt.Errorf("draw %s: %w", t.Name, fault)
	}
	p.NominalX(names...)
	p.X.Tick.Label.Rotation = math.Pi / 4
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = -1, -0.5
	room(p)
	return save([]*plot.Plot{p}, vg.Length(max(16, 1.2*float64(len(names))))*vg.Centimeter, files)
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

// newPlot returns an empty plot. Its numbers have no more digits than they need.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(8)
	ticks := plot.TickerFunc(func(low, high float64) []plot.Tick {
		all := plot.DefaultTicks{}.Ticks(low, high)
		for i := range all {
			if !all[i].IsMinor() {
				all[i].Label = strconv.FormatFloat(math.Round(all[i].Value*1000)/1000, 'f', -1, 64)
			}
		}
		return all
	})
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks, ticks
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(2)
	return p
}

// room leaves some around what is drawn: at the edges, and above it for the legend.
func room(p *plot.Plot) {
	w, h := max(p.X.Max-p.X.Min, 1e-3), max(p.Y.Max-p.Y.Min, 1e-3)
	p.X.Min, p.X.Max = p.X.Min-0.01*w, p.X.Max+0.02*w
	p.Y.Min, p.Y.Max = p.Y.Min-0.03*h, p.Y.Max+0.25*h
}

func points(p *plot.Plot, xys plotter.XYs, style draw.GlyphStyle, name string) error {
	if len(xys) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	s.GlyphStyle = style
	p.Add(s)
	p.Legend.Add(name, s)
	return nil
}

// stroke draws a line; name is its entry in the legend, "" for none. Too few points
// are no line.
func stroke(p *plot.Plot, xys plotter.XYs, c color.Color, name string, dashed bool) error {
	if len(xys) < 2 {
		return nil
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.Color = c
	if dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
	return nil
}

// Draw writes two plots over time below each other: the cores that each application
// used, with dashed lines at the deadlines, and the progress of each stage with its
// set point dashed. One file for each name; the name's end says the form.
func (r Report) Draw(files ...string) error {
	cores := newPlot(r.Proves, "time, s", "cores used (dashed: the deadline)")
	progress := newPlot("", "time, s", "progress of stages, % (dashed: set point)")
	cores.Add(plotter.NewGrid())
	progress.Add(plotter.NewGrid())
	var fault error
	for i, d := range r.world.drivers {
		if d.result == nil {
			continue
		}
		began, name := seconds(0, d.began), strings.TrimSpace(fmt.Sprintf("%s %d", d.app.Name, i+1))
		fault = errors.Join(fault, stroke(cores, used(d.result.Stages, began), palette(i), name, false))
		for _, s := range d.result.Stages {
			done, wanted := followed(s.Samples, began)
			fault = errors.Join(fault, stroke(progress, done, palette(i), name, false), stroke(progress, wanted, palette(i), "", true))
			name = "" // Once in the legend.
		}
	}
	for i, d := range r.world.drivers {
		if at := seconds(0, d.began) + float64(d.app.Deadline); d.result != nil && d.app.Deadline > 0 {
			fault = errors.Join(fault, stroke(cores, plotter.XYs{{X: at, Y: 0}, {X: at, Y: max(1, cores.Y.Max)}}, palette(i), "", true))
		}
	}
	if fault != nil {
		return fmt.Errorf("draw the scenario: %w", fault)
	}
	cores.X.Min = min(cores.X.Min, progress.X.Min)
	cores.X.Max = max(cores.X.Max, progress.X.Max)
	progress.X.Min, progress.X.Max = cores.X.Min, cores.X.Max
	cores.Y.Min, progress.Y.Min, progress.Y.Max = 0, 0, 100
	room(cores)
	room(progress)
	return save([]*plot.Plot{cores, progress}, 26*vg.Centimeter, files)
}

// used sums the cores of all executors up, by ticks of half a second.
func used(stages []api.AppStage, began float64) plotter.XYs {
	slots := map[int]float64{}
	for _, s := range stages {
		for _, x := range s.Samples {
			slots[slotOf(x)] += float64(x.Used)
		}
	}
	var xys plotter.XYs
	for _, k := range sortedIDs(slots) {
		xys = append(xys, plotter.XY{X: began + float64(k)/2, Y: slots[k]})
	}
	return xys
}

// slotOf is the half second that a sample belongs to.
func slotOf(s api.AppSample) int { return int(math.Round(2 * float64(s.At))) }

// followed is a stage's progress and set point in per cent, by half seconds: the mean
// over its executors, each where it was seen last.
func followed(samples []api.AppSample, began float64) (progress, setPoint plotter.XYs) {
	bySlot, last := map[int][]api.AppSample{}, map[api.ExecutorID]api.AppSample{}
	for _, s := range samples {
		if s.SetPoint == 0 && s.Progress == 0 {
			continue // Nothing was asked of it any more, or not yet.
		}
		bySlot[slotOf(s)] = append(bySlot[slotOf(s)], s)
		last[s.Executor] = api.AppSample{}
	}
	executors := sortedIDs(last)
	for _, k := range sortedIDs(bySlot) {
		for _, s := range bySlot[k] {
			last[s.Executor] = s
		}
		at := plotter.XY{X: began + float64(k)/2}
		done, wanted := at, at
		for _, id := range executors {
			done.Y += 100 * float64(last[id].Progress) / float64(len(executors))
			wanted.Y += 100 * float64(last[id].SetPoint) / float64(len(executors))
		}
		progress, setPoint = append(progress, done), append(setPoint, wanted)
	}
	return progress, setPoint
}

// save writes plots below each other, once for each file.
func save(plots []*plot.Plot, width vg.Length, files []string) error {
	for _, f := range files {
		if err := saveAs(plots, width, f); err != nil {
			return fmt.Errorf("draw %s: %w", f, err)
		}
	}
	return nil
}

func saveAs(plots []*plot.Plot, width vg.Length, path string) (err error) {
	height := (10*vg.Length(len(plots)) + 4) * vg.Centimeter
	c, err := draw.NewFormattedCanvas(width, height, strings.TrimPrefix(filepath.Ext(path), "."))
	if err != nil {
		return err
	}
	rows := make([][]*plot.Plot, len(plots))
	for i, p := range plots {
		rows[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadTop: vg.Points(4), PadRight: vg.Points(8), PadBottom: vg.Points(4), PadLeft: vg.Points(4), PadY: vg.Points(10)}
	whole := draw.New(c)
	whole.FillPolygon(color.White, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	for i, canvases := range plot.Align(rows, tiles, whole) {
		plots[i].Draw(canvases[0])
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = c.WriteTo(file)
	return errors.Join(err, file.Close())
}
