package recording

import (
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// aloneShare is the part of its cores' time that other applications may have used
// beside one that counts as alone: an executor that starts or ends is no company.
const aloneShare = 0.05

// contended reports whether others have used so much of a's cores that its times are
// not those of a run alone.
func contended(a *ledger.App) bool {
	had := units.Work(float64(a.Tenant.Cores) * float64(a.Marks.LastTask-a.Promise.First))
	return a.Tenant.Beside > aloneShare*max(0, had)
}

// startedBeside reports whether the time until a's first stage was ready is not that of an application that starts at
// once and alone. Others used its cores, or it was queued, while its driver went on with what it can do without
// executors.
func startedBeside(a *ledger.App) bool {
	had := units.Work(float64(a.Tenant.Cores) * float64(unqueued(a, a.Promise.First)))
	return waiting.Of(a).Waited > 0 || a.Tenant.BesideStart > aloneShare*max(0, had)
}

// unqueued is the time t of a's deadline clock on a clock that stands still while a is
// queued.
func unqueued(a *ledger.App, t units.Seconds) units.Seconds {
	return t - min(waiting.Of(a).Waited, max(0, t-(a.Tenant.Began-waiting.Of(a).Waited)))
}

// exitLead is how long before the stop of a's context others are looked at: a node says each
// second what they use, and most exits are over before it says that again.
const exitLead units.Seconds = 1

// exitedBeside reports whether others used a's cores while its driver went from the
// context's stop to its exit.
func exitedBeside(v ledger.View, a *ledger.App) bool {
	from, to := a.Instant(a.Outcome.Stopped-exitLead), a.Instant(a.Outcome.Ended)
	nodes := make(map[string]bool)
	for _, x := range a.Tenant.Executors {
		nodes[x.Node] = true
	}
	var used units.Work
	for _, other := range v.Apps() {
		if other.ID == a.ID {
			continue
		}
		for _, x := range other.Tenant.Executors {
			if nodes[x.Node] {
				used += x.UsedAt(other.At(to)) - x.UsedAt(other.At(from))
			}
		}
	}
	had := units.Work(float64(a.Tenant.Cores) * float64(units.FromDuration(to.Sub(from))))
	return used > aloneShare*had
}
