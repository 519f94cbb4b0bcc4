package estimate

import (
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// priorPart is the part of a stage that its predicted CPU time is worth against what it has used so far: a JVM's first
// tasks use more than the others.
const priorPart = 0.1

// Need is what a, which runs and has a profile, still takes of its nodes, and how much time its stages have for it.
// That is what is left of its deadline without the driver's gaps, its tail and its exit. Held back, tasks use less than
// with all cores, with which the profile was made: what a running stage has used for what is done of it says what its
// rest takes.
func Need(a *ledger.App, o *Outlook) (work units.Work, by units.Seconds) {
	c := o.Course(a)
	by = a.Promise.Deadline - a.At(o.View.Now()) - c.Body.Tail - c.Body.Exit
	c.eachLeft(a, func(s *ledger.Stage, left float64, gap units.Seconds) {
		if s != nil && s.Progress() > 0 { // Without a target none is told.
			annotation, _ := a.Profile.Annotated(s)
			done, predicted := units.Work(s.Progress()), Predict(a, annotation, s).Work
			left = float64((s.CPU() + priorPart*predicted) / (done + priorPart) * (1 - done))
		}
		work += units.Work(left)
		by -= gap
	})
	return work, by
}
