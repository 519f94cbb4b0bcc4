package demo

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/sparkpacer/pacer/api"
)

// slot is the grid on which the samples of a stage's executors meet, in seconds:
// the tick of a node.
const slot = 0.5

// point is a stage at one moment, over all its executors: the mean of set point
// and progress, the sum of the cores.
type point struct {
	at, setPoint, progress, grant, used float64
	// free says that an executor had no quota.
	free bool
	n    int
}

// points joins the samples of a stage's executors, in order of time.
func points(samples []api.AppSample) []point {
	bySlot := map[int]*point{}
	for _, s := range samples {
		k := int(math.Round(float64(s.At) / slot))
		p := bySlot[k]
		if p == nil {
			p = &point{at: float64(k) * slot}
			bySlot[k] = p
		}
		p.n++
		p.setPoint += float64(s.SetPoint)
		p.progress += float64(s.Progress)
		p.used += float64(s.Used)
		if s.Grant < 0 {
			p.free = true
		} else {
			p.grant += float64(s.Grant)
		}
	}
	out := make([]point, 0, len(bySlot))
	for _, p := range bySlot {
		p.setPoint /= float64(p.n)
		p.progress /= float64(p.n)
		out = append(out, *p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].at < out[j].at })
	return worked(out)
}

// worked cuts off the ticks after a stage's end, in which its executors have no
// target any more and report no progress.
func worked(all []point) []point {
	for n := len(all); n > 0; n-- {
		if all[n-1].progress > 0 || all[n-1].setPoint > 0 {
			return all[:n]
		}
	}
	return all // It never had progress: nothing tells work from rest.
}

// palette has colours that differ for colour-blind readers too (Okabe and Ito).
var palette = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF}, {0xCC, 0x79, 0xA7, 0xFF},
	{0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF}, {0x60, 0x60, 0x60, 0xFF},
}

// Draw writes the picture of one run as a PNG: above, each stage's progress and,
// dashed, its set point; below, the cores that it used and, dashed, was granted.
func Draw(path string, r Result) error {
	above, below, err := r.plots()
	if err != nil {
		return fmt.Errorf("draw run %s: %w", r.Run, err)
	}
	canvas := vgimg.New(26*vg.Centimeter, 18*vg.Centimeter)
	grid := [][]*plot.Plot{{above}, {below}}
	tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: vg.Points(12), PadTop: vg.Points(6), PadBottom: vg.Points(6),
		PadLeft: vg.Points(6), PadRight: vg.Points(12)}
	for i, row := range plot.Align(grid, tiles, draw.New(canvas)) {
		grid[i][0].Draw(row[0])
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("draw run %s: %w", r.Run, err)
	}
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(f)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return fmt.Errorf("draw run %s: %w", r.Run, err)
	}
	return nil
}

func (r Result) plots() (above, below *plot.Plot, err error) {
	above, below = plot.New(), plot.New()
	above.Title.Text = r.title()
	above.Y.Label.Text, above.Y.Min, above.Y.Max = "progress (dashed: set point), %", 0, 100
	below.Y.Label.Text, below.Y.Min = "cores used (dashed: granted)", 0
	end := math.Max(1, float64(max(r.Detail.Duration, r.Detail.Deadline)))
	for _, p := range []*plot.Plot{above, below} {
		p.X.Label.Text, p.X.Min, p.X.Max = "s on the deadline clock", 0, end
		p.Add(plotter.NewGrid())
	}
	below.X.Label.Text = "s on the deadline clock"
	for i, s := range r.Detail.Stages {
		if err := addStage(above, below, s, palette[i%len(palette)]); err != nil {
			return nil, nil, err
		}
	}
	// After the stages: adding lines widens the axes to the data.
	above.X.Max, below.X.Max = end, end
	above.Y.Max, below.Y.Max = math.Max(above.Y.Max, 100), math.Max(below.Y.Max, 1)
	above.Legend.Left, above.Legend.Top = true, true
	if d := float64(r.Detail.Deadline); d > 0 {
		for _, p := range []*plot.Plot{above, below} {
			if err := addLine(p, plotter.XYs{{X: d, Y: 0}, {X: d, Y: p.Y.Max}}, color.RGBA{0xC0, 0, 0, 0xFF}, nil, ""); err != nil {
				return nil, nil, err
			}
		}
	}
	return above, below, nil
}

func (r Result) title() string {
	if r.Detail.Deadline <= 0 {
		return fmt.Sprintf("run %s: all cores, %.1f s, %.1f core-seconds", r.Run, float64(r.Detail.Duration), float64(r.Detail.CoreSeconds))
	}
	return fmt.Sprintf("run %s: deadline %.1f s, finish %.1f s%s", r.Run, float64(r.Detail.Deadline), float64(r.Detail.Duration), r.short())
}

func addStage(above, below *plot.Plot, s api.AppStage, c color.Color) error {
	all := points(s.Samples)
	if len(all) == 0 {
		return nil
	}
	var progress, setPoint, used, grant plotter.XYs
	paced := false
	for _, p := range all {
		paced = paced || p.setPoint > 0
		progress = append(progress, plotter.XY{X: p.at, Y: 100 * p.progress})
		setPoint = append(setPoint, plotter.XY{X: p.at, Y: 100 * p.setPoint})
		used = append(used, plotter.XY{X: p.at, Y: p.used})
		if !p.free {
			grant = append(grant, plotter.XY{X: p.at, Y: p.grant})
		}
	}
	if !paced {
		setPoint = nil
	}
	dashes := []vg.Length{vg.Points(4), vg.Points(3)}
	for _, l := range []struct {
		on     *plot.Plot
		xys    plotter.XYs
		dashes []vg.Length
		legend string
	}{
		{above, progress, nil, fmt.Sprintf("stage %d", s.Stage)}, {above, setPoint, dashes, ""},
		{below, used, nil, ""}, {below, grant, dashes, ""},
	} {
		if err := addLine(l.on, l.xys, c, l.dashes, l.legend); err != nil {
			return fmt.Errorf("stage %d: %w", s.Stage, err)
		}
	}
	return nil
}

func addLine(p *plot.Plot, xys plotter.XYs, c color.Color, dashes []vg.Length, legend string) error {
	if len(xys) == 0 {
		return nil
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = c, vg.Points(1.3), dashes
	p.Add(line)
	if legend != "" {
		p.Legend.Add(legend, line)
	}
	return nil
}
