package verdict

import (
	"fmt"

	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
)

// WhySuspected is what is said of a run that is Suspected.
const WhySuspected = "the last paced run failed, so this one has all cores, which shows whether pacing was why"

// Suspected reports whether a, which would be held back, has all cores because the last paced run has failed.
func Suspected(a *ledger.App) bool {
	return a.Promise.Mode == ledger.Paced && !a.Observed() && a.Profile.Suspected()
}

// limited is what a verdict's line says of limits that are set for parts of a, "" of none.
func limited(a *ledger.App) string {
	limit := estimate.Limit(a)
	switch {
	case a.Promise.Mode != ledger.Paced || !(a.Promise.Deadline > 0):
		return ""
	case Suspected(a):
		return "; " + WhySuspected
	case limit.Most > 0 && limit.Factor > 0:
		return fmt.Sprintf("; no job takes longer than %s, nor %s", Deadline(limit.Most), Times(limit.Factor))
	case limit.Most > 0:
		return "; no job takes longer than " + Deadline(limit.Most)
	case limit.Factor > 0:
		return "; no job takes longer than " + Times(limit.Factor)
	}
	return ""
}

// Times names the bound that a paced run which failed has left.
func Times(factor float64) string {
	return fmt.Sprintf("%.1f times what it takes at all cores, since a paced run failed", factor)
}
