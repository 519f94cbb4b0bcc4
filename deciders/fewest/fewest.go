package fewest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// First is how many executors a, which comes, asks for; 0 where nobody can foretell its end.
func First(o *estimate.Outlook, a *ledger.App) int {
	if !foretold(a) {
		return 0
	}
	return view(o, a).fewest(params.Enough)
}

// Decide says how many executors a, which is attached and runs, asks for from now on, and which of them go.
func Decide(o *estimate.Outlook, a *ledger.App) []ledger.Lever {
	at := placement.AttachmentOf(a)
	switch {
	case !foretold(a) && at.Wanted > 0:
		return []ledger.Lever{placement.ExecutorsWanted{OfApp: ledger.OfApp{App: a.ID}}}
	case !foretold(a), a.Promise.Late, a.Promise.Unheard:
		return nil
	}
	s := view(o, a)
	next := placement.ExecutorsWanted{OfApp: ledger.OfApp{App: a.ID}, Count: at.Wanted, Spare: at.Spare > 0}
	var going []*ledger.Executor
	switch fewer := s.fewest(params.Spare); {
	case at.Wanted == 0 || s.end(at.Wanted) > s.due(params.Late):
		next.Count, next.Spare = min(max(s.fewest(params.Enough), s.has), s.most), false
		next.Says = fmt.Sprintf("%d executors are asked of %s: it would be late with %d", next.Count,
			a.Tenant.Launch.Attach.Manager, s.has)
	case fewer >= max(at.Wanted, s.has) || a.Promise.Deadline-s.now < params.Worth:
		next.Spare = false
	case at.Spare == 0:
		next.Spare = true
	case s.now >= at.Spare+params.Idle:
		next.Count, next.Spare = fewer, false
		going = s.going(s.has - fewer)
	}
	if next.Count == at.Wanted && next.Spare == (at.Spare > 0) && len(going) == 0 {
		return nil
	}
	if next.Count == at.Wanted {
		next.Says = ""
	}
	next.On = s.hints(next.Count - s.has)
	levers := []ledger.Lever{next}
	for _, x := range going {
		levers = append(levers, ledger.ExecutorLeaving{App: a.ID, ID: x.ID})
	}
	return levers
}

// foretold reports whether a's end can be foretold, and its deadline is all that counts. An application that is to show
// what it does at all cores, or whose queries and jobs have a bound, has what it would have without Pacer.
func foretold(a *ledger.App) bool {
	return a.Promise.Mode == ledger.Paced && a.Profile != nil && a.Promise.Deadline > 0 && !a.Profile.Suspected() &&
		estimate.Limit(a) == (dag.Bound{})
}

// sight is what an application has and could have.
type sight struct {
	o   *estimate.Outlook
	a   *ledger.App
	now units.Seconds // On its deadline clock.
	// stay are its executors that do not leave, has how many they are, and here what they can use.
	stay []*ledger.Executor
	has  int
	here units.Cores
	// slots are those that they have, each those of one more.
	slots, each int
	// least and most are how many it asks for, offered are the cores of the nodes that attach, 0 for unknown.
	least, most int
	offered     units.Cores
}

func view(o *estimate.Outlook, a *ledger.App) *sight {
	t := &a.Tenant
	s := &sight{o: o, a: a, now: a.At(o.View.Now()), each: max(1, t.Launch.Cores), least: max(1, t.Launch.Attach.Least),
		most: placement.MostAttached(o.View, t), offered: placement.Attachable(o.View)}
	for _, x := range a.Alive() {
		if !x.Leaving {
			s.stay = append(s.stay, x)
		}
	}
	if s.has = len(s.stay); s.has > 0 {
		s.here, s.slots = placement.Extent(o.View, a)
	}
	s.most = max(s.most, s.least)
	return s
}

// end is when a ends at all cores of n executors. Executors beyond the ones that it has come later: until then it goes
// on with these, which do their part of what is left.
func (s *sight) end(n int) units.Seconds {
	if n <= s.has {
		part := float64(n) / float64(s.has)
		return s.on(dag.Supply{Cores: s.here * units.Cores(part), Slots: max(1, int(float64(s.slots)*part))})
	}
	all := dag.Supply{Cores: s.here + units.Cores((n-s.has)*s.each), Slots: s.slots + (n-s.has)*s.each}
	if s.offered > 0 {
		all.Cores = max(min(all.Cores, s.offered), s.here)
	}
	whole, left := s.on(all)-s.now, units.Seconds(1)
	if s.has > 0 {
		alone := s.end(s.has) - s.now
		if alone <= params.Comes {
			return s.now + alone
		}
		left -= params.Comes / alone
	}
	return s.now + params.Comes + left*whole
}

// on is when a ends at all cores of a supply that is there now.
func (s *sight) on(supply dag.Supply) units.Seconds { return s.o.With(s.a, nil, supply).End() }

// due is that part of what is left of a's deadline, on its deadline clock.
func (s *sight) due(part units.Seconds) units.Seconds {
	return s.now + part*(s.a.Promise.Deadline-s.now)
}

// fewest is the least number of executors that keeps that part or, where none does, the least that is nearly as good as
// the most.
func (s *sight) fewest(part units.Seconds) int {
	by := s.due(part)
	if best := s.end(s.most); best > by {
		by = best + params.Gain*max(0, s.a.Promise.Deadline-s.now)
	}
	return s.least + sort.Search(s.most-s.least, func(i int) bool { return s.end(s.least+i) <= by })
}

// going are so many of a's executors that leave: those that have done nothing for longest first, then the newest.
func (s *sight) going(n int) []*ledger.Executor {
	slices.SortFunc(s.stay, func(x, y *ledger.Executor) int {
		return cmp.Or(cmp.Compare(x.Worked, y.Worked), cmp.Compare(ledger.Number(y.ID), ledger.Number(x.ID)))
	})
	return s.stay[:min(max(0, n), len(s.stay))]
}

// hints are hosts on which so many more executors would find most cores that nobody is thought to use.
func (s *sight) hints(more int) (hosts []string) {
	free := placement.Spare(s.o.View)
	for _, n := range free[:min(max(0, more), len(free))] {
		hosts = append(hosts, n.Host)
	}
	return hosts
}
