package report

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// keepFor is for how long a prediction of a running application is told that nothing but its
// progress has changed.
const keepFor = 2 * time.Second

// Kept has the predicted ends of running applications, so that a run is not walked again for
// everybody who asks: a prediction is made anew at an event of its application, and after keepFor.
// The zero value has none; a nil Kept predicts each time. It is not safe for concurrent use.
type Kept struct{ ends map[api.AppID]end }

// end is a prediction that was made at a moment, and what it was made of.
type end struct {
	at        units.Instant
	of        standing
	predicted units.Seconds
}

// standing is what an event of an application changes.
type standing struct {
	marks    ledger.Marks
	gate     ledger.Gate
	mode     ledger.Mode
	paused   bool
	deadline units.Seconds
	cores    units.Cores
	cap      units.Cores
}

// Predicted is a's duration at its end by p, 0 when nobody can know.
func (k *Kept) Predicted(v ledger.View, p estimate.Policy, a *ledger.App) units.Seconds {
	if k == nil || !a.Running() {
		return p.Outlook(v).Predicted(a) // What does not run is walked by nobody.
	}
	of := standing{a.Marks, a.Promise.Gate, a.Promise.Mode, a.Promise.Paused, a.Promise.Deadline, a.Tenant.Cores,
		a.Tenant.Cap}
	if last, ok := k.ends[a.ID]; ok && last.of == of && v.Now().Sub(last.at) < keepFor {
		return last.predicted
	}
	if k.ends == nil {
		k.ends = make(map[api.AppID]end)
	}
	k.forget(v)
	e := end{v.Now(), of, p.Outlook(v).Predicted(a)}
	k.ends[a.ID] = e
	return e.predicted
}

// forget drops predictions of what does not run any more, once they are many.
func (k *Kept) forget(v ledger.View) {
	if len(k.ends) <= 2*len(v.Apps()) {
		return
	}
	for id := range k.ends {
		if a := v.App(id); a == nil || !a.Running() {
			delete(k.ends, id)
		}
	}
}
