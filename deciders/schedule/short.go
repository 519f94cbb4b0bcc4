package schedule

import (
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// shortMost is the time below which a stage counts as short. A controller can make up for a bad prediction
	// from dag.Steerable on, but tasks under way go on as they were begun.
	shortMost = 2.5 * dag.Steerable
	// The need of short stages is learned of the newest shortStages of them, among the newest shortLook stages. One more
	// stage of shortPrior counts that needs what is predicted.
	shortStages               = 8
	shortLook                 = 64
	shortPrior  units.Seconds = 1
	// shortLeast bounds what is learned.
	shortLeast units.Fraction = 0.4
)

// need is the part of its predicted work that a stage of a is taken to need that has so much time
// and that others follow. A short one ends as it was begun, mostly early. Held back, tasks use less CPU time than at
// all cores, the JVM compiles between stages, and a quota gives its first period's part at once. The next ones, which
// are as short, cannot use up the time that it leaves. So short stages are steered as a group: what those that have
// ended took of the time that they were given says with how many cores the next one begins. The source's alpha knows no
// such group. Stages that the profile lacks are none of it: what those take is estimated.
func need(a *ledger.App, q dag.Params, given units.Seconds) units.Fraction {
	if q.Aim == 0 || given <= 0 || given >= shortMost {
		return 1
	}
	had, took, seen := shortPrior, shortPrior, 0
	for _, s := range slices.Backward(a.Order[max(0, len(a.Order)-shortLook):]) {
		if !wasShort(s) {
			continue
		}
		annotation, _ := a.Profile.Annotated(s)
		had += s.First
		took += units.Seconds(min(1, needed(annotation, s.Aim))) * (s.DoneAt - s.ReadyAt)
		if seen++; seen == shortStages {
			break
		}
	}
	return min(max(units.Fraction(took/had), shortLeast), 1)
}

// needed is the part of the predicted work of a stage with that annotation that its aim has.
func needed(annotation api.ProfileStage, aim ledger.Aim) float64 {
	needed := float64(aim.Work) * float64(annotation.NominalRate) / aim.Records
	if !(needed > 0) || math.Abs(needed-1) < 1e-9 {
		return 1 // Rounding is no part of it.
	}
	return needed
}

// wasShort reports whether s is one of the group that has ended.
func wasShort(s *ledger.Stage) bool {
	return s.Done != nil && !s.Done.Failed && !s.Estimated() && s.Planned && !s.Last && s.First > 0 && s.First < shortMost
}
