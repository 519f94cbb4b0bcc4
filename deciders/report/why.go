package report

import (
	"slices"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// Why says where the time of a went, which runs, waits, or has ended and is not history yet.
func Why(v ledger.View, p estimate.Policy, a *ledger.App) api.Why { return (*Kept)(nil).Why(v, p, a) }

// Why is the function of that name with the predictions that k has.
func (k *Kept) Why(v ledger.View, p estimate.Policy, a *ledger.App) api.Why {
	s := k.Summary(v, p, a)
	by := spend(a, timeOf(p, a, v.Now()), v.Now())
	return api.Why{V: api.Version, App: a.ID, Headline: s.Headline, Risk: s.Risk, Reserve: reserve(p, v, a),
		Parts:  by.parts(a),
		Causes: withSuspended(withJump(by.causes(a), v, a), a.Outcome.Suspended)}
}

// WhyEnded says where the time of an application in the history went. Parts are empty where its record is of
// an earlier release, which did not keep them.
func WhyEnded(e *ledger.Ended) api.Why {
	d := &e.Detail
	w := api.Why{V: api.Version, App: d.ID, Headline: d.Headline, Risk: d.Risk, Parts: []api.WhyPart{},
		Causes: withSuspended(e.Account.Causes, e.Account.Suspended)}
	if len(e.Account.Parts) > 0 {
		w.Parts = settle(e.Account.Parts, d.Duration, e.Account.Suspended)
	}
	return w
}

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
