package sim

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/chart"
	"github.com/sparkpacer/pacer/sim/des"
)

// Draw writes two plots over time below each other: the cores that each application
// used, with dashed lines at the deadlines, and the progress of each stage with its
// set point dashed. One file for each name; the name's end says the form.
func (r Report) Draw(files ...string) error {
	cores := chart.New(r.Proves, "time, s", "cores used (dashed: the deadline)")
	progress := chart.New("", "time, s", "progress of stages, % (dashed: set point)")
	var fault error
	for i, d := range r.world.drivers {
		if d.result == nil {
			continue
		}
		began, name := des.Seconds(0, d.spark.Began), strings.TrimSpace(fmt.Sprintf("%s %d", d.spark.App.Name, i+1))
		fault = errors.Join(fault, cores.Line(used(d.result.Stages, began), i, name, false))
		for _, s := range d.result.Stages {
			done, wanted := followed(s.Samples, began)
			fault = errors.Join(fault, progress.Line(done, i, name, false), progress.Line(wanted, i, "", true))
			name = "" // Once in the legend.
		}
	}
	for i, d := range r.world.drivers {
		if at := des.Seconds(0, d.spark.Began) + float64(d.spark.App.Deadline); d.result != nil && d.spark.App.Deadline > 0 {
			fault = errors.Join(fault, cores.Line([]chart.XY{{X: at, Y: 0}, {X: at, Y: max(1, cores.Top())}}, i, "", true))
		}
	}
	if fault != nil {
		return fmt.Errorf("draw the scenario: %w", fault)
	}
	from, to := cores.Across()
	first, last := progress.Across()
	for _, c := range []*chart.Chart{cores, progress} {
		c.Span(min(from, first), max(to, last))
	}
	cores.Rise(0, cores.Top())
	progress.Rise(0, 100)
	cores.Room()
	progress.Room()
	return chart.Save(26, files, cores, progress)
}

// used sums the cores of all executors up, by ticks of half a second.
func used(stages []api.AppStage, began float64) []chart.XY {
	slots := map[int]float64{}
	for _, s := range stages {
		for _, x := range s.Samples {
			slots[int(math.Round(2*float64(x.At)))] += float64(x.Used)
		}
	}
	var xys []chart.XY
	for _, k := range slices.Sorted(maps.Keys(slots)) {
		xys = append(xys, chart.XY{X: began + float64(k)/2, Y: slots[k]})
	}
	return xys
}

// followed is a stage's progress and set point in per cent.
func followed(samples []api.AppSample, began float64) (progress, setPoint []chart.XY) {
	for _, p := range chart.Points(samples) {
		progress = append(progress, chart.XY{X: began + p.At, Y: 100 * p.Progress})
		setPoint = append(setPoint, chart.XY{X: began + p.At, Y: 100 * p.SetPoint})
	}
	return progress, setPoint
}
