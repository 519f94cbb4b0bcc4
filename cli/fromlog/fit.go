package fromlog

import (
	"github.com/sparkpacer/pacer/infra/eventlog"
	"github.com/sparkpacer/pacer/units"
)

// The driver reads the sizes of tasks by these (TaskWeights.scala, StageTotals.scala). A task costs as much as so many
// bytes, whatever it reads. Sizes say something where the largest is so many times the mean. A line is believed that
// goes through so many tasks, so far apart.
const (
	fixedBytes  = 64 << 10
	fixedShare  = 0.05
	skew        = 1.1
	mostWeight  = 4
	leastTasks  = 8
	leastSpread = 0.0625
)

// fit is which part of the tasks' CPU time is the same for each of them, and what each takes whatever it reads; 0 where
// their sizes do not tell.
func fit(t *eventlog.Totals) (part units.Fraction, cost units.Seconds) {
	l := t.BySize
	if l.N < 2 || l.Y <= 0 {
		return 0, 0
	}
	fixed := max(fixedBytes, fixedShare*l.X/l.N)
	mean := l.X/l.N + fixed
	heaviest := (float64(t.MostBytes) + fixed) / mean
	spread := l.N*l.XX - l.X*l.X
	if heaviest <= skew || spread <= 1e-9*l.X*l.X {
		return 0, 0
	}
	slope := (l.N*l.XY - l.X*l.Y) / spread
	part = 1 - units.Fraction(slope*mean*l.N/l.Y).Clamp()
	late := t.Late
	apart := late.N*late.XX - late.X*late.X
	if sum := late.X + late.N*fixed; late.N < leastTasks || apart < leastSpread*sum*sum || heaviest > mostWeight {
		return part, 0
	}
	slope = (late.N*late.XY - late.X*late.Y) / apart
	return part, units.Seconds(max(0, (late.Y-slope*(late.N*fixed+late.X))/late.N))
}
