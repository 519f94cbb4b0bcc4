package profiles

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// belongs is which part of the work of a run, and of a variant, must be in both for the run to be one
// of that variant.
const belongs = 0.8

// fit is the part of the work that run and a variant have in common, of the one that has more besides. Stages
// that the newest run of the variant lacked are not asked for.
func fit(variant, run api.Profile) float64 {
	var common, ran, kept, asked units.Work
	paired := make([]bool, len(variant.Stages))
	for i, k := range pairs(variant, run) {
		s := &run.Stages[i]
		ran += s.CoreSeconds
		if k >= 0 && variant.Stages[k].Failed == s.Failed {
			common += s.CoreSeconds
			paired[k] = true
		}
	}
	for k, s := range variant.Stages {
		if s.Missed > 0 {
			continue
		}
		asked += s.CoreSeconds
		if paired[k] {
			kept += s.CoreSeconds
		}
	}
	if asked == 0 { // Its newest run is not known.
		return float64(common / ran)
	}
	return float64(min(common/ran, kept/asked))
}

// held reports whether some stage of the run was held back.
func held(run api.Profile, t Terms) bool {
	return slices.ContainsFunc(run.Stages, func(s api.ProfileStage) bool { return t.Held[s.ID] })
}

// First is the profile of the first run of a name. The times of one that was held back are not those of a
// run alone.
func First(run api.Profile, t Terms) api.Profile {
	run.Contended = run.Contended || held(run, t)
	return run
}

// Learn folds a run into p: into the variant that has most in common with it, or as a variant of its own
// where it belongs to none. The variant that was least used leaves where there are more than
// api.MostVariants, or more stages in them than a profile may have; the likeliest is the profile
// itself. It returns an error where a stage failed that completes in that variant.
func Learn(p, run api.Profile, t Terms) (learnt api.Profile, founded bool, err error) {
	all := p.Split()
	likely(all)
	best, most := 0, -1.0
	for i, v := range all {
		if f := fit(v, run); f > most {
			best, most = i, f
		}
	}
	if stage := Broken(all[best], run); stage != "" {
		return api.Profile{}, false, fmt.Errorf("a stage failed that completes in its profile: %s", stage)
	}
	if founded = most < belongs; founded {
		// It was planned as a run of that variant: both know how far one may be from it.
		variant := found(p, First(run, t))
		all[best].Residuals = differed(all[best], run, t)
		variant.Residuals = all[best].Residuals
		best = len(all)
		all = append(all, variant)
	} else {
		share := all[best].Share
		all[best] = Merge(all[best], run, t)
		all[best].Next, all[best].Share = run.Next, share // The context that the driver makes next now.
	}
	for i := range all {
		all[i].Share *= 1 - leastWeight
	}
	all[best].Share += leastWeight
	return bundled(all, best), founded, nil
}

// likely makes shares of all variants, which add up to 1.
func likely(all []api.Profile) {
	var sum units.Fraction
	for _, v := range all {
		sum += v.Share
	}
	for i := range all {
		if sum > 0 {
			all[i].Share /= sum
		} else {
			all[i].Share = 1 / units.Fraction(len(all))
		}
	}
}

// found returns a run as a variant beside old. How long a start or an exit takes hangs on
// neither's stages: where the run shows only what one takes beside others, what old knows
// better stays.
func found(old, run api.Profile) api.Profile {
	if run.HeadContended && !old.HeadContended {
		run.Head, run.HeadContended = old.Head, false
	}
	if run.ExitContended && knowsExit(old) {
		run.Exits, run.Exit, run.ExitContended = slices.Clone(old.Exits), old.Exit, false
	}
	run.Schema, run.Name, run.Owner, run.Shared, run.Taught = old.Schema, old.Name, old.Owner, old.Shared, old.Taught
	run.Habit.FailedAt, run.Habit.Suspected, run.Habit.Logs = old.Habit.FailedAt, old.Habit.Suspected, old.Habit.Logs
	run.Duration = replay(run)
	return run
}

// bundled is one profile of all variants that may stay, the newest in any case: the least used leave.
func bundled(all []api.Profile, newest int) api.Profile {
	last := all[newest]
	others := slices.Delete(slices.Clone(all), newest, newest+1)
	slices.SortStableFunc(others, byShare)
	for len(others) >= api.MostVariants || !within(last, others) {
		others = others[:len(others)-1]
	}
	all = append([]api.Profile{last}, others...)
	likely(all)
	slices.SortStableFunc(all, byShare)
	p := all[0]
	for i := range all {
		all[i].Owner, all[i].Shared, all[i].Taught = "", false, false // They are p's.
		all[i].Habit.FailedAt, all[i].Habit.Suspected, all[i].Habit.Logs = 0, 0, nil
	}
	if p.Variants = all[1:]; len(p.Variants) == 0 {
		p.Share, p.Variants = 0, nil
	}
	return p
}

// byShare orders variants, the likeliest first.
func byShare(a, b api.Profile) int { return cmp.Compare(b.Share, a.Share) }

// within reports whether a profile may have that many stages; one alone may.
func within(p api.Profile, others []api.Profile) bool {
	stages, edges := 0, 0
	for _, v := range append([]api.Profile{p}, others...) {
		stages += len(v.Stages)
		for _, s := range v.Stages {
			edges += len(s.Parents)
		}
	}
	return len(others) == 0 || stages <= api.MostStages && edges <= api.MostEdges
}
