package reservation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// round is one question to the rule.
type round struct {
	by      Policy
	view    ledger.View
	outlook *estimate.Outlook
	// reserved is what of each node is, promised what others have been promised of it whose deadlines are known, as the
	// application sees it.
	reserved map[string]units.Cores
	promised map[api.AppID]map[string]units.Cores
	jobs     map[api.AppID]assign.Job
	levers   []ledger.Lever
}

// rounding is how far cores may be apart that are the same.
const rounding = 1e-9

// Decide says who gets a reservation now and who is dropped; less says that nodes give less than they gave, so that
// some may lose theirs. Ask it when an application comes or ends, when nodes or deadlines change, and now and then.
func (p Policy) Decide(o *estimate.Outlook, less bool) []ledger.Lever {
	v := o.View
	var has, waiting []*ledger.App
	for a := range v.Running() {
		switch {
		case a.Reserved() > 0:
			has = append(has, a)
		case !p.open() && waits(v, a):
			waiting = append(waiting, a)
		}
	}
	if len(has)+len(waiting) == 0 {
		return nil
	}
	r := &round{by: p, view: v, outlook: o, reserved: make(map[string]units.Cores), jobs: make(map[api.AppID]assign.Job),
		promised: make(map[api.AppID]map[string]units.Cores)}
	s := assign.State{Now: v.Now(), Learnt: v.Learnt(ledger.DeadlinesKey)}
	for _, n := range v.Nodes() {
		if n.Here() {
			s.Total.Cores += n.Offered
		}
	}
	for _, a := range r.keep(has, less) {
		s.Serving = append(s.Serving, r.job(a, a.Reserved()))
	}
	if len(waiting) == 0 {
		return r.levers
	}
	for _, a := range waiting {
		if j := r.job(a, 0); j.Tasks > 0 { // Where all is promised now nobody knows what will be.
			s.Waiting = append(s.Waiting, j)
		}
	}
	r.grant(s)
	return r.levers
}

// seats are the nodes that a has its cores on: where it is to leave it has none, and of one that is lost nobody knows.
func (r *round) seats(a *ledger.App) []string {
	return slices.DeleteFunc(a.Seats(), func(node string) bool {
		n := r.view.Node(node)
		return n == nil || !n.Here() || !(n.Offered > 0) || !r.view.Allocation(a, node).Stays()
	})
}

// keep takes the reservations of those that keep them: where their nodes do not give as much any more, those that are
// due first. Where nodes give less than they gave what is promised to others comes before; else that ends none: it
// moves as they run, and those that are due later catch up.
func (r *round) keep(has []*ledger.App, less bool) (kept []*ledger.App) {
	slices.SortFunc(has, func(a, b *ledger.App) int {
		return cmp.Or(cmp.Compare(a.Instant(a.Promise.Deadline), b.Instant(b.Promise.Deadline)),
			cmp.Compare(a.Promise.Start, b.Promise.Start), cmp.Compare(a.ID, b.ID))
	})
	for _, a := range has {
		cores := a.Reserved()
		if promised := r.promised[a.ID]; !less && promised == nil {
			r.promised[a.ID] = map[string]units.Cores{}
		}
		if len(r.seats(a)) > 0 && cores > r.free(a, r.reserved)+rounding {
			r.levers = append(r.levers, reserved(a, State{}, fmt.Sprintf(
				"the %.1f cores that were reserved are not any more: its nodes give less than they gave", float64(cores))))
			continue
		}
		r.take(r.reserved, a, cores)
		kept = append(kept, a)
	}
	return kept
}

// free is how many cores a could have of its nodes beside what is promised there, and taken: each gives its part.
func (r *round) free(a *ledger.App, taken map[string]units.Cores) units.Cores {
	seats, promised, part := r.seats(a), r.promisedTo(a), units.Cores(1)
	for _, node := range seats {
		part = min(part, 1-(taken[node]+promised[node])/r.view.Offered(node))
	}
	if len(seats) == 0 {
		return 0
	}
	return max(0, part*a.Tenant.Cores)
}

// promisedTo is what of a's nodes others have been promised until a is due whose deadlines are known.
func (r *round) promisedTo(a *ledger.App) map[string]units.Cores {
	if known := r.promised[a.ID]; known != nil {
		return known
	}
	of, seats := make(map[string]units.Cores), r.seats(a)
	for _, x := range r.outlook.Promised(a, seats) {
		b := r.view.App(x.App)
		if b == nil || b.Reserved() > 0 || x.From >= a.Promise.Deadline {
			continue
		}
		here := slices.DeleteFunc(slices.Clone(seats), func(node string) bool {
			return !b.Queued() && r.view.Allocation(b, node) == nil
		})
		all := units.Cores(0)
		for _, node := range here {
			all += r.view.Offered(node)
		}
		for _, node := range here {
			of[node] += x.Cores * r.view.Offered(node) / all
		}
	}
	r.promised[a.ID] = of
	return of
}

// take has a take so many cores of its nodes, of each in proportion to what that offers.
func (r *round) take(taken map[string]units.Cores, a *ledger.App, cores units.Cores) {
	for _, node := range r.seats(a) {
		if a.Tenant.Cores > 0 {
			taken[node] += cores * r.view.Offered(node) / a.Tenant.Cores
		}
	}
}

// job is a as one that has so many cores reserved. Until it is known what deadlines need, one that waits could use what
// is neither promised nor reserved.
func (r *round) job(a *ledger.App, cores units.Cores) assign.Job {
	u, could := r.by.unit(), most(r.view, a)
	if _, _, known := r.by.rule().Fraction(r.view.Learnt(ledger.DeadlinesKey)); !known && cores == 0 {
		could = min(could, r.free(a, r.reserved))
	}
	j := assign.Job{ID: string(a.ID), Arrival: a.Promise.Start, Due: a.Instant(a.Promise.Deadline),
		Unit: assign.Amount{Cores: u}, Units: whole(cores, u), Tasks: whole(could, u),
		Used: float64(a.CoreSeconds()) / float64(u)}
	r.jobs[a.ID] = j
	return j
}

// whole is how many units some cores hold.
func whole(cores, unit units.Cores) int { return int(math.Floor(float64(cores/unit) + rounding)) }

// grant asks the rule about s until all that it grants is what the applications' own nodes can give. An application of
// which that is not so waits, and those behind it have what it would have had.
func (r *round) grant(s assign.State) {
	for {
		taken, waits := maps.Clone(r.reserved), make(map[string]bool)
		grants := r.by.rule().Assign(s)
		for _, g := range grants {
			a, cores := r.view.App(api.AppID(g.ID)), r.by.unit()*units.Cores(g.Units)
			if g.Drop {
				continue
			}
			if waits[g.ID] = cores > r.free(a, taken)+rounding; !waits[g.ID] {
				r.take(taken, a, cores)
			}
		}
		before := len(s.Waiting)
		s.Waiting = slices.DeleteFunc(s.Waiting, func(j assign.Job) bool { return waits[j.ID] })
		if len(s.Waiting) == before {
			r.carryOut(grants)
			return
		}
	}
}

// carryOut makes levers of grants.
func (r *round) carryOut(grants []assign.Grant) {
	fraction, runs, known := r.by.rule().Fraction(r.view.Learnt(ledger.DeadlinesKey))
	for _, g := range grants {
		a := r.view.App(api.AppID(g.ID))
		if a.Reserved() > 0 {
			continue
		}
		j, due, now := r.jobs[a.ID], a.Promise.Deadline, a.At(r.view.Now())
		m := r.by.unit() * units.Cores(j.Tasks)
		f := reserved(a, State{}, "deadline "+verdict.Deadline(due))
		switch cores := min(r.by.unit()*units.Cores(g.Units), a.Tenant.Cores); {
		case g.Drop:
			f.Dropped = true
			f.Why += fmt.Sprintf(" would need %.1f cores from now, all can give %.1f: it shares what others leave",
				(fraction*float64(m)*float64(due)-float64(a.CoreSeconds()))/float64(due-now), float64(m))
		case !known:
			f.Cores, f.From, f.Free = cores, max(0, now), true
			f.Why += fmt.Sprintf(" is unknown to be feasible: it keeps the %.1f cores that are free now, "+
				"since nobody knows what deadlines here need after %d runs", float64(cores), runs)
		default:
			f.Cores, f.From = cores, max(0, now)
			f.Why += fmt.Sprintf(": %.1f of %.1f cores are reserved: %s", float64(cores), float64(m),
				r.because(fraction, runs))
		}
		r.levers = append(r.levers, f)
	}
}

// because says why as much is reserved as is.
func (r *round) because(part float64, runs int) string {
	if r.by.Admission == assign.Pythia {
		return fmt.Sprintf("deadlines here needed at most %.2f of what they could use, %d runs", part, runs)
	}
	return fmt.Sprintf("deadlines here need about %.2f of what they could use, %d runs", part, runs)
}
