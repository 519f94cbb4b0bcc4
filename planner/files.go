package planner

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
)

// Submitted are the files that an application was submitted with by a fact, nil for another fact.
func Submitted(f ledger.Fact) (api.AppID, []api.ComponentFile) {
	switch f := f.(type) {
	case component.Taken:
		return f.App, f.Component.Files
	case component.GroupTaken:
		return f.App, f.Group.Files()
	}
	return "", nil
}

// driver is what a node is to be told of what it is to run.
func (i inquiry) driver(ev Driver) DriverAnswer {
	a := i.view.App(ev.App)
	if a == nil || !component.On(a, ev.Node) {
		return DriverAnswer{Err: api.Errorf(api.KindDenied, "application %s has neither a driver nor a component on node %s",
			ev.App, ev.Node)}
	}
	return DriverAnswer{User: a.Tenant.Owner.User, Component: component.Files(a, ev.Node)}
}
