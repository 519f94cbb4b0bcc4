package admission

import (
	"errors"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/placement"
	"github.com/sparkpacer/pacer/units"
	"github.com/sparkpacer/pacer/verdict"
)

// NoProfile is the error of a profile that is not there.
func NoProfile(name string) error {
	return api.Errorf(api.KindNotFound, "profile %q is not known: `pacer profiles list` lists them", name)
}

// WhatIf answers what a deadline would mean for a profile.
func WhatIf(v ledger.View, place placement.Policy, q api.PlanRequest) (api.PlanReply, error) {
	if err := api.CheckVersion("the client", q.V); err != nil {
		return api.PlanReply{}, err
	}
	if err := errors.Join(units.Finite("deadline_s", q.Deadline), units.Finite("cores", q.Cores)); err != nil {
		return api.PlanReply{}, api.Errorf(api.KindInvalid, "%v", err)
	}
	p := v.Profile(q.Profile)
	if q.Body != nil {
		var err error
		if p, err = ledger.NewProfile(*q.Body); err != nil {
			return api.PlanReply{}, err
		}
	}
	if p == nil {
		return api.PlanReply{}, NoProfile(q.Profile)
	}
	cores, slots, nodes := q.Cores, int(q.Cores.CeilTo(1)), 1
	if cores == 0 {
		cores, slots, nodes = place.AllNodes(v)
	}
	if cores == 0 {
		return api.PlanReply{}, api.Errorf(api.KindTransient, "no node is connected to the planner: say how many cores to plan with")
	}
	params := place.Equations
	if q.Deadline > 0 {
		params = place.Shape(p.Graph, nodes, q.Deadline, cores, slots, 0)
	}
	f := p.Graph.Forecast(params, q.Deadline, cores, slots, 0)
	r := api.PlanReply{Verdict: f.Verdict, Reason: verdict.Say(f, q.Deadline), Earliest: f.Earliest, Cores: cores, Stages: []api.PlanReplyLine{}}
	for _, s := range f.Stages {
		stage, _ := p.Graph.Stage(s.ID)
		r.Stages = append(r.Stages, api.PlanReplyLine{ID: s.ID, Name: stage.Name, Start: s.Start, Deadline: s.Deadline, Cores: s.Cores})
	}
	return r, nil
}
