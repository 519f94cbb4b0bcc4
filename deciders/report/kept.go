package report

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// keepFor is for how long a prediction of a running application is told at most.
	keepFor = 5 * time.Second
	// Of the applications one in eventsPart is predicted anew in a second because of its events, or fewEvents of them
	// where that is more: what more events change is seen when keepFor is over.
	eventsPart = 25
	fewEvents  = 16
)

// Kept has the predicted ends of running applications, so that a run is not walked again for
// everybody who asks: a prediction is made anew at an event of its application, and each keepFor. Applications have
// their moments spread over that time, so that each second few are walked, however many there are. The zero value has
// none; a nil Kept predicts each time. It is not safe for concurrent use.
type Kept struct {
	ends map[api.AppID]end
	// spare is how many may be made anew for events at the moment at.
	spare float64
	at    units.Instant
	made  int
}

// Made is how many predictions have been made.
func (k *Kept) Made() int { return k.made }

// end is a prediction that was made at a moment, and what it was made of.
type end struct {
	at        units.Instant
	of        standing
	predicted units.Seconds
	phase     time.Duration
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
		return p.Outlook(v).Predicted(a) // An application that does not run is walked by nobody.
	}
	of := standing{a.Marks, a.Promise.Gate, a.Promise.Mode, pause.Paused(a), a.Promise.Deadline, a.Tenant.Cores,
		a.Tenant.Cap}
	last, ok := k.ends[a.ID]
	if ok && turn(last.phase, last.at) == turn(last.phase, v.Now()) && (last.of == of || !k.spares(v.Now())) {
		return last.predicted
	}
	if k.ends == nil {
		k.ends = make(map[api.AppID]end)
	}
	k.forget(v)
	if !ok {
		last.phase = phase(k.made)
	}
	e := end{v.Now(), of, p.Outlook(v).Predicted(a), last.phase}
	k.ends[a.ID] = e
	k.made++
	return e.predicted
}

// turn counts the moments until at in which an application with that phase is predicted anew whatever happens.
func turn(phase time.Duration, at units.Instant) int64 { return int64(at.Add(phase)) / int64(keepFor) }

// phase is that of the n-th application: by the golden ratio any number of them are spread evenly.
func phase(n int) time.Duration {
	_, part := math.Modf(float64(n) * math.Phi)
	return time.Duration(part * float64(keepFor))
}

// spares reports whether one more may be predicted anew for its events now.
func (k *Kept) spares(now units.Instant) bool {
	each := max(fewEvents, float64(len(k.ends))/eventsPart)
	if now != k.at {
		k.spare, k.at = min(each, k.spare+each*now.Sub(k.at).Seconds()), now
	}
	if k.spare < 1 {
		return false
	}
	k.spare--
	return true
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
