package profiles

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// By which part work may well be another one that was derived, and that was guessed.
const (
	doubtDerived units.Fraction = 0.1
	doubtGuessed units.Fraction = 0.3
)

// Doubt is by which part the work of p may well be another one because no run under Pacer has measured it.
func Doubt(p api.Profile) units.Fraction {
	var doubt, all units.Work
	for i := range p.Stages {
		s := &p.Stages[i]
		all += s.CoreSeconds
		switch p.Habit.Stages[s.ID].Sure {
		case api.SureDerived:
			doubt += s.CoreSeconds * units.Work(doubtDerived)
		case api.SureGuessed:
			doubt += s.CoreSeconds * units.Work(doubtGuessed)
		}
	}
	if doubt == 0 {
		return 0
	}
	return units.Fraction(doubt / all)
}

// workWeight is what the work of a run counts against that of the runs before, where its weight is w: work that was
// measured takes the place of work that was not, and stays.
func workWeight(old, run api.Sure, w float64) float64 {
	switch {
	case old != api.SureMeasured && run == api.SureMeasured:
		return 1
	case old == api.SureMeasured && run != api.SureMeasured:
		return 0
	}
	return w
}

// factorWork is the least work of a stage that shows how it goes with its threads' time.
const factorWork units.Work = 1

// factor is how many times the CPU time of its tasks' threads a stage used, as far as a hundredth; 0 where it did too
// little to tell.
func factor(s *observed) float64 {
	if s.Habit.Sure != api.SureMeasured || s.Work < factorWork || s.Done.TaskCPU <= 0 {
		return 0
	}
	return math.Min(api.MostAmount, math.Round(100*float64(s.Work)/float64(s.Done.TaskCPU))/100)
}
