package report

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// withJump are causes, the least of them left out where there are too many, with what stages of a's profile take since
// some day without another input. The newest version of the profile says it, which has learnt from a if that has ended.
func withJump(causes []string, v ledger.View, a *ledger.App) []string {
	p := v.Profile(a.Tenant.Owner.User, a.Promise.Profile)
	if p == nil {
		return causes
	}
	jumps := profiles.Jumps(p.Body)
	if len(jumps) == 0 {
		return causes
	}
	return append(slices.Clone(causes[:min(len(causes), mostCauses-1)]),
		strings.Join(jumps[:min(len(jumps), mostCauses)], "; ")+", by its profile")
}

// withSuspended are causes with the time for which the driver's machine was suspended, which is known last.
func withSuspended(causes []string, suspended units.Seconds) []string {
	if suspended > 0 {
		causes = append([]string{saySpan(suspended) + " suspended"}, causes...)
	}
	return causes[:min(len(causes), mostCauses)]
}
