package ledger

import (
	"fmt"

	"github.com/sparkpacer/pacer/api"
)

// ExecutorTaken: the memory that an executor is lent is taken back. Its driver loses it, and its node stops it.
type ExecutorTaken struct {
	App  api.AppID
	ID   api.ExecutorID
	Node string
	Why  string
}

func (f ExecutorTaken) apply(l *Ledger) error {
	a, x, err := l.executor(f.App, f.ID, partState)
	if err != nil {
		return err
	}
	switch {
	case !a.Running() || x.Gone || x.Taken() || x.Node != f.Node:
		return fmt.Errorf("executor %s of %s on %s cannot be taken: it is %s, gone: %v, taken: %v", x.ID, a.ID, x.Node,
			a.Outcome.State, x.Gone, x.Taken())
	case !x.Lent():
		return fmt.Errorf("executor %s of %s on %s is promised its memory", x.ID, a.ID, x.Node)
	}
	x.Leaving, x.Loan = true, LoanTaken
	a.Tenant.Resized = true
	a.Clocks.fewer(&l.changed)
	return nil
}

// ClaimKept: an executor that was lent its memory is promised it from now on.
type ClaimKept struct {
	App  api.AppID
	ID   api.ExecutorID
	Node string
}

func (f ClaimKept) apply(l *Ledger) error {
	a, x, err := l.executor(f.App, f.ID, partState)
	if err != nil {
		return err
	}
	if !a.Running() || x.Gone || x.Taken() || !x.Lent() || x.Node != f.Node {
		return fmt.Errorf("executor %s of %s on %s cannot keep its memory: it is %s, gone: %v, taken: %v, lent: %v", x.ID,
			a.ID, x.Node, a.Outcome.State, x.Gone, x.Taken(), x.Lent())
	}
	if n := l.nodes[x.Node]; n == nil || l.View().Free(n) < a.Tenant.Claim() {
		return fmt.Errorf("executor %s of %s needs %v that others on %s are promised", x.ID, a.ID, a.Tenant.Claim(), x.Node)
	}
	hold(x, a, l, false)
	x.Loan = ""
	hold(x, a, l, true)
	return nil
}
