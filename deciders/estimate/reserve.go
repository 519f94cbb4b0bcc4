package estimate

import (
	"cmp"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// mostReserve bounds what is kept for what nobody foresees, as a part of the deadline.
const mostReserve units.Fraction = 0.25

// Reserve is what is kept in a run for what nobody foresees.
type Reserve struct {
	// Keep is the time at all cores at each eighth of the work, Margin what an end differs by from its aim.
	Keep   [api.ReservePlaces]units.Seconds
	Margin units.Seconds
	// Runs are those that it rests on. Share is what they had unforeseen, as a part of what the profile takes.
	Runs      int
	Certainty units.Fraction
	Share     units.Fraction
}

// ReserveOf is that of a, which has a profile; false where nothing is kept: it is not paced, or wants no more than an
// even chance.
func ReserveOf(a *ledger.App, o *Outlook) (Reserve, bool) {
	certainty, deadline := a.Tenant.Launch.Certainty, a.Promise.Deadline
	if certainty <= api.LeastCertainty || o.Equations.Aim == 0 || deadline <= 0 || a.Promise.Mode != ledger.Paced {
		return Reserve{}, false
	}
	body, q := &a.Profile.Recorded, o.Equations
	r := Reserve{Runs: len(body.Residuals), Certainty: certainty,
		Keep:   profiles.Reserve(*body, certainty, prior(a, o)),
		Margin: profiles.Margin(*body, q.Margin+units.Seconds(1-q.Aim)*deadline)}
	if takes := a.Profile.Takes; takes > 0 {
		r.Share = units.Fraction(r.Keep[0] / takes)
	}
	scale := units.Seconds(1)
	if body.Cores > 0 && a.Tenant.Cores > 0 {
		scale = units.Seconds(body.Cores / a.Tenant.Cores)
	}
	for at := range r.Keep {
		r.Keep[at] = min(scale*r.Keep[at], units.Seconds(mostReserve)*deadline)
	}
	return r, true
}

// Kept is what a, which runs, keeps from where it stands on.
func Kept(a *ledger.App, o *Outlook) units.Seconds {
	r, keeps := ReserveOf(a, o)
	if !keeps {
		return 0
	}
	left := 0.0
	o.Course(a).eachLeft(a, func(_ *ledger.Stage, work float64, _ units.Seconds) { left += work })
	done := min(max(1-left/float64(a.Profile.Body.Work()), 0), 1)
	return r.Keep[int(done*(api.ReservePlaces-1))]
}

// Told is r as users see it.
func (r Reserve) Told() *api.Reserve {
	return &api.Reserve{Time: r.Keep[0], Runs: r.Runs, Certainty: r.Certainty}
}

// shown are what profiles of a user show (ledger.Profile.Typical), the least first, as of a moment.
type shown struct {
	at  units.Instant
	all []typical
}

type typical struct {
	name  string
	share units.Fraction
}

// showEvery is for how long what a user's profiles show is not looked at anew.
const showEvery = time.Minute

// prior is what is believed of how much of a run of a nobody foresees before its own runs say: the median of what the
// user's other profiles show.
func prior(a *ledger.App, o *Outlook) units.Fraction {
	user, now := a.Tenant.Owner.User, o.View.Now()
	s, known := o.shown[user]
	if !known || now.Sub(s.at) >= showEvery {
		s = shown{at: now}
		for name := range o.View.ProfileNames(user) {
			if p := o.View.Profile(user, name); p != nil && p.Typical >= 0 {
				s.all = append(s.all, typical{name, p.Typical})
			}
		}
		slices.SortFunc(s.all, func(x, y typical) int {
			return cmp.Or(cmp.Compare(x.share, y.share), cmp.Compare(x.name, y.name))
		})
		if o.shown == nil {
			o.shown = make(map[string]shown)
		}
		o.shown[user] = s
	}
	own := slices.IndexFunc(s.all, func(t typical) bool { return t.name == a.Promise.Profile })
	others := len(s.all)
	if own >= 0 {
		others--
	}
	if others == 0 {
		return profiles.PriorReserve
	}
	middle := others / 2
	if own >= 0 && own <= middle {
		middle++
	}
	return s.all[middle].share
}

// Reserved are the parameters q with what a, which has a profile, keeps for what nobody foresees, and with the bound of
// its queries and jobs.
func Reserved(q dag.Params, a *ledger.App, o *Outlook) dag.Params {
	if len(a.Profile.Body.Folds) == 0 { // Jobs that are one there are bounded stage by stage.
		q.Legs = Limit(a)
	}
	if r, keeps := ReserveOf(a, o); keeps {
		q.Aim, q.Margin, q.Reserve = 1, r.Margin, r.Keep
		for at, keep := range more(a, o, r.Certainty) {
			q.Reserve[at] = min(max(r.Keep[at], keep), units.Seconds(mostReserve)*a.Promise.Deadline)
		}
	}
	return q
}

// more is how much time at all cores a run of a keeps, with that certainty, for further queries and jobs that its
// profile lacks, by how much of the work is done: where it has had some others will come. It has nothing of them before
// the first one. Each that the profile has tells whether one more came with it, so how many still come is negative
// binomial; as much of them as may come before the last one may come after it.
func more(a *ledger.App, o *Outlook, certainty units.Fraction) (keep [api.ReservePlaces]units.Seconds) {
	lacking, known := map[int64]bool{}, map[int64]bool{}
	took := units.Seconds(0)
	for _, s := range a.Order {
		leg := -1 - int64(s.Ready.Job)
		if s.Ready.Query != nil {
			leg = s.Ready.Query.Execution
		}
		if !s.Estimated() {
			known[leg] = known[leg] || s.Annotation != ledger.Unmatched
			continue
		}
		lacking[leg] = true
		annotation, _ := a.Profile.Annotated(s)
		took += annotation.Gap + annotation.Duration*units.Seconds(ratio(a, annotation, s))
	}
	for leg := range known {
		delete(lacking, leg)
	}
	if len(lacking) == 0 {
		return keep
	}
	came, coming, left := float64(len(known)), float64(a.Profile.Match.Course().Coming), 0.0
	o.Course(a).eachLeft(a, func(_ *ledger.Stage, work float64, _ units.Seconds) { left += work })
	now := min(max(left/float64(a.Profile.Body.Work()), 0), 1)
	each := took / units.Seconds(len(lacking))
	for at := range keep {
		rest := 1 - float64(at)/(api.ReservePlaces-1)
		still := coming
		if now > 0 {
			still *= min(1, rest/now)
		}
		n := mostFurther(moreOf+float64(len(lacking)), moreIn+came+coming-still, still+1, float64(certainty))
		keep[at] = each * units.Seconds(n)
	}
	return keep
}

// Unforeseen is about how long a takes at all cores for what its profile has not: stages that it lacks, more work in
// those that it has, and further attempts. It also returns the stage that has most of it, nil for none.
func Unforeseen(a *ledger.App) (all units.Seconds, most *ledger.Stage) {
	if a.Profile == nil {
		return 0, nil
	}
	longest := units.Seconds(0)
	for _, s := range a.Order {
		extra := units.Seconds(s.CPU()) / units.Seconds(max(1, a.Tenant.Cores))
		switch annotation, known := a.Profile.Annotated(s); {
		case s.Estimated(), again(s), !known:
		case s.Done == nil:
			continue
		default:
			extra = annotation.Duration * units.Seconds(s.CPU()/annotation.CoreSeconds-1)
		}
		if all += extra; extra > longest {
			longest, most = extra, s
		}
	}
	return max(0, all), most
}
