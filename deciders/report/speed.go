package report

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// speedWork is the work from which a stage says how fast a run is; less is noise.
	speedWork units.Work = 1
	// leastSlower is by which factor a run has to be slower than its profile to be called so.
	leastSlower = 1.03
)

// slower is how much more CPU time a record of a takes than by its profile: the median, by work, of so many stages
// that have ended. Its input may be larger or smaller: machines are slower, or the data is harder.
func slower(a *ledger.App) (factor float64, stages int) {
	type said struct {
		factor float64
		work   units.Work
	}
	var all []said
	var sum units.Work
	for _, s := range a.Order {
		if a.Profile == nil || s.Annotation == ledger.Unmatched || s.Estimated() || s.Done == nil || s.Done.Failed ||
			s.Key().Attempt > 0 || s.Ready.Repeats != nil {
			continue
		}
		annotation, _ := a.Profile.Annotated(s)
		if work, used := estimate.Predict(a, annotation, s).Work, s.CPU(); min(work, used) >= speedWork {
			all, sum = append(all, said{float64(used / work), work}), sum+work
		}
	}
	slices.SortFunc(all, func(x, y said) int { return cmp.Compare(x.factor, y.factor) })
	for _, s := range all {
		if sum -= 2 * s.work; sum <= 0 {
			return s.factor, len(all)
		}
	}
	return 1, 0
}
