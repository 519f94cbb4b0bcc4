package queue

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
)

// Shares are on how many nodes each application that runs may have executors by p's rule, nil where it bounds none.
func (p Policy) Shares(o *estimate.Outlook) map[api.AppID]int {
	if p.Backfills() {
		return nil
	}
	b := p.newBook(o, slices.Clone(o.View.Waiting()))
	for _, a := range b.line {
		b.enter(a, o.View.Judged(a.Tenant.Owner.User, a.Promise.Profile))
	}
	b.sort()
	shares, s := make(map[api.AppID]int), b.assign()
	for i := range s.Serving {
		id := api.AppID(s.Serving[i].ID)
		shares[id] = s.granted(id)
	}
	return shares
}

const (
	// calm is for how long an application that has given back gets nothing, and keeps what it has got since it started.
	calm = 2 * time.Minute
	// worthwhile is what has to be left of a run for more executors: a start costs 6 to 8 core-seconds.
	worthwhile = time.Minute
)

// Grows reports whether a, which runs, may get executors on more nodes now: it has given none back a moment ago, and
// does not end in a moment.
func Grows(o *estimate.Outlook, a *ledger.App) bool {
	now := a.At(o.View.Now())
	for _, x := range a.Tenant.Executors {
		if x.For != "" && (now-x.Asked).Duration() < calm {
			return false
		}
	}
	end := o.Predicted(a)
	return end == 0 || (end-now).Duration() >= worthwhile
}
