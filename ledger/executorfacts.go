package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// add gives a an executor on the node, whose memory is promised or lent.
func (l *Ledger) add(a *App, node string, lent bool) {
	t := &a.Tenant
	x := &Executor{ID: t.Next(), Node: node, Loan: loanOf(lent), State: api.ExecutorStarting,
		Since: a.At(l.now), Moved: l.uptime}
	t.NextID++
	t.Executors = append(t.Executors, x)
	l.allocate(a, x)
}

// ExecutorUp: an executor has registered with its driver. One that counted as gone was started
// anew by its node, which has not heard of the loss, or is Unstarted, which its node has told of.
type ExecutorUp struct {
	App api.AppID
	ID  api.ExecutorID
	// Told says that its node tells of it: whether its driver has it is not known.
	Told bool
}

func (f ExecutorUp) apply(l *Ledger) error {
	a, x, err := l.executor(f.App, f.ID, partNone)
	if err != nil {
		return err
	}
	if !x.MayRun() || x.Gone && !a.Running() {
		return fmt.Errorf("executor %s of %s is gone", f.ID, f.App)
	}
	if x.Gone {
		x.Gone, x.Registered, x.Unstarted, x.Exit = false, false, false, ""
		l.allocate(a, x)
		if i := slices.Index(a.Tenant.Pending, x.Node); i >= 0 {
			pend(l, a, slices.Delete(slices.Clone(a.Tenant.Pending), i, i+1))
		}
		l.batch.change(a, partState)
	}
	if !f.Told {
		x.Registered = true
		l.batch.change(a, partRecord)
	}
	return nil
}

// ExecutorUnseen: the driver of an application does not have an executor that its node starts.
type ExecutorUnseen struct {
	App api.AppID
	ID  api.ExecutorID
}

func (f ExecutorUnseen) apply(l *Ledger) error {
	_, x, err := l.executor(f.App, f.ID, partRecord)
	if err != nil {
		return err
	}
	if x.Gone {
		return fmt.Errorf("executor %s of %s is gone", f.ID, f.App)
	}
	x.Registered = false
	return nil
}

// ExecutorLost: an executor runs no more. A running application that has not given up
// is to get another one, unless it was asked to leave. Unstarted says that it has never run, for
// its node was gone when it was asked for: it counts as no replacement. Node is where it was one of
// a running application, "" for others, of which nobody is told; Leaving says that it was asked to go.
type ExecutorLost struct {
	App       api.AppID
	ID        api.ExecutorID
	Node      string
	Reason    string
	Unstarted bool
	Leaving   bool
}

func (f ExecutorLost) apply(l *Ledger) error {
	a, x, err := l.executor(f.App, f.ID, partState)
	if err != nil {
		return err
	}
	if x.Gone {
		return fmt.Errorf("executor %s of %s is gone already", f.ID, f.App)
	}
	over := l.nodes[x.Node] != nil && l.View().Free(l.nodes[x.Node]) < 0
	x.Gone, x.Unstarted = true, f.Unstarted
	x.Exit = cmp.Or(x.Exit, f.Reason)
	l.free(a, x)
	a.Clocks.fewer(&l.changed)
	if !a.Running() {
		return nil
	}
	for _, s := range a.opened {
		before := len(s.Targets)
		s.Targets = slices.DeleteFunc(s.Targets, func(t Target) bool { return t.Executor == x.ID })
		if len(s.Targets) != before {
			l.batch.changeStage(s)
		}
	}
	if x.Attached != nil {
		a.Tenant.Resized = a.Tenant.Resized || a.Promise.Launched
		return nil // Its cluster manager gives another one, or does not.
	}
	if !x.Leaving && !a.Tenant.GaveUp {
		if last := len(a.Tenant.Replaced) - 1; f.Unstarted && last >= 0 {
			a.Tenant.Replaced = slices.Clone(a.Tenant.Replaced[:last])
		}
		// Of a node that gives less than is taken there nothing is kept for it, nor anywhere for one that was lent.
		if over || x.Lent() {
			pend(l, a, append(slices.Clone(a.Tenant.Pending), ""))
			return nil
		}
		pend(l, a, append(slices.Clone(a.Tenant.Pending), x.Node))
	}
	return nil
}

// ExecutorLeaving: an executor was asked to go, because its node drains or, where For is not "", because that
// application waits for its memory. Node is then where it is.
type ExecutorLeaving struct {
	App  api.AppID
	ID   api.ExecutorID
	For  api.AppID
	Node string
}

func (f ExecutorLeaving) apply(l *Ledger) error {
	a, x, err := l.executor(f.App, f.ID, partState)
	if err != nil {
		return err
	}
	if f.For != "" {
		w := l.apps[f.For]
		if w == nil || !w.Queued() {
			return fmt.Errorf("%s does not wait", f.For)
		}
		if err := f.check(a, x); err != nil {
			return err
		}
	}
	x.Leaving, a.Tenant.Resized = true, true
	a.Clocks.fewer(&l.changed)
	return nil
}

// check says why x of a cannot be given back: a keeps what it cannot do without.
func (f ExecutorLeaving) check(a *App, x *Executor) error {
	if !a.Running() || x.Gone || x.Leaving || x.Node != f.Node {
		return fmt.Errorf("executor %s of %s on %s cannot be given back: it is %s, gone: %v, leaving: %v", x.ID, a.ID,
			x.Node, a.Outcome.State, x.Gone, x.Leaving)
	}
	stays := make(map[string]bool)
	for _, y := range a.Tenant.Executors {
		if y != x && !y.Gone && !y.Leaving {
			stays[y.Node] = true
		}
	}
	if least := max(1, a.Tenant.Nodes.Least); len(stays) < least {
		return fmt.Errorf("%s would be left with executors on %d nodes, and needs %d", a.ID, len(stays), least)
	}
	return nil
}

// ExecutorIdle: for how long an executor that was asked to go has had nothing to do.
type ExecutorIdle struct {
	App api.AppID
	ID  api.ExecutorID
	For time.Duration
}

func (f ExecutorIdle) apply(l *Ledger) error {
	_, x, err := l.executor(f.App, f.ID, partNone)
	if err != nil {
		return err
	}
	x.Idle = f.For
	return nil
}
