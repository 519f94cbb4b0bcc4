package behind

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

const (
	// Every is how often Decide is to be asked; keepFor is after how long of another choice being better that is taken.
	Every   = time.Second
	keepFor = 5 * time.Second
)

// Choice is of which applications it was last. The zero value is of none yet.
type Choice struct {
	made  bool
	among []api.AppID
	event bool // These are others than before.
}

// Decide says which applications are put behind now, and which no more. The caller keeps better for it: since when
// another choice is better, 0 for not.
func (c *Choice) Decide(o *estimate.Outlook, better *units.Instant) (levers []ledger.Lever) {
	now := o.View.Now()
	s := gather(o)
	among := s.among()
	c.event = c.made && !slices.Equal(among, c.among)
	c.made, c.among = true, among
	chosen := c.choose(s, now, better)
	for i := range s.all {
		j, is := &s.all[i], slices.Contains(chosen, i)
		if is == j.app.Marks.Behind {
			continue
		}
		lever := ledger.PutBehind{App: j.app.ID}
		if is {
			lever.Why = fmt.Sprintf("not all there can be in time, and of those that are due by then it needs most: "+
				"%.0f core-seconds in %.0f s", j.work, j.by)
		}
		levers = append(levers, lever)
	}
	return levers
}

// choose is which of s are behind from now on: those that are, unless another choice has been better for long, or an
// application has come or ended: what holds then is no noise.
func (c *Choice) choose(s *jobs, now units.Instant, better *units.Instant) []int {
	is := s.behind()
	had, has := s.met(0), s.choose()
	chosen := s.behind()
	if has < had || has == had && len(chosen) >= len(is) {
		*better = 0
		return is
	}
	if *better == 0 {
		*better = now
	}
	if !c.event && now < better.Add(keepFor) {
		return is
	}
	return chosen
}

// gather is all that nodes by supervisor.Auto have to have in time, in order of deadline.
func gather(o *estimate.Outlook) *jobs {
	s, of := &jobs{doubts: sharing.Of(o.Sharing).Doubts}, make(map[*ledger.App]*job)
	for _, n := range o.View.Nodes() {
		if n.Dividing.Strategy != supervisor.Auto || !n.Here() {
			continue
		}
		cores := max(0, min(n.Offered, n.Total-n.Others))
		gives := cores
		for _, t := range o.View.Allocations(n.Node) {
			switch a := t.App; {
			case !a.Running() || a.Unmanaged():
			case a.Band() == api.BandShared:
				gives = cores * (1 - units.Cores(supervisor.Default().FloorShare))
			case a.Tenant.Cores > 0 && (a.Profile != nil || a.Reserved() > 0):
				if of[a] == nil {
					of[a] = jobOf(a, o)
				}
				of[a].parts = append(of[a].parts, part{len(s.cores), of[a].work * float64(t.Cores(n.Offered)/a.Tenant.Cores)})
			}
		}
		s.cores = append(s.cores, float64(gives))
	}
	for _, j := range of {
		s.all = append(s.all, *j)
	}
	slices.SortFunc(s.all, func(x, y job) int {
		return cmp.Or(cmp.Compare(x.due, y.due), cmp.Compare(x.app.ID, y.app.ID))
	})
	return s
}

// among are the applications of s.
func (s *jobs) among() (ids []api.AppID) {
	for _, j := range s.all {
		ids = append(ids, j.app.ID)
	}
	slices.Sort(ids)
	return ids
}

// jobOf is what a needs of all its nodes.
func jobOf(a *ledger.App, o *estimate.Outlook) *job {
	due := a.Promise.Deadline - a.At(o.View.Now())
	work, by := units.Work(a.Reserved())*units.Work(max(0, due)), due
	if a.Profile != nil {
		work, by = estimate.Need(a, o)
	}
	return &job{app: a, due: float64(due), by: float64(by), work: float64(work), behind: a.Marks.Behind}
}
