package ledger

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// Resized: what an application's nodes offer has changed.
type Resized struct {
	App   api.AppID
	Cores units.Cores
	Slots int
}

func (f Resized) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if err := amounts("a size", float64(f.Cores), float64(f.Slots)); err != nil {
		return err
	}
	if a.Reserved() > 0 {
		l.changed.touch(PartReserved)
	}
	a.Tenant.Cores, a.Tenant.Slots = f.Cores, f.Slots
	return nil
}

// Seated: a running application has got executors on nodes that have come, or whose memory has come
// free, one for each name in their order.
type Seated struct {
	App   api.AppID
	Nodes []string
	// Lent says that their memory is lent.
	Lent bool
}

func (f Seated) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if !a.Running() {
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	}
	if a.Tenant.Launch.Attach != nil {
		return errAttached
	}
	if err := checkRoom(l, a, a.Tenant.Claim(), f.Nodes, f.Lent); err != nil {
		return err
	}
	for _, node := range f.Nodes {
		l.add(a, node, f.Lent)
	}
	a.Tenant.Pool += len(f.Nodes)
	a.Tenant.Resized = true
	return nil
}

// SeatsLooked: it was looked whether an application may have more executors, which says something new of it. Crowded
// says that it would, where others' take the memory.
type SeatsLooked struct {
	App     api.AppID
	Crowded bool
}

func (f SeatsLooked) apply(l *Ledger) error {
	a, err := l.app(f.App, partNone)
	if err != nil {
		return err
	}
	if a.Tenant.Crowded != f.Crowded {
		a.Tenant.Crowded = f.Crowded
		l.batch.change(a, partRecord)
	}
	return nil
}

// ReplacementSent: an executor on Node takes the place of one that was lost on the node
// Lost. Replacements from before Since do not count any more. ID is its own (Tenant.Next).
type ReplacementSent struct {
	App        api.AppID
	ID         api.ExecutorID
	Lost, Node string
	Since      units.Instant
	Lent       bool
}

func (f ReplacementSent) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	t := &a.Tenant
	i := slices.Index(t.Pending, f.Lost)
	if i < 0 {
		return fmt.Errorf("no executor of %s on node %s is to be replaced", a.ID, f.Lost)
	}
	if next := t.Next(); f.ID != next {
		return fmt.Errorf("the next executor of %s is %s, not %s", a.ID, next, f.ID)
	}
	before := t.Pending
	pend(l, a, slices.Delete(slices.Clone(before), i, i+1))
	if err := checkRoom(l, a, a.Tenant.Claim(), []string{f.Node}, f.Lent); err != nil {
		pend(l, a, before)
		return err
	}
	t.Replaced = slices.DeleteFunc(t.Replaced, func(at units.Instant) bool { return at < f.Since })
	t.Replaced = append(t.Replaced, l.now)
	l.add(a, f.Node, f.Lent)
	return nil
}

// PlaceGivenBack: one of an application's executors that is to be replaced has no memory kept for
// it on its node any more: it is replaced where there is room.
type PlaceGivenBack struct {
	App  api.AppID
	Node string
}

func (f PlaceGivenBack) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	i := slices.Index(a.Tenant.Pending, f.Node)
	if i < 0 || f.Node == "" {
		return fmt.Errorf("no memory of node %q is kept for %s", f.Node, a.ID)
	}
	nodes := slices.Clone(a.Tenant.Pending)
	nodes[i] = ""
	pend(l, a, nodes)
	return nil
}

// ReplacementStopped: no executor of an application is replaced any more, for it has lost so many
// in a window of time.
type ReplacementStopped struct {
	App    api.AppID
	Lost   int
	Window time.Duration
}

func (f ReplacementStopped) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	a.Tenant.GaveUp = true
	pend(l, a, nil)
	return nil
}

// Reclaimed: executors that a node runs for an application are its, though the planner did
// not know of them: it has lost its state, or has succeeded another planner. Nobody asks for
// room: they are there. Of an application that this planner has started itself another one
// knows more since: it goes on unpaced, and its driver is to say anew what is true. Name is the
// application's where that is news, "" for one that is taken over already.
type Reclaimed struct {
	App       api.AppID
	Name      string
	Node      string
	Executors []UnknownExecutor // In order of id.
}

func (f Reclaimed) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	n, err := l.node(f.Node, nodePlan)
	if err != nil {
		return err
	}
	if !a.Running() {
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	}
	for _, x := range f.Executors {
		number := Number(x.ID)
		if known := a.Executor(x.ID); number == 0 || number > api.MostExecutorID || known != nil && !known.Gone {
			return fmt.Errorf("executor %s of %s on node %s cannot be taken over", x.ID, a.ID, f.Node)
		}
	}
	if !a.Promise.Reclaimed {
		outdate(l, a)
	}
	t := &a.Tenant
	for _, x := range f.Executors {
		t.count(Number(x.ID))
		known := a.Executor(x.ID)
		*known = Executor{ID: x.ID, Node: f.Node, Loan: loanOf(x.Lent), State: x.State,
			Since: max(0, a.At(l.now)), Moved: l.uptime, Registered: known.Named}
		if a.Tenant.Launch.Attach != nil {
			known.Attached = &Attached{Cores: a.Tenant.Launch.Cores} // Until its driver says more.
		}
		l.allocate(a, known)
		t.Pool++
	}
	n.Allegiance.known(a.ID, f.Executors)
	return nil
}

// StateUnknown: another planner has heard more of an application since: it goes on unpaced, and
// its driver is to say anew what is true.
type StateUnknown struct{ App api.AppID }

func (f StateUnknown) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	if !a.Running() {
		return fmt.Errorf("application %s is %s", a.ID, a.Outcome.State)
	}
	outdate(l, a)
	return nil
}

// outdate forgets what a's driver has told.
func outdate(l *Ledger, a *App) {
	a.Promise.Reclaimed, a.Marks.AckedSeq = true, 0
	if a.Promise.Mode != Off {
		a.Promise.Mode = Unpaced
	}
	l.batch.dropTargets(a)
	for _, s := range a.opened {
		l.batch.removeStage(a.ID, s)
		delete(a.Stages, s.Key())
		a.Order = slices.DeleteFunc(a.Order, func(o *Stage) bool { return o == s })
	}
	a.opened = nil
	l.batch.change(a, partTargets)
}

// ExecutorNamed: the driver of an application that was taken over has an executor of which no
// node that is here has told, or, when Lost, has it no more. No other one gets its id.
type ExecutorNamed struct {
	App  api.AppID
	ID   api.ExecutorID
	Lost bool
}

func (f ExecutorNamed) apply(l *Ledger) error {
	a, err := l.app(f.App, partState)
	if err != nil {
		return err
	}
	number := Number(f.ID)
	if known := a.Executor(f.ID); !a.Running() || !a.Promise.Reclaimed || number == 0 || number > api.MostExecutorID ||
		known != nil && !known.Unknown() || a.Beyond(number) {
		return fmt.Errorf("executor %s of %s cannot be named: it is %s, reclaimed: %v", f.ID, a.ID, a.Outcome.State,
			a.Promise.Reclaimed)
	}
	a.Tenant.count(number)
	a.Executor(f.ID).Named = !f.Lost
	return nil
}
