package chart

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// XY is a point of a chart.
type XY struct{ X, Y float64 }

// Chart is one pair of axes with what is drawn on it.
type Chart struct{ plot *plot.Plot }

// The colours that have a meaning of their own; others count from 0.
const (
	Black = -1 - iota
	Grey
	Red
)

func colour(i int) color.Color {
	switch i {
	case Black:
		return color.Black
	case Grey:
		return color.Gray{0x60}
	case Red:
		return color.RGBA{0xC0, 0, 0, 0xFF}
	}
	palette := []color.RGBA{{0x00, 0x72, 0xB2, 0xFF}, {0xD5, 0x5E, 0x00, 0xFF}, {0x00, 0x9E, 0x73, 0xFF},
		{0xCC, 0x79, 0xA7, 0xFF},
		{0xE6, 0x9F, 0x00, 0xFF}, {0x56, 0xB4, 0xE9, 0xFF}, {0x60, 0x60, 0x60, 0xFF}}
	return palette[i%len(palette)]
}

// New returns an empty chart with a grid. Its numbers have no more digits than they need.
func New(title, x, y string) *Chart {
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
	p.Add(plotter.NewGrid())
	return &Chart{p}
}

func points(xys []XY) plotter.XYs {
	out := make(plotter.XYs, len(xys))
	for i, p := range xys {
		out[i] = plotter.XY(p)
	}
	return out
}

// Line draws a line; name is its entry in the legend, "" for none. Too few points are no
// line. It fails on numbers that are not finite.
func (c *Chart) Line(xys []XY, hue int, name string, dashed bool) error {
	if len(xys) < 2 {
		return nil
	}
	line, err := plotter.NewLine(points(xys))
	if err != nil {
		return err
	}
	line.Color, line.Width = colour(hue), vg.Points(1.3)
	if dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	c.plot.Add(line)
	if name != "" {
		c.plot.Legend.Add(name, line)
	}
	return nil
}

// Dots draws a dot at each point, under a name in the legend.
func (c *Chart) Dots(xys []XY, hue int, name string) error {
	return c.scatter(xys, draw.GlyphStyle{Color: colour(hue), Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}, name)
}

// Crosses draws a cross at each point, under a name in the legend.
func (c *Chart) Crosses(xys []XY, hue int, name string) error {
	return c.scatter(xys, draw.GlyphStyle{Color: colour(hue), Radius: vg.Points(3), Shape: draw.CrossGlyph{}}, name)
}

func (c *Chart) scatter(xys []XY, style draw.GlyphStyle, name string) error {
	if len(xys) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(points(xys))
	if err != nil {
		return err
	}
	s.GlyphStyle = style
	c.plot.Add(s)
	c.plot.Legend.Add(name, s)
	return nil
}

// Bar draws a bar from 0 to a height around a place of the horizontal axis. The legend has its name, if it has one.
func (c *Chart) Bar(at, width, height float64, hue int, name string) error {
	left, right := at-width/2, at+width/2
	bar, err := plotter.NewPolygon(plotter.XYs{{X: left}, {X: left, Y: height}, {X: right, Y: height}, {X: right}})
	if err != nil {
		return err
	}
	bar.Color, bar.LineStyle.Width = colour(hue), 0
	if c.plot.Add(bar); name != "" {
		c.plot.Legend.Add(name, bar)
	}
	return nil
}

// Label replaces the text at the vertical axis.
func (c *Chart) Label(y string) { c.plot.Y.Label.Text = y }

// Names puts names at 0, 1, 2 ... of the horizontal axis.
func (c *Chart) Names(names ...string) {
	c.plot.NominalX(names...)
	c.plot.X.Tick.Label.Rotation = math.Pi / 4
	c.plot.X.Tick.Label.XAlign, c.plot.X.Tick.Label.YAlign = -1, -0.5
}

// Across returns what the horizontal axis spans.
func (c *Chart) Across() (from, to float64) { return c.plot.X.Min, c.plot.X.Max }

// Top returns the upper end of the vertical axis.
func (c *Chart) Top() float64 { return c.plot.Y.Max }

// Span sets what the horizontal axis spans; a line drawn later may widen it.
func (c *Chart) Span(from, to float64) { c.plot.X.Min, c.plot.X.Max = from, to }

// Rise sets what the vertical axis spans; a line drawn later may widen it.
func (c *Chart) Rise(from, to float64) { c.plot.Y.Min, c.plot.Y.Max = from, to }

// Room leaves some around what is drawn: at the edges, and above it for the legend.
func (c *Chart) Room() {
	p := c.plot
	w, h := max(p.X.Max-p.X.Min, 1e-3), max(p.Y.Max-p.Y.Min, 1e-3)
	p.X.Min, p.X.Max = p.X.Min-0.01*w, p.X.Max+0.02*w
	p.Y.Min, p.Y.Max = p.Y.Min-0.03*h, p.Y.Max+0.25*h
}

// Save writes charts below each other, of a width in centimetres, once for each file; the
// end of a file's name says the form (png, svg, pdf).
func Save(width float64, files []string, charts ...*Chart) error {
	for _, f := range files {
		if err := save(vg.Length(width)*vg.Centimeter, f, charts); err != nil {
			return fmt.Errorf("draw %s: %w", f, err)
		}
	}
	return nil
}

func save(width vg.Length, path string, charts []*Chart) error {
	height := (10*vg.Length(len(charts)) + 4) * vg.Centimeter
	c, err := draw.NewFormattedCanvas(width, height, strings.TrimPrefix(filepath.Ext(path), "."))
	if err != nil {
		return err
	}
	rows := make([][]*plot.Plot, len(charts))
	for i, chart := range charts {
		rows[i] = []*plot.Plot{chart.plot}
	}
	tiles := draw.Tiles{Rows: len(charts), Cols: 1, PadTop: vg.Points(4), PadRight: vg.Points(8), PadBottom: vg.Points(4),
		PadLeft: vg.Points(4), PadY: vg.Points(10)}
	whole := draw.New(c)
	whole.FillPolygon(color.White, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	for i, canvases := range plot.Align(rows, tiles, whole) {
		charts[i].plot.Draw(canvases[0])
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = c.WriteTo(file)
	return errors.Join(err, file.Close())
}
