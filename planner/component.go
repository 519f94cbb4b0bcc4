package planner

import (
	"fmt"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/admission"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/planner/access"
)

// components are drivers that nodes run.
type components struct{ *core }

// driverToCome stands for the address of a driver that has not registered: no executor is started with it.
const driverToCome = "spark://CoarseGrainedScheduler@driver.to.come:0"

// capped holds an application of by's to what by may have, in every mode.
func capped(by api.Principal, d *admission.Admission) {
	d.Tenant.Launch.Bounded = by.Bounds.Cores > 0 || by.Bounds.Memory > 0
	if most := by.Bounds.Cores; most > 0 {
		d.Tenant.Cap, d.Tenant.Resized = most, true // Its durations are not those of all cores.
	}
}

// come takes in that a's driver, which a node has started, registers: with what its program says of itself.
func (h components) come(by api.Principal, q api.RegisterRequest, a *ledger.App) (*ledger.App, error) {
	if err := access.Again(by, a.ID, a.Tenant.Owner.User); err != nil {
		return nil, err
	}
	if by.Kind == api.PrincipalUser {
		q.User, q.Launch.User = by.Name, by.Name
	} else {
		q.User, q.Launch.User = a.Tenant.Owner.User, a.Tenant.Launch.User
	}
	d, err := admission.Decide(h.outlook, h.places, q)
	if err != nil {
		return nil, err
	}
	capped(by, &d)
	if !h.record(ledger.DriverCame{App: a.ID, Name: d.Name, Tenant: d.Tenant, Promise: d.Promise,
		Matched: d.Profile != nil}) {
		return nil, api.Errorf(api.KindConflict, "executors of %s, as its program sets them (spark.executor.memory and what "+
			"goes with it, Java options), take more than was submitted, which nodes do not have: say it to pacer submit", a.ID)
	}
	if a.Promise.Deadline > 0 {
		redeadline(h.core, a, a.Promise.Deadline)
	}
	return a, nil
}

// alone refuses a further context of a driver that a node has started.
func (h components) alone(q api.RegisterRequest) error {
	for _, a := range h.view.Apps() {
		if q.Context > 0 && a.Tenant.Submission == q.Submission && component.Submitted(a) {
			return api.Errorf(api.KindInvalid, "a driver in cluster mode makes one SparkContext: %s was its application", a.ID)
		}
	}
	return nil
}

// follow ends an application whose driver is lost with its node, or has the driver begin again elsewhere.
func (h components) follow(a *ledger.App) {
	h.apply(component.Follow(h.view, a, h.cfg.DriverSilent)...)
}

// heard has nobody wait for a word of a driver that is still to come.
func (h components) heard(a *ledger.App) { h.record(ledger.Heard{App: a.ID}) }

// told takes in what a node says of a's driver.
func (h components) told(n *ledger.Node, a *ledger.App, t *api.ExecutorStatus) {
	s := component.Of(a)
	exited := t.State == api.ExecutorExited
	if g := component.GroupOf(a); len(g.Members) > 0 && t.ID != s.ID() {
		h.toldMember(n, a, g, t)
		return
	}
	if t.ID != s.ID() || s.Node != n.Node || !exited && (s.Running || t.State != api.ExecutorRunning) {
		return
	}
	f := component.Told{OfApp: ledger.OfApp{App: a.ID}, ID: t.ID, Node: n.Node, Exited: exited, Exit: t.Exit,
		Code: t.ExitCode}
	if h.record(f) && exited {
		h.exited(a, t)
	}
}

// exited ends a with the exit of its driver.
func (h components) exited(a *ledger.App, t *api.ExecutorStatus) {
	if t.ExitCode >= 0 {
		endings{h.core}.exited(a, api.ControlRequest{ExitCode: t.ExitCode})
		return
	}
	what := "driver"
	if t.ID != component.Of(a).ID() {
		what = "component " + string(t.ID)
	}
	fails(h.core, a, fmt.Sprintf("its %s has ended: %s", what, api.Clip(t.Exit, api.MostName)))
}

// left takes in that components have gone that were to leave n: a node that has the newest Plan, and shows them no
// more, has stopped them.
func (h components) left(n *ledger.Node, s *api.NodeStatus) {
	for _, a := range slices.Clone(ledger.Lodgers(n)) {
		g := component.GroupOf(a)
		for _, m := range g.Members {
			if m.Node == n.Node && m.Leaving && s.Epoch == n.Epoch && !slices.ContainsFunc(s.Executors,
				func(x api.ExecutorStatus) bool { return x.App == a.ID && x.ID == g.ID(m) }) {
				h.record(component.MemberTold{OfApp: ledger.OfApp{App: a.ID}, ID: g.ID(m), Node: n.Node, Exited: true,
					Exit: "it was stopped", Code: api.Unknown})
			}
		}
	}
}

// toldMember takes in what a node says of a component of a, which is of g: a ends with the main one, and fails with a
// core one that has.
func (h components) toldMember(n *ledger.Node, a *ledger.App, g component.Group, t *api.ExecutorStatus) {
	i := slices.IndexFunc(g.Members, func(m component.Member) bool { return m.Node == n.Node && g.ID(m) == t.ID })
	exited := t.State == api.ExecutorExited
	if i < 0 || !exited && (g.Members[i].Running || t.State != api.ExecutorRunning) {
		return
	}
	m := g.Members[i]
	if !h.record(component.MemberTold{OfApp: ledger.OfApp{App: a.ID}, ID: t.ID, Node: n.Node, Exited: exited, Exit: t.Exit,
		Code: t.ExitCode}) || !exited {
		return
	}
	switch {
	case m.Of == g.Main:
		h.exited(a, t)
	case !g.Elastic(m) && t.ExitCode != 0:
		fails(h.core, a, fmt.Sprintf("its component %s on node %s has ended: %s", t.ID, n.Node,
			api.Clip(t.Exit, api.MostName)))
	}
}
