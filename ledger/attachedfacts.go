package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
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
	case f.Node != "" && (known == nil || known.Gone || known.Node != f.Node) && l.View().Allocation(a, f.Node).Full():
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
			l.batch.changeNode(before, nodePlan)
		}
		l.free(a, x)
		x.Node, x.State = f.Node, api.ExecutorStarting
		told.Ceiling, told.Unguarded, told.Unpaced = 0, false, ""
		l.allocate(a, x)
	}
	x.Registered, x.Attached = true, &told
	return nil
}
