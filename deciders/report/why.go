package report

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
)

// Why says where the time of a went, which runs, waits, or has ended and is not history yet, by the predictions of k.
func (k *Kept) Why(v ledger.View, p estimate.Policy, a *ledger.App) api.Why {
	s := k.Summary(v, p, a)
	by := spend(a, timeOf(p, a, v.Now()), v.Now())
	return api.Why{V: api.Version, App: a.ID, Headline: s.Headline, Risk: s.Risk, Reserve: reserve(p, v, a),
		Parts:  by.parts(a),
		Causes: withSuspended(withBound(withJump(by.causes(a), v, a), p.Outlook(v), a), a.Outcome.Suspended)}
}

// withBound is causes with what of a, which runs, no more cores would make faster, at its end.
func withBound(causes []string, o *estimate.Outlook, a *ledger.App) []string {
	if text := verdict.BoundOf(o, a); text != "" {
		causes = append(causes, "still to come: "+text)
	}
	return causes
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
