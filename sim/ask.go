package sim

import (
	"errors"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// Plan asks the planner what a deadline would mean for a profile.
func (w *World) Plan(r api.PlanRequest) (reply api.PlanReply, err error) {
	r.V = api.Version
	reply.Error = api.ToWire(errors.New("the planner is down"))
	w.control.asked(func(t planner.Ticket) planner.Event { return planner.PlanQuery{To: t, Request: r} },
		func(body any) { reply, _ = body.(api.PlanReply) })
	if reply.Error != nil {
		return reply, reply.Error
	}
	return reply, nil
}
