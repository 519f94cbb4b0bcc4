package planner

import (
	"fmt"

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
			"goes with it), take more memory than was submitted: say it to pacer submit", a.ID)
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
	reason := fmt.Sprintf("its driver has ended: %s", api.Clip(t.Exit, api.MostName))
	if !a.Over() {
		h.record(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: a.At(h.now), By: api.EndedByExit, Reason: reason})
	}
	h.record(ledger.Exited{App: a.ID, At: max(a.At(h.now), a.Outcome.Stopped), By: api.EndedByExit, Failed: true,
		Reason: reason, Code: unknownCode})
}
