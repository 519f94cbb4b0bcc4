package web

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

func applicationOf(a api.AppSummary) object {
	return forget(values(a), "deadline_s", "first_launch_s", "predicted_finish_s", "mean_cores")
}

// detailOf is an application without its samples, which are an answer of their own.
func detailOf(a api.AppDetail) object {
	a.Stages = slices.Clone(a.Stages)
	for i := range a.Stages {
		a.Stages[i].Samples = nil
	}
	d := forget(values(a), "deadline_s", "first_launch_s", "predicted_finish_s", "mean_cores", "earliest_s")
	d["v"] = api.Version
	for s := range inner(d, "stages") {
		delete(s, "samples")
		forget(s, "deadline_s", "first_launch_s")
	}
	for s := range inner(d, "shortages") {
		forget(s, "end_s")
	}
	return d
}

func nodeOf(n api.NodeSummary) object { return forget(values(n), "memory_bytes") }

// planOf is what one of several deadlines would mean, with its stages where there are no others.
func planOf(deadline units.Seconds, r api.PlanReply, only bool) object {
	if !only {
		r.Stages = []api.PlanReplyLine{}
	}
	p := forget(values(r), "earliest_s", "cores")
	delete(p, "v")
	p["deadline_s"] = deadline
	for s := range inner(p, "stages") {
		forget(s, "deadline_s", "cores")
	}
	return p
}

// profileOf is what a list says of a profile: without what only its stages need.
func profileOf(p *api.Profile) object {
	return object{"name": p.Name, "owner": p.Owner, "shared": p.Shared, "runs": p.Runs, "duration_s": known(p.Duration),
		"cores": known(p.Cores), "stages": len(p.Stages), "variants": 1 + len(p.Variants), "core_seconds": p.Work()}
}

// known is v, nil where 0 says that it is not known.
func known[T ~float64](v T) any {
	if v == 0 {
		return nil
	}
	return v
}
