package estimate

import (
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/devices"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Outlook is how the applications of a View stand: what each has before it, when it ends, the least cores with which
// it is in time, and what it has been promised. Each is found when somebody first asks, and again only when a fact
// has changed the application or time has passed. It is not safe for concurrent use.
type Outlook struct {
	Policy
	View ledger.View
	of   map[*ledger.App]*prospect
	// shown is what the profiles of users show.
	shown map[string]shown
}

// prospect is what an Outlook has found of an application.
type prospect struct {
	// changes is how often facts had changed it.
	changes uint64
	course  Course
	// The fields below were found at a moment, -1 for not yet.
	at      units.Instant
	least   units.Cores
	fastest float64
	// uses were found at usedAt, 0 for not yet.
	usedAt units.Instant
	uses   []devices.Use
}

// Outlook returns that of v by p.
func (p Policy) Outlook(v ledger.View) *Outlook { return &Outlook{Policy: p, View: v} }

// prospect is that of a, which has a profile.
func (o *Outlook) prospect(a *ledger.App) *prospect {
	x := o.of[a]
	if x == nil || x.changes != a.Clocks.Changes {
		if o.of == nil {
			o.of = make(map[*ledger.App]*prospect)
		}
		x = &prospect{changes: a.Clocks.Changes, course: courseOf(a), at: -1}
		o.of[a] = x
	}
	return x
}

// timed is the prospect of a with what passes with time.
func (o *Outlook) timed(a *ledger.App) *prospect {
	if a.Queued() && len(a.Order) == 0 {
		return unbegun(o.View.Now(), a)
	}
	x, now := o.prospect(a), o.View.Now()
	if x.at != now {
		x.at, x.least, x.fastest = now, least(now, a, x.course), fastest(a, x.course)
	}
	return x
}

// Course is what a, which has a profile, has before it.
func (o *Outlook) Course(a *ledger.App) Course { return o.prospect(a).course }

// Least is the least number of cores with which a, which is paced, is in time from where it stands.
func (o *Outlook) Least(a *ledger.App) units.Cores { return o.timed(a).least }

// Of are the parameters of the equations for a, which has a profile: of the executors
// that it has now.
func (o *Outlook) Of(a *ledger.App) dag.Params {
	return Reserved(o.Turns(a.Profile.Graph, abreast(o.View, a)), a, o)
}

// abreast is how many stages of a can run side by side: by its executors on the node that has
// room for most, those counted that are to be replaced.
func abreast(v ledger.View, a *ledger.App) int {
	count := make(map[string]int)
	for _, x := range a.Tenant.Executors {
		if !x.Gone && !x.Leaving {
			count[x.Node]++
		}
	}
	for _, name := range a.Tenant.Pending {
		count[name]++
	}
	most := 0
	for name, executors := range count {
		if n := v.Node(name); n != nil {
			executors = max(1, executors/n.PerStage(a.Tenant.Launch))
		}
		most = max(most, executors)
	}
	return most
}

// Turning reports whether a's stages take turns because that is cheaper.
func (o *Outlook) Turning(a *ledger.App) bool {
	return o.Opens() && !a.Observed() && o.Of(a).Executors > 0
}
