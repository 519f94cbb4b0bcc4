package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
)

// Submitted is the driver that an application was submitted with by a fact, nil for another fact.
func Submitted(f ledger.Fact) (api.AppID, *api.Component) {
	taken, _ := f.(component.Taken)
	return taken.App, taken.Component
}

// driver is what a node is to be told of a driver that it is to run.
func (i inquiry) driver(ev Driver) DriverAnswer {
	a := i.view.App(ev.App)
	if a == nil || component.Of(a).Node != ev.Node {
		return DriverAnswer{Err: api.Errorf(api.KindDenied, "application %s has no driver on node %s", ev.App, ev.Node)}
	}
	return DriverAnswer{User: a.Tenant.Owner.User, Component: component.Of(a).Component}
}
