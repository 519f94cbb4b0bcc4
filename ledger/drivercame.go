package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// DriverCame: the driver of an application has registered that a node has started. Until then the application is as its
// user has submitted it; Name, Tenant and Promise are as it would come now. It keeps its executors, its place and its
// deadline clock.
type DriverCame struct {
	App     api.AppID
	Name    string
	Tenant  Tenant
	Promise Promise
	// Matched has it matched to the stored profile of its name.
	Matched bool
}

func (f DriverCame) apply(l *Ledger) error {
	a, err := l.app(f.App, partState|partProfile|partMarks)
	if err != nil {
		return err
	}
	if !a.Running() || !a.held.awaits {
		return fmt.Errorf("no driver of %s is to come: it is %s", a.ID, a.Outcome.State)
	}
	launch := f.Tenant.Launch
	if !launch.OffHeapFixed && !a.Tenant.Launch.OffHeapFixed {
		launch.OffHeap = a.Tenant.Launch.OffHeap
	}
	for _, n := range l.View().Nodes() {
		if (l.View().Allocation(a, n.Node) != nil || lodgesOn(n.Node, a)) && !Tells(&launch, a, n, l.View()) {
			return fmt.Errorf("the plan of node %s does not hold how executors of %s are started", n.Node, a.ID)
		}
	}
	profile, err := planFor(f.Matched, f.Tenant.Owner.User, f.Promise.Profile, l)
	if err != nil {
		return err
	}
	if err := reclaim(launch, a, l); err != nil {
		return err
	}
	a.Profile = profile
	t, p := &a.Tenant, &a.Promise
	a.Name, t.Launch, a.kept = f.Name, launch, nil
	t.Owner, t.UTCOffset = f.Tenant.Owner, f.Tenant.UTCOffset
	p.Profile, p.Deadline, p.ByMoment, p.Mode = f.Promise.Profile, f.Promise.Deadline, f.Promise.ByMoment, f.Promise.Mode
	for _, node := range a.Seats() {
		l.batch.retell(l.nodes[node], l.View().Allocation(a, node))
	}
	return nil
}

// reclaim has what a claims of nodes be what executors started by launch do, where there is room for that.
func reclaim(launch api.Launch, a *App, l *Ledger) error {
	by := launch.Claim() - a.Tenant.Claim()
	more := map[string]claims{}
	for _, x := range a.Alive() {
		c := more[x.Node]
		if x.Lent() {
			c.lent += by
		} else {
			c.promised += by
		}
		more[x.Node] = c
	}
	for _, node := range a.Tenant.Pending {
		c := more[node]
		c.promised += by
		more[node] = c
	}
	for node, c := range more {
		if n := l.nodes[node]; n != nil && (c.promised > max(0, l.View().Free(n)) || c.lent > max(0, n.Borrowable())) {
			return fmt.Errorf("executors of %s take %v each, %v were submitted, and node %s has no room for more", a.ID,
				launch.Claim(), a.Tenant.Claim(), node)
		}
	}
	for node, c := range more {
		claimed(c, node, l)
	}
	return nil
}
