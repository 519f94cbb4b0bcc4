package demo

import (
	"errors"
	"fmt"
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/chart"
)

// Draw writes the picture of one run as a PNG: above, each stage's progress and,
// dashed, its set point; below, the cores that it used and, dashed, was granted.
func Draw(path string, r Result) error {
	above := chart.New(r.title(), "s on the deadline clock", "progress (dashed: set point), %")
	below := chart.New("", "s on the deadline clock", "cores used (dashed: granted)")
	var fault error
	for i, s := range r.Detail.Stages {
		if s.State != string(api.StageGone) {
			fault = errors.Join(fault, addStage(above, below, s, i))
		}
	}
	// After the stages: adding lines widens the axes to the data.
	end := math.Max(1, float64(max(r.Detail.Duration, r.Detail.Deadline)))
	above.Rise(0, math.Max(above.Top(), 100))
	below.Rise(0, math.Max(below.Top(), 1))
	for _, c := range []*chart.Chart{above, below} {
		c.Span(0, end)
		if d := float64(r.Detail.Deadline); d > 0 {
			fault = errors.Join(fault, c.Line([]chart.XY{{X: d, Y: 0}, {X: d, Y: c.Top()}}, chart.Red, "", false))
		}
	}
	if fault == nil {
		fault = chart.Save(26, []string{path}, above, below)
	}
	if fault != nil {
		return fmt.Errorf("draw run %s: %w", r.Run, fault)
	}
	return nil
}

func (r Result) title() string {
	if r.Detail.Deadline <= 0 {
		return fmt.Sprintf("run %s: all cores, %.1f s, %.1f core-seconds", r.Run, float64(r.Detail.Duration),
			float64(r.Detail.CoreSeconds))
	}
	return fmt.Sprintf("run %s: deadline %.1f s, finish %.1f s%s", r.Run, float64(r.Detail.Deadline),
		float64(r.Detail.Duration), r.short())
}

func addStage(above, below *chart.Chart, s api.AppStage, colour int) error {
	var progress, setPoint, used, grant []chart.XY
	paced := false
	for _, p := range chart.Points(s.Samples) {
		paced = paced || p.SetPoint > 0
		progress = append(progress, chart.XY{X: p.At, Y: 100 * p.Progress})
		setPoint = append(setPoint, chart.XY{X: p.At, Y: 100 * p.SetPoint})
		used = append(used, chart.XY{X: p.At, Y: p.Used})
		if !p.Free {
			grant = append(grant, chart.XY{X: p.At, Y: p.Grant})
		}
	}
	if !paced {
		setPoint = nil
	}
	err := errors.Join(above.Line(progress, colour, fmt.Sprintf("stage %d", s.Stage), false),
		above.Line(setPoint, colour, "", true),
		below.Line(used, colour, "", false), below.Line(grant, colour, "", true))
	if err != nil {
		return fmt.Errorf("stage %d: %w", s.Stage, err)
	}
	return nil
}
