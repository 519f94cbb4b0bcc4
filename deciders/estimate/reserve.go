package estimate

import (
	"slices"

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
		Keep:   profiles.Reserve(*body, certainty, prior(o.View, a)),
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

// prior is what is believed of how much of a run of a nobody foresees before its own runs say: the median of what the
// user's other profiles show.
func prior(v ledger.View, a *ledger.App) units.Fraction {
	var seen []units.Fraction
	user := a.Tenant.Owner.User
	for name := range v.ProfileNames(user) {
		if p := v.Profile(user, name); p != nil && name != a.Promise.Profile && p.Typical >= 0 {
			seen = append(seen, p.Typical)
		}
	}
	if len(seen) == 0 {
		return profiles.PriorReserve
	}
	slices.Sort(seen)
	return seen[len(seen)/2]
}

// Reserved are the parameters q with what a, which has a profile, keeps for what nobody foresees.
func Reserved(q dag.Params, a *ledger.App, o *Outlook) dag.Params {
	if r, keeps := ReserveOf(a, o); keeps {
		q.Aim, q.Margin, q.Reserve = 1, r.Margin, r.Keep
	}
	return q
}

// Unforeseen is about how long a takes at all cores for what its profile has not: stages that it lacks, more work in
// those that it has, and further attempts; and the stage that has most of it, nil for none.
func Unforeseen(a *ledger.App) (all units.Seconds, most *ledger.Stage) {
	if a.Profile == nil {
		return 0, nil
	}
	longest := units.Seconds(0)
	for _, s := range a.Order {
		extra := units.Seconds(s.CPU()) / units.Seconds(max(1, a.Tenant.Cores))
		switch annotation, known := a.Profile.Graph.Stage(s.Annotation); {
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
