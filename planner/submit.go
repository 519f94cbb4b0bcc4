package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/deciders/verdict"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
)

// submit takes an application in whose driver a node is to start. It is in the queue from now on, with a verdict.
func (h components) submit(by api.Principal, q api.ControlRequest) (api.ControlReply, error) {
	if q.Query == nil || q.Query.Submit == nil || q.Query.Submit.Register == nil || q.Query.Submit.Driver == nil {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "no driver is submitted")
	}
	r, c := *q.Query.Submit.Register, *q.Query.Submit.Driver
	if err := c.Validate(); err != nil {
		return api.ControlReply{}, err
	}
	if c.Name != api.DriverName || c.Class != api.ComponentCore || r.Context != 0 || r.Launch.Attach != nil ||
		r.AppID != "" {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "component %q is no driver of a new application",
			api.Clip(string(c.Name), api.MostToken))
	}
	nodes := api.NodeRange{Driver: c.Memory}
	if r.Nodes != nil {
		nodes.Least, nodes.Most = r.Nodes.Least, r.Nodes.Most
	}
	r.V, r.Nodes, r.Launch.DriverURL, r.Watched, r.Key = api.Version, &nodes, driverToCome, true, ""
	for _, a := range h.view.Apps() {
		if a.Tenant.Submission == r.Submission && component.Submitted(a) &&
			access.Again(by, a.ID, a.Tenant.Owner.User) == nil {
			return h.taken(a), nil // Its user asks twice.
		}
	}
	a, err := drivers{h.core}.admit(by, r)
	if err != nil {
		return api.ControlReply{}, err
	}
	if !component.Submitted(a) {
		c.Submission, c.Submitted = r.Submission, int64(a.Promise.Start)/1e6
		f := component.Taken{OfApp: ledger.OfApp{App: a.ID}, Component: &c}
		if a.Running() {
			f.Node = h.said.driver
		}
		if !h.record(f) {
			h.record(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: a.At(h.now), By: api.EndedByKill,
				Reason: "its driver could not be put on a node"})
			return api.ControlReply{}, api.Errorf(api.KindTransient, "the driver of %s cannot be put on a node now: try again",
				a.ID)
		}
	}
	return h.taken(a), nil
}

// taken is the answer to who has submitted a.
func (h components) taken(a *ledger.App) api.ControlReply {
	return api.ControlReply{Apps: []api.AppSummary{report.Summary(h.view, h.estimates, a)}, Message: verdict.Reason(a)}
}
