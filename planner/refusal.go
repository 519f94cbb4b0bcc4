package planner

import "github.com/sparkpacer/pacer/api"

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
	}
	return body
}
