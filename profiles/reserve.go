package profiles

import (
	"cmp"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const (
	// aging is what a run counts of the one after it.
	aging = 0.9
	// PriorReserve is the part of what the profile takes at all cores that is unforeseen in a run of which nothing else
	// is known.
	PriorReserve units.Fraction = 0.05
	// leastMargin is what an end differs by from its aim at least, and marginCertainty how sure it differs by no more
	// than the margin.
	leastMargin     units.Seconds  = 0.05
	marginCertainty units.Fraction = 0.95
	// together is by how much of the work two stages may be apart to count as ready at one place.
	together = 0.02
)

// differed are the residuals of old with that of a run.
func differed(old, run api.Profile, t Terms) []api.Residual {
	all := append([]api.Residual{residual(old, run, t)}, old.Residuals...)
	return all[:min(len(all), api.MostResiduals)]
}

// residual is what a run had besides what old says of it, by how much of the work of old was done: the most from
// each eighth on, in seconds at all cores.
func residual(old, run api.Profile, t Terms) api.Residual {
	old = Alone(old)
	out := api.Residual{End: t.End}
	cores := cmp.Or(old.Cores, run.Cores)
	paired, whole := pairs(old, run), float64(old.Work())
	var left units.Work          // Of old, from a stage on.
	var unforeseen units.Seconds // Likewise.
	for i, s := range slices.Backward(run.Stages) {
		if k := paired[i]; k < 0 {
			unforeseen += s.Gap + alone(s, cores)
		} else {
			known := asMany(&old, k, run.Count(s.ID))
			left += known.CoreSeconds
			unforeseen += known.Duration * units.Seconds(s.CoreSeconds/known.CoreSeconds-1)
		}
		if again, tried := t.Tried[s.ID]; tried {
			unforeseen += units.Seconds(float64(again) / float64(max(1, cores)))
		}
		done := 1 - float64(left)/whole
		for at := range out.Unforeseen {
			if done >= float64(at)/(api.ReservePlaces-1)-together {
				out.Unforeseen[at] = max(out.Unforeseen[at], unforeseen)
			}
		}
	}
	return out
}

// Reserve is how much time at all cores a run of p that is to be in time with that certainty keeps for what nobody
// foresees, by how much of the work is done. It is a weighted quantile of what newer runs had (split conformal
// prediction with weights; Barber, Candès, Ramdas, Tibshirani, "Conformal prediction beyond exchangeability", 2023).
// One more value counts the less the more runs there are. prior is that, as a part of what the profile takes.
// The doubt about work that no run has measured comes on top.
func Reserve(p api.Profile, certainty, prior units.Fraction) (keep [api.ReservePlaces]units.Seconds) {
	all, doubt := Takes(p), Doubt(p)
	for at := range keep {
		left := 1 - units.Seconds(at)/(api.ReservePlaces-1)
		values := []weighted{{units.Seconds(prior+doubt) * all * left / units.Seconds(len(p.Residuals)+1), 1}}
		for age := range p.Residuals {
			values = append(values, weighted{p.Residuals[age].Unforeseen[at], math.Pow(aging, float64(age))})
		}
		keep[at] = quantile(values, certainty)
	}
	return keep
}

// Typical is which part of what p takes at all cores its runs had unforeseen, with the usual certainty; false where no
// run says.
func Typical(p api.Profile) (units.Fraction, bool) {
	all := Takes(p)
	if len(p.Residuals) == 0 || all <= 0 {
		return 0, false
	}
	return units.Fraction(Reserve(p, api.UsualCertainty, 0)[0] / all), true
}

// Margin is by how much runs of p end after their aim, with prior for what is believed before any.
func Margin(p api.Profile, prior units.Seconds) units.Seconds {
	var values []weighted
	for age := range p.Residuals {
		if end := p.Residuals[age].End; end != 0 {
			values = append(values, weighted{end, math.Pow(aging, float64(age))})
		}
	}
	values = append(values, weighted{prior / units.Seconds(len(values)+1), 1})
	return max(leastMargin, quantile(values, marginCertainty))
}

// Takes is how long the stages of p take at all cores, with the gaps before them, one after the other.
func Takes(p api.Profile) (all units.Seconds) {
	p = Alone(p)
	for i := range p.Stages {
		all += p.Stages[i].Gap + p.Stages[i].Duration
	}
	return all
}

type weighted struct {
	value  units.Seconds
	weight float64
}

// quantile is the least of values that has that share of all weights at or below it.
func quantile(values []weighted, share units.Fraction) units.Seconds {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	all := 0.0
	for _, v := range values {
		all += v.weight
	}
	below := 0.0
	for _, v := range values {
		if below += v.weight; below >= float64(share)*all-1e-12 {
			return v.value
		}
	}
	return values[len(values)-1].value
}
