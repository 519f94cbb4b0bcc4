package queue

import (
	"cmp"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// book is what the rule is asked about, and its answer.
type book struct {
	Policy
	outlook *estimate.Outlook
	view    ledger.View
	// line are those that wait, in their order once that is known; entered is how they start now.
	line    []*ledger.App
	entered map[api.AppID]entered
	// whole and answer are found once, when somebody asks.
	whole  *whole
	answer *assignment
}

// entered is an application as it starts now.
type entered struct {
	app     *ledger.App
	matched bool
}

// assignment is what the rule gives each application.
type assignment struct {
	assign.State
	jobs   map[api.AppID]*assign.Job
	grants map[api.AppID]int
}

// granted is on how many nodes the application may have executors.
func (s *assignment) granted(id api.AppID) int {
	if units, changed := s.grants[id]; changed {
		return units
	}
	return s.jobs[id].Units
}

func (p Policy) newBook(o *estimate.Outlook, line []*ledger.App) book {
	return book{Policy: p, outlook: o, view: o.View, line: line, entered: make(map[api.AppID]entered)}
}

// enter has a, which waits, count as it is when it starts now.
func (b *book) enter(a *ledger.App, profile *ledger.Profile) {
	app, matched := b.outlook.Starting(a, profile)
	b.entered[a.ID] = entered{app, matched}
}

// cluster is the whole.
func (b *book) cluster() *whole {
	if b.whole == nil {
		w := wholeOf(b.view)
		b.whole = &w
	}
	return b.whole
}

// assign asks the rule.
func (b *book) assign() *assignment {
	if b.answer != nil {
		return b.answer
	}
	s := &assignment{State: b.state(), jobs: make(map[api.AppID]*assign.Job), grants: make(map[api.AppID]int)}
	s.Sorted = true
	for _, jobs := range [][]assign.Job{s.Serving, s.Waiting} {
		for i := range jobs {
			s.jobs[api.AppID(jobs[i].ID)] = &jobs[i]
		}
	}
	for _, g := range b.rule().Assign(s.State) {
		s.grants[api.AppID(g.ID)] = g.Units
	}
	b.answer = s
	return s
}

// state is the cluster with those that run and those that wait.
func (b *book) state() assign.State {
	s := assign.State{Now: b.view.Now(), Total: assign.Amount{Memory: b.cluster().total}}
	if len(b.line) > 0 {
		s.Freed = b.view.Freed() >= since(b.line[0])
	}
	seen := make(map[string]bool)
	for a := range b.view.Running() {
		s.Serving = append(s.Serving, b.serving(a, seen))
	}
	slices.SortStableFunc(s.Serving, func(x, y assign.Job) int { return cmp.Compare(x.Began, y.Began) })
	for _, a := range b.line {
		s.Waiting = append(s.Waiting, b.waiting(a))
	}
	return s
}

// serving is a, which runs. seen is room for its nodes.
func (b *book) serving(a *ledger.App, seen map[string]bool) assign.Job {
	has, executors := standing(a, seen)
	most := b.mostOf(a)
	if a.Tenant.GaveUp || a.Outcome.Killed != "" {
		most = has // It gets no more.
	}
	j := b.job(a, has, most, (executors+has-1)/max(1, has), a.Tenant.Cores/units.Cores(max(1, has)))
	j.Began = a.Instant(a.Tenant.Began)
	j.Arrival = j.Began.Add(-waiting.Of(a).Waited.Duration())
	return j
}

// waiting is a, which waits, as it starts now: with as many executors on a node as fill its cores, where it holds
// these.
func (b *book) waiting(a *ledger.App) assign.Job {
	a = b.entered[a.ID].app
	w, executors := b.cluster(), 1
	if cores := a.Tenant.Launch.Cores; cores > 0 {
		executors = max(1, min(int(w.each)/cores, int(w.largest/max(1, a.Tenant.Claim()))))
	}
	j := b.job(a, 0, b.mostOf(a), executors, w.each)
	if b.Order != assign.Laxity {
		j.Due = due(b.view.Now(), a)
	}
	return j
}

// job is a as one that has so many nodes, with so many executors on each, and is on no more than most. A node has so
// many cores for it.
func (b *book) job(a *ledger.App, has, most, executors int, each units.Cores) assign.Job {
	if a.Tenant.Cap > 0 {
		each = min(each, a.Tenant.Cap)
	}
	// An application that needs more nodes than there are never starts, and blocks no other: package assign sees to that.
	core := max(placement.Least(a), min(needs(b.outlook, a, each), most))
	j := assign.Job{ID: string(a.ID), Arrival: since(a), Priority: priority(a), Core: core,
		Elastic: max(most, has, core) - core, Units: has,
		Unit: b.cluster().unit(a.Tenant.Claim() * units.Bytes(executors))}
	if a.Promise.Deadline > 0 {
		j.Due = a.Instant(a.Promise.Deadline)
	}
	if b.Order != "" && b.Order != assign.EDF && b.Order != assign.FIFO {
		if j.Time = took(b.view, a); j.Time == 0 && a.Profile != nil {
			j.Time = a.Profile.Body.Duration - a.Profile.Body.Head
		}
		j.Left = float64(j.Time) * float64(j.Core+j.Elastic)
	}
	return j
}

// mostOf is on how many nodes a could be if nothing else ran.
func (b *book) mostOf(a *ledger.App) int {
	most := b.cluster().holders(a.Tenant.Claim())
	if bound := b.Places.Most(a); bound > 0 {
		most = min(most, bound)
	}
	return most
}

// standing is on how many nodes a has executors that stay or are to be replaced, and how many these are.
func standing(a *ledger.App, seen map[string]bool) (nodes, executors int) {
	clear(seen)
	for _, x := range a.Tenant.Executors {
		if !x.Gone && !x.Leaving {
			seen[x.Node] = true
			executors++
		}
	}
	for _, name := range a.Tenant.Pending {
		if name != "" {
			seen[name] = true
			executors++
		}
	}
	return len(seen), max(1, executors)
}

// sort brings those that wait into their order.
func (b *book) sort() {
	switch now := b.view.Now(); {
	case b.Order == "" || b.Order == assign.EDF:
		slices.SortFunc(b.line, func(x, y *ledger.App) int {
			if b.Rule == assign.FlexiblePreemptive {
				if c := priority(b.entered[y.ID].app) - priority(b.entered[x.ID].app); c != 0 {
					return c
				}
			}
			return edf(now, x, y)
		})
	case len(b.line) > 1:
		s := b.state()
		b.rule().Sort(&s)
		place := make(map[api.AppID]int)
		for i := range s.Waiting {
			place[api.AppID(s.Waiting[i].ID)] = i
		}
		slices.SortFunc(b.line, func(x, y *ledger.App) int { return place[x.ID] - place[y.ID] })
	}
}
