package report

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign/scores"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/deciders/reservation"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Evenness is how even applications were served in the last hour, nil for not known.
type Evenness struct{ Fairness, Equality *float64 }

// Queue is what `pacer policy show` prints, but for who waits, of a queue that is served by that policy; reserves says
// who gets a reservation.
func Queue(v ledger.View, in api.QueuePolicy, reserves reservation.Policy, even Evenness) api.QueueDetail {
	d := api.QueueDetail{QueuePolicy: in, Idle: append([]api.IdleMemory{}, queue.Idle(v)...), Gifts: gifts(v),
		Scores: deadlines(v)}
	fraction, runs, learnt, reserved := reserves.State(v)
	d.Fraction, d.Runs, d.Reserved = known(fraction, learnt), runs, reserved
	d.Scores.Fairness, d.Scores.Equality = even.Fairness, even.Equality
	if v.QueuePolicy() != nil {
		d.SetBy = "operator"
	}
	return d
}

// gifts are what those that wait are given now, in the order of who waits.
func gifts(v ledger.View) []api.Gift {
	all := []api.Gift{}
	given := waiting.Given(v)
	for _, to := range v.Waiting() {
		for _, g := range given[to.ID] {
			x := g.Executor()
			gift := api.Gift{From: g.From.ID, Node: x.Node, To: to.ID}
			if !x.Gone && !g.Stayed && !slices.Contains(all, gift) {
				all = append(all, gift)
			}
		}
	}
	return all
}

// deadlines are the scores of the applications with a deadline that are over, and of those that run past it. An
// application whose end is not known is not among them.
func deadlines(v ledger.View) api.Scores {
	var runs []scores.Run
	for _, e := range v.Ended() {
		if d := &e.Detail; d.Deadline > 0 && d.State != api.AppUnknown {
			met := d.State == api.AppFinished && d.Duration <= d.Deadline
			runs = append(runs, run(met, e.Account.Profiled, d.CoreSeconds))
		}
	}
	for a := range v.Running() {
		if a.Promise.Deadline > 0 && a.Elapsed(v.Now()) > a.Promise.Deadline {
			profiled := units.Work(0)
			if a.Profile != nil {
				profiled = a.Profile.Body.Work()
			}
			runs = append(runs, run(false, profiled, a.CoreSeconds()))
		}
	}
	d, ok := scores.Of(runs)
	return api.Scores{Met: known(d.SDR, ok), Useful: known(d.PTR, ok), Wasted: known(d.WTR, ok)}
}

// run is one that has used so much. The work of an application that has met its deadline was all that it used; another
// one had as much to do as its profile says, where that is more than it has used.
func run(met bool, profiled, used units.Work) scores.Run {
	work := used
	if !met {
		work = max(work, profiled)
	}
	return scores.Run{Met: met, Work: work, Used: used}
}

// known is a score, nil where there is none.
func known(score float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &score
}

// Even is how even applications are served now: Fairness is of what they have of the nodes that they could use,
// Equality of what those have that could use as many, those that wait included.
func Even(v ledger.View, p placement.Policy) Evenness {
	has := make(map[*ledger.App]int)
	for _, n := range v.Nodes() {
		for _, t := range v.Allocations(n.Node) {
			if slices.ContainsFunc(t.Executors, func(x *ledger.Executor) bool { return !x.Leaving }) {
				has[t.App]++
			}
		}
	}
	live := len(v.Live())
	var shares []scores.Share
	for _, a := range v.Apps() {
		if !a.Running() && !a.Queued() {
			continue
		}
		could := live
		if most := p.Most(a); most > 0 {
			could = min(most, live)
		}
		shares = append(shares, scores.Share{Demand: float64(could), Has: float64(has[a])})
	}
	return Evenness{known(scores.Fairness(shares)), known(scores.Equality(shares))}
}
