package estimate

import (
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Yield is the time that a stage of a, which is paced, has from now on, where
// left is what the equations give it by q (Aiming) and others follow it. Nodes that do not serve by deadline
// give everybody a part of a shortage, so who is due later takes from who is due first, though
// it could do its work after that. There it asks for less: its stages divide not the time until
// its deadline but what others leave of the nodes until then, and they leave more when they are
// done. The last of its work is done at no more than Later.Speed of its speed at all cores and
// of what is left then. On nodes that serve by deadline, and by the source's alpha, nobody yields.
func (o *Outlook) Yield(a *ledger.App, q dag.Params, left units.Seconds) units.Seconds {
	nodes := a.Seats()
	if InOrder(o.View, nodes) {
		return left
	}
	now, due := a.At(o.View.Now()), a.Promise.Deadline
	rest := due - q.Margin - now
	if q.Aim == 0 || left <= 0 || left >= rest {
		return left
	}
	s := dag.Supply{Cores: a.Tenant.Cores, Taken: taken(o.Promised(a, nodes))}
	work := float64(o.Least(a)) * float64(due-now)
	promised := work // Until a's deadline, in core-seconds.
	for _, t := range s.Taken {
		promised += float64(t.Cores) * max(0, float64(min(t.Until, now+rest)-max(t.From, now)))
	}
	free, last := s.Between(now, now+rest)
	if !(last > 0) || promised > o.rules().Later.Yield*float64(s.Cores)*float64(rest) {
		return left
	}
	fast := units.Seconds(float64(free) / float64(last)) // Time of all of it at the end's speed.
	slow := max(units.Seconds(o.timed(a).fastest), units.Seconds(work/float64(last)))
	later := s.After(now, free*units.Work(left/rest)) - now
	return o.rules().Later.Yielded(left, rest, later, fast, slow)
}
