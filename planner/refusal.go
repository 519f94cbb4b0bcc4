package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner/access"
)

// refusal returns a reply of body's type that says err.
func refusal(body any, err *api.Error) any {
	switch body.(type) {
	case api.RegisterReply:
		return api.RegisterReply{V: api.Version, Error: err}
	case api.EventsReply:
		return api.EventsReply{V: api.Version, Error: err}
	case api.HelloReply:
		return api.HelloReply{V: api.Version, Error: err}
	case api.ControlReply:
		return api.ControlReply{V: api.Version, Error: err}
	case api.PlanReply:
		return api.PlanReply{V: api.Version, Error: err}
	case api.Changes:
		return api.Changes{Error: err}
	case DriverAnswer:
		return DriverAnswer{Err: err}
	}
	return body
}

// readOnly refuses what would have to be stored.
func readOnly(err error) *api.Error {
	return api.Errorf(api.KindTransient, "read-only: the planner cannot store its state, what runs goes on: %v", err)
}

// promises reports whether an event asks for something that has to be stored before it can be
// answered, and that its sender can do without for now. Drivers and nodes are heard in any case.
func promises(event Event) bool {
	switch ev := event.(type) {
	case Register:
		return true
	case Control:
		return access.Changes(ev.Verb)
	}
	return false
}
