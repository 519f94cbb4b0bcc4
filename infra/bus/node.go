package bus

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// Hello introduces a node (again after each reconnect) and returns the answer
// with its Plan.
func (c *Conn) Hello(ctx context.Context, s api.NodeStatus) (api.HelloReply, error) {
	if !api.ValidNodeName(s.Node) {
		return api.HelloReply{}, api.Errorf(api.KindInvalid, "node name %q is not valid", s.Node)
	}
	return call[api.HelloReply](ctx, c, helloSubject(s.Node), "hello of node "+s.Node, s)
}

// Fetch asks by c for what a component needs that the node is to start; V is filled in.
func Fetch(ctx context.Context, c *Conn, r api.FetchRequest) (api.FetchReply, error) {
	if !api.ValidNodeName(r.Node) {
		return api.FetchReply{}, api.Errorf(api.KindInvalid, "node name %q is not valid", r.Node)
	}
	r.V = api.Version
	return call[api.FetchReply](ctx, c, fetchSubject(r.Node), "fetch for application "+string(r.App), r)
}

// PublishStatus sends a node's status.
func (c *Conn) PublishStatus(s api.NodeStatus) error {
	if !api.ValidNodeName(s.Node) {
		return api.Errorf(api.KindInvalid, "node name %q is not valid", s.Node)
	}
	return c.publish(statusSubject(s.Node), "publish the status of node "+s.Node, s)
}

// SubscribePlan calls handle with each Plan published for node, in order of
// arrival. The caller ignores those with an old Epoch.
func (c *Conn) SubscribePlan(node string, handle func(api.Plan)) error {
	if !api.ValidNodeName(node) {
		return api.Errorf(api.KindInvalid, "node name %q is not valid", node)
	}
	fits := func(_ string, p api.Plan) error {
		if p.Node != node {
			return api.Errorf(api.KindInvalid, "the plan of node %q was sent to %q", p.Node, node)
		}
		return nil
	}
	_, err := listen(c, hearing[api.Plan]{subject: planSubject(node), peer: "the planner", bounds: replyBounds,
		knows: anybody, check: fits, handle: handle})
	return err
}

// ServeLogs answers the log requests that are sent to node. read's error goes
// back with its kind.
func (c *Conn) ServeLogs(node string, read func(api.LogRequest) (api.LogReply, error)) error {
	if !api.ValidNodeName(node) {
		return api.Errorf(api.KindInvalid, "node name %q is not valid", node)
	}
	_, err := serve(c, service[api.LogRequest, api.LogReply]{
		subject: logsSubject(node), peer: "the planner", bounds: replyBounds, check: always[api.LogRequest],
		// Publications there come from the planner alone.
		admit: func(*nats.Msg) (api.Principal, error) { return api.Principal{Kind: api.PrincipalPlanner}, nil },
		handle: func(_ api.Principal, r api.LogRequest, reply func(api.LogReply)) {
			answer, err := read(r)
			if err != nil {
				answer = api.LogReply{Error: api.ToWire(err)}
			}
			answer.V = api.Version
			reply(answer)
		},
	})
	if err != nil {
		return fmt.Errorf("serve logs: %w", err)
	}
	return nil
}
