package admission

import (
	"cmp"
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/fewest"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/profiles"
)

// WhatIf answers what a deadline would mean for a user's run by profile p. It is asked beside those that run, on all
// nodes as they are, those that sleep included, unless q, which is valid, asks about an empty cluster or a number of
// cores. Where no node starts executors, it is on those that would be asked of another cluster manager. Contexts that
// followed the profile's are to end by the deadline, too.
func WhatIf(o *estimate.Outlook, place placement.Policy, q api.PlanRequest, user string,
	p *ledger.Profile) (api.PlanReply, error) {
	v := o.View
	p = p.Drawn()
	a := &ledger.App{Profile: p, Tenant: ledger.Tenant{Launch: api.Launch{Certainty: q.Certainty}}, Promise: share(v, user,
		ledger.Promise{Start: v.Now(), Deadline: q.Deadline, Mode: ledger.Paced}, &p.Body)}
	s, asked, names := place.AllNodes(o, a), "", []string(nil)
	if s.Cores == 0 {
		s, asked = attached(o, a)
	}
	switch {
	case q.Cores > 0:
		s, asked = placement.Seating{Cores: q.Cores, Slots: int(q.Cores.CeilTo(1))}, ""
	case s.Cores == 0:
		return api.PlanReply{}, api.Errorf(api.KindTransient,
			"no node is connected to the planner: say how many cores to plan with")
	case !q.Empty:
		names = s.Nodes()
	}
	c := o.With(a, names, dag.Supply{Cores: s.Cores, Slots: s.Slots})
	params := o.Turns(p.Graph, o.Together(p.Graph))
	if q.Deadline > 0 {
		params = c.Shape(max(1, len(s.Seats)))
	}
	if q.Empty && q.Cores == 0 {
		c = c.Empty(s.Nodes())
	}
	f, said := verdict.Forecast(v, c, params, v.Now())
	r := api.PlanReply{Verdict: f.Verdict, Reason: said + asked, Earliest: c.Earliest(params, f, v.Now()),
		Cores: s.Cores, Stages: []api.PlanReplyLine{}}
	if q.Deadline > 0 {
		r.Needed = estimate.Needed(p, a.Promise.Deadline)
	}
	if kept, keeps := estimate.ReserveOf(a, o); keeps {
		r.Reserve = kept.Told()
	}
	binds := make(map[int]string)
	for _, b := range c.Bounds(f.Stages).Stages {
		binds[b.Stage] = b.By
	}
	for _, line := range f.Stages {
		stage, _ := p.Graph.Stage(line.ID)
		r.Stages = append(r.Stages, api.PlanReplyLine{ID: line.ID, Name: stage.Name, Start: line.Start,
			Deadline: line.Deadline, Cores: line.Cores, Binds: binds[line.ID]})
	}
	return r, nil
}

// attached is what a would ask another cluster manager for, in executors of one slot, where nodes attach to these, and
// what is said of that.
func attached(o *estimate.Outlook, a *ledger.App) (placement.Seating, string) {
	if placement.Attachable(o.View) == 0 {
		return placement.Seating{}, ""
	}
	p := a.Profile
	as := &ledger.App{Promise: a.Promise, Tenant: ledger.Tenant{Launch: api.Launch{Cores: 1, Attach: &api.Attach{}}},
		Profile: &ledger.Profile{Body: p.Body, Graph: p.Graph, Recorded: p.Body, Match: profiles.NewMatcher(p.Body)}}
	s := placement.Attached(o.View, &as.Tenant, cmp.Or(fewest.First(o, as), placement.MostAttached(o.View, &as.Tenant)))
	return s, fmt.Sprintf("; its cluster manager would be asked for executors with %d slots", s.Slots)
}
