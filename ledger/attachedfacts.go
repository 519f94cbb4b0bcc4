package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// ExecutorAttached: the driver of an application whose executors another cluster manager starts has one. Node is the
// node where it runs, "" where none of them is: it is free. An executor that is known already is elsewhere now, or
// its driver says again what it is.
type ExecutorAttached struct {
	App  api.AppID
	ID   api.ExecutorID
	Node string
	Attached
}

func (f ExecutorAttached) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	number, known := Number(f.ID), a.Executor(f.ID)
	switch n := l.nodes[f.Node]; {
	case !a.Running() || a.Tenant.Launch.Attach == nil:
		return fmt.Errorf("application %s is %s, attached: %v", a.ID, a.Outcome.State, a.Tenant.Launch.Attach != nil)
	case number == 0 || number > api.MostExecutorID || f.Cores < 0 || f.Memory < 0:
		return fmt.Errorf("executor %s of %s has %d cores and %v", f.ID, a.ID, f.Cores, f.Memory)
	case a.Beyond(number):
		return fmt.Errorf("executor %s of %s is far beyond those that are known", f.ID, a.ID)
	case f.Node != "" && (n == nil || !n.Attaches()):
		return fmt.Errorf("node %s attaches to no executors", f.Node)
	case f.Node != "" && (known == nil || known.Gone || known.Node != f.Node) && l.allocation(a, f.Node).Full():
		return fmt.Errorf("node %s holds %d executors of %s already", f.Node, api.MostOnHost, a.ID)
	case known != nil && !known.MayRun() && !known.Unknown():
		return fmt.Errorf("executor %s of %s is gone", f.ID, a.ID)
	}
	a.Tenant.count(number)
	x := a.Executor(f.ID)
	told := f.Attached
	if had := x.Attached; had != nil {
		told.Ceiling, told.Unguarded, told.Unpaced = had.Ceiling, had.Unguarded, had.Unpaced
	}
	switch {
	case x.Gone:
		*x = Executor{ID: x.ID, Node: f.Node, State: api.ExecutorStarting, Since: max(0, a.At(l.now)), Moved: l.uptime}
		l.allocate(a, x)
		a.Tenant.Resized = a.Tenant.Resized || a.Promise.Launched
	case x.Node != f.Node:
		if before := l.nodes[x.Node]; before != nil {
			changeNode(l, before, nodePlan)
		}
		l.free(a, x)
		x.Node, x.State = f.Node, api.ExecutorStarting
		told.Ceiling, told.Unguarded, told.Unpaced = 0, false, ""
		l.allocate(a, x)
	}
	x.Registered, x.Attached = true, &told
	return nil
}

// ExecutorsWanted: the driver of an application is to ask another cluster manager for so many executors in all, on
// these hosts if it can, or with 0 for as many as its user has said. Spare says that fewer would do. Says is told its
// user, "" for nothing.
type ExecutorsWanted struct {
	App   api.AppID
	Count int
	On    []string
	Spare bool
	Says  string
}

func (f ExecutorsWanted) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	attach := a.Tenant.Launch.Attach
	switch {
	case attach == nil || !a.Running():
		return fmt.Errorf("application %s is %s, attached: %v", a.ID, a.Outcome.State, attach != nil)
	case f.Count < 0 || f.Count > api.MostExecutorID,
		f.Count > 0 && (f.Count < attach.Least || attach.Most > 0 && f.Count > attach.Most):
		return fmt.Errorf("%s wants %d executors, of at least %d and at most %d", a.ID, f.Count, attach.Least, attach.Most)
	}
	t, now := &a.Attachment, max(0, a.At(l.now))
	if f.Count != t.Wanted {
		t.Wanted, t.Asked = f.Count, now
	}
	if !f.Spare {
		t.Spare = 0
	} else if t.Spare == 0 {
		t.Spare = max(now, leastMoment)
	}
	t.On = f.On
	return nil
}

// leastMoment stands for the moment 0, which says that there is none.
const leastMoment units.Seconds = 1e-9

// AttachedObserved: of an application whose executors another cluster manager starts nothing is held back from now on,
// for that reason, or with "" it is again.
type AttachedObserved struct {
	App api.AppID
	Why string
}

func (f AttachedObserved) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if a.Tenant.Launch.Attach == nil {
		return fmt.Errorf("application %s has executors that nodes start", a.ID)
	}
	a.Attachment.Observed = f.Why
	for _, node := range a.Seats() {
		retell(l, l.nodes[node], l.allocation(a, node))
	}
	return nil
}
