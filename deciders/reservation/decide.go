package reservation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// round is one question to the rule.
type round struct {
	by   Policy
	view ledger.View
	// left is what each node has beside what is promised and reserved there, unreserved beside what is reserved.
	left, unreserved map[string]units.Cores
	// total is what the nodes offer, promised and reserved what of it is.
	total, promised, reserved units.Cores
	levers                    []ledger.Lever
}

// rounding is how far cores may be apart that are the same.
const rounding = 1e-9

// Decide says who gets a reservation now, who loses its own because nodes give less than they gave, and who is dropped.
// Ask it when an application comes or ends, when nodes or deadlines change, and now and then.
func (p Policy) Decide(v ledger.View) []ledger.Lever {
	if p.open() {
		return nil
	}
	var has, waiting []*ledger.App
	for a := range v.Running() {
		switch {
		case a.Reservation.Held() > 0:
			has = append(has, a)
		case waits(v, a):
			waiting = append(waiting, a)
		}
	}
	if len(has)+len(waiting) == 0 {
		return nil
	}
	r := p.newRound(v)
	s := assign.State{Now: v.Now(), Learnt: v.Learnt(ledger.DeadlinesKey)}
	for _, a := range r.keep(has) {
		s.Serving = append(s.Serving, r.job(a, a.Reservation.Held()))
	}
	s.Total.Cores = r.total
	if taken := min(r.promised, r.total-r.reserved); taken > 0 {
		// What is promised is served first, and for ever.
		s.Serving = append(s.Serving, assign.Job{Due: 1, Units: 1, Unit: assign.Amount{Cores: taken}})
	}
	for _, a := range waiting {
		s.Waiting = append(s.Waiting, r.job(a, 0))
	}
	r.grant(s)
	return r.levers
}

// newRound has on each node what it offers beside what those are promised whose deadlines are known.
func (p Policy) newRound(v ledger.View) *round {
	r := &round{by: p, view: v, left: make(map[string]units.Cores), unreserved: make(map[string]units.Cores)}
	var here []string
	for _, n := range v.Nodes() {
		if n.Here() {
			r.left[n.Node], r.unreserved[n.Node] = n.Offered, n.Offered
			r.total += n.Offered
			here = append(here, n.Node)
		}
	}
	// Nobody in particular asks, and it is due at once.
	for _, b := range p.Outlook(v).Promised(&ledger.App{Promise: ledger.Promise{Start: v.Now()}}, here) {
		a := v.App(b.App)
		if a == nil || a.Reservation.Held() > 0 {
			continue
		}
		r.promised += b.Cores
		seats := a.Seats()
		if a.Queued() {
			seats = here
		}
		all := units.Cores(0)
		for _, name := range seats {
			if _, ok := r.left[name]; ok {
				all += v.Offered(name)
			}
		}
		for _, name := range seats {
			if _, ok := r.left[name]; ok {
				r.left[name] -= b.Cores * v.Offered(name) / all
			}
		}
	}
	return r
}

// keep takes the reservations of those that keep them, and says who does not: those that are due first do. What is
// promised to others ends none: it moves as they run, and those that are due later catch up.
func (r *round) keep(has []*ledger.App) (kept []*ledger.App) {
	slices.SortFunc(has, func(a, b *ledger.App) int {
		return cmp.Or(cmp.Compare(a.Instant(a.Promise.Deadline), b.Instant(b.Promise.Deadline)),
			cmp.Compare(a.Promise.Start, b.Promise.Start), cmp.Compare(a.ID, b.ID))
	})
	for _, a := range has {
		cores := a.Reservation.Held()
		if !r.fits(r.unreserved, a, cores) {
			r.levers = append(r.levers, ledger.Reserved{App: a.ID, Why: fmt.Sprintf(
				"the %.1f cores that were reserved are not any more: its nodes give less than they gave", float64(cores))})
			continue
		}
		r.take(r.unreserved, a, cores)
		r.take(r.left, a, cores)
		r.reserved += cores
		kept = append(kept, a)
	}
	return kept
}

// part is what of a's cores is for a node.
func (r *round) part(a *ledger.App, node string, cores units.Cores) units.Cores {
	return cores * r.view.Offered(node) / a.Tenant.Cores
}

// fits reports whether each node of a has its part of so many cores left.
func (r *round) fits(left map[string]units.Cores, a *ledger.App, cores units.Cores) bool {
	seats := a.Seats()
	return len(seats) > 0 && !slices.ContainsFunc(seats, func(node string) bool {
		return !(r.part(a, node, cores) <= left[node]+rounding)
	})
}

func (r *round) take(left map[string]units.Cores, a *ledger.App, cores units.Cores) {
	for _, node := range a.Seats() {
		left[node] -= r.part(a, node, cores)
	}
}

// job is a as one that has so many cores reserved. Until it is known what deadlines need, one that waits could use what
// its own nodes have left.
func (r *round) job(a *ledger.App, cores units.Cores) assign.Job {
	u, could := r.by.unit(), most(r.view, a)
	if _, _, known := r.by.rule().Fraction(r.view.Learnt(ledger.DeadlinesKey)); !known && cores == 0 {
		for _, node := range a.Seats() {
			could = min(could, max(0, r.left[node]*a.Tenant.Cores/r.view.Offered(node)))
		}
	}
	return assign.Job{ID: string(a.ID), Arrival: a.Promise.Start, Due: a.Instant(a.Promise.Deadline),
		Unit: assign.Amount{Cores: u}, Units: whole(cores, u), Tasks: whole(could, u),
		Used: float64(a.CoreSeconds()) / float64(u)}
}

// whole is how many units some cores hold.
func whole(cores, unit units.Cores) int { return int(math.Floor(float64(cores/unit) + rounding)) }

// grant asks the rule about s until all that it grants is what the applications' own nodes can give: one of which that
// is not so waits, and those behind it have what it would have had.
func (r *round) grant(s assign.State) {
	for {
		left, waits := maps.Clone(r.left), make(map[string]bool)
		grants := r.by.rule().Assign(s)
		for _, g := range grants {
			if a := r.view.App(api.AppID(g.ID)); a != nil && !g.Drop {
				cores := r.by.unit() * units.Cores(g.Units)
				if waits[g.ID] = !r.fits(left, a, cores); !waits[g.ID] {
					r.take(left, a, cores)
				}
			}
		}
		before := len(s.Waiting)
		s.Waiting = slices.DeleteFunc(s.Waiting, func(j assign.Job) bool { return waits[j.ID] })
		if len(s.Waiting) == before {
			r.carryOut(s, grants)
			return
		}
	}
}

// carryOut makes levers of grants.
func (r *round) carryOut(s assign.State, grants []assign.Grant) {
	fraction, _, _ := r.by.rule().Fraction(s.Learnt)
	for _, g := range grants {
		a := r.view.App(api.AppID(g.ID))
		if a == nil || a.Reservation.Held() > 0 {
			continue
		}
		m, now := most(r.view, a), a.At(r.view.Now())
		f := ledger.Reserved{App: a.ID, Why: "deadline " + verdict.Deadline(a.Promise.Deadline)}
		switch cores := min(r.by.unit()*units.Cores(g.Units), a.Tenant.Cores); {
		case g.Drop:
			due := a.Promise.Deadline
			need := (fraction*float64(m)*float64(due) - float64(a.CoreSeconds())) / float64(due-now)
			f.Dropped = true
			f.Why += fmt.Sprintf(" would need %.1f cores from now, all can give %.1f: it shares what others leave",
				need, float64(m))
		default:
			f.Cores, f.From = cores, max(0, now)
			f.Why += fmt.Sprintf(": %.1f of %.1f cores are reserved: ", float64(cores), float64(m))
			f.Why += r.because()
		}
		r.levers = append(r.levers, f)
	}
}

// because says why as much is reserved as is.
func (r *round) because() string {
	part, runs, known := r.by.rule().Fraction(r.view.Learnt(ledger.DeadlinesKey))
	switch {
	case !known:
		return fmt.Sprintf("nobody knows what deadlines here need after %d runs", runs)
	case r.by.Admission == assign.Pythia:
		return fmt.Sprintf("deadlines here needed at most %.2f of what they could use, %d runs", part, runs)
	}
	return fmt.Sprintf("deadlines here need about %.2f of what they could use, %d runs", part, runs)
}
