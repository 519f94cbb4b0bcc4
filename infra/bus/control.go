package bus

import (
	"context"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Control sends a control request; V is filled in, and Page where an answer may be long:
// one of several parts comes back as one. An error in the reply comes back as that *api.Error.
func (c *Conn) Control(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	if !slices.Contains(api.Verbs(), verb) {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "control request %q is not known", verb)
	}
	if r.V = api.Version; slices.Contains(paged, verb) {
		r.Page = &api.Page{}
	}
	reply, err := call[api.ControlReply](ctx, c, controlSubject(c.login, verb), string(verb), r)
	for err == nil && reply.More != "" {
		r.Page = &api.Page{After: reply.More}
		var part api.ControlReply
		part, err = call[api.ControlReply](ctx, c, controlSubject(c.login, verb), string(verb), r)
		if part.More == reply.More {
			err = api.Errorf(api.KindInvalid, "%s: the planner's answer has no end", verb)
		}
		reply = joined(reply, part)
	}
	return reply, err
}

// paged are the verbs whose answers may be long.
var paged = []api.Verb{api.VerbApps, api.VerbApp, api.VerbNodes, api.VerbPolicy, api.VerbProfiles,
	api.VerbReport}

// joined is an answer with its next part.
func joined(r, part api.ControlReply) api.ControlReply {
	r.Apps, r.Profiles, r.Nodes = append(r.Apps, part.Apps...), append(r.Profiles, part.Profiles...),
		append(r.Nodes, part.Nodes...)
	r.Listed = append(r.Listed, part.Listed...)
	if r.App != nil && part.App != nil {
		r.App.Stages = append(r.App.Stages, part.App.Stages...)
	}
	if r.Report != nil && part.Report != nil {
		r.Report.Rows = append(r.Report.Rows, part.Report.Rows...)
	}
	r.More = part.More
	return r
}

// PlanQuery asks what a deadline would mean for a profile; V is filled in.
func (c *Conn) PlanQuery(ctx context.Context, r api.PlanRequest) (api.PlanReply, error) {
	r.V = api.Version
	return call[api.PlanReply](ctx, c, planQuerySubject(c.login), "plan", r)
}

// Logs asks a node for a piece of an executor's log; V is filled in.
func (c *Conn) Logs(ctx context.Context, node string, r api.LogRequest) (api.LogReply, error) {
	if !api.ValidNodeName(node) {
		return api.LogReply{}, api.Errorf(api.KindInvalid, "node name %q is not valid", node)
	}
	if err := c.stranger(node); err != nil {
		return api.LogReply{}, err
	}
	r.V = api.Version
	return call[api.LogReply](ctx, c, logsSubject(node), "logs of node "+node, r)
}
