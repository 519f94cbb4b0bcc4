package bus

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"

	"github.com/sparkpacer/pacer/api"
)

// The driver's side in Go, for tests and simulations: the real one is in
// spark/ and speaks the same subjects.

// Register introduces an application. A refusal comes back as an *api.Error.
func (c *Conn) Register(ctx context.Context, r api.RegisterRequest) (api.RegisterReply, error) {
	return call[api.RegisterReply](ctx, c, registerSubject(c.login), "register "+r.Name, r)
}

// SendEvents sends driver events; none is a heartbeat.
func (c *Conn) SendEvents(ctx context.Context, e api.Events) (api.EventsReply, error) {
	if !validToken(string(e.AppID)) {
		return api.EventsReply{}, api.Errorf(api.KindInvalid, "application id %q is not valid", e.AppID)
	}
	return call[api.EventsReply](ctx, c, eventsSubject(e.AppID), "events of "+string(e.AppID), e)
}

// SubscribeDirective calls handle with each Directive published for app. A
// Directive has no version of its own: it goes only to drivers that registered.
func (c *Conn) SubscribeDirective(app api.AppID, handle func(api.Directive)) error {
	if !validToken(string(app)) {
		return api.Errorf(api.KindInvalid, "application id %q is not valid", app)
	}
	_, err := c.nats.Subscribe(directiveSubject(app), func(m *nats.Msg) {
		var d api.Directive
		if err := json.Unmarshal(m.Data, &d); err != nil {
			c.fault(api.Errorf(api.KindInvalid, "the planner sent a directive that does not decode: %v", err))
			return
		}
		handle(d)
	})
	if err != nil {
		return c.callError("subscribe to directives", err)
	}
	return nil
}
