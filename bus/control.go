package bus

import (
	"context"
	"slices"

	"github.com/sparkpacer/pacer/api"
)

// Control sends a control request; V is filled in. An error in the reply comes
// back as that *api.Error.
func (c *Conn) Control(ctx context.Context, verb api.Verb, r api.ControlRequest) (api.ControlReply, error) {
	if !slices.Contains(api.Verbs(), verb) {
		return api.ControlReply{}, api.Errorf(api.KindInvalid, "control request %q is not known", verb)
	}
	r.V = api.Version
	return call[api.ControlReply](ctx, c, controlSubject(c.login, verb), string(verb), r)
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
