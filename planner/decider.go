package planner

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
)

// Decider looks at all that a planner knows and returns what it wants changed. It is asked at each
// tick, and keeps nothing of the View.
type Decider func(ledger.View) []ledger.Lever

// ask asks deciders by turns, each about what the one before has changed.
func (f *nodes) ask(deciders ...Decider) {
	for _, decide := range deciders {
		f.apply(decide(f.view)...)
	}
}

// apply records what deciders want, and what follows from it. What cannot be is left out.
func (f *nodes) apply(levers ...ledger.Lever) {
	for _, lever := range levers {
		if !f.record(lever) {
			continue
		}
		switch l := lever.(type) {
		case ledger.Started:
			f.record(ledger.Noticed{App: l.App, Text: "started after " + l.Waited.Round(time.Second).String() +
				" in the queue: " + l.Reason})
		case ledger.Seated:
			f.resize(f.view.App(l.App))
		case ledger.ExecutorLeaving:
			f.leaves(f.view.App(l.App), l)
		}
	}
}

// leaves has an executor of a that was asked to go do that at once if it only starts, and its driver
// has never seen it. Nobody knows that of one that was taken over, nor of one on a lost node: that is
// given up once the driver has told all that it knows (unstarted).
func (f *nodes) leaves(a *ledger.App, l ledger.ExecutorLeaving) {
	x := a.Executor(l.ID)
	n := f.view.Node(x.Node)
	if l.For != "" && !f.view.Allocation(a, x.Node).Stays() {
		f.record(ledger.Noticed{App: a.ID, Text: fmt.Sprintf("gave node %s to %s, which waited", x.Node, l.For)})
	}
	lost := n == nil || n.Presence == ledger.Lost
	if !x.Registered && x.State == api.ExecutorStarting && !a.Promise.Reclaimed && !lost {
		f.gone(a, x, whyLeaving(x, n))
	}
	f.resize(a)
}

// whyLeaving says why x, which is on n, was asked to go.
func whyLeaving(x *ledger.Executor, n *ledger.Node) string {
	switch {
	case x.For != "":
		return fmt.Sprintf("its memory was given to %s", x.For)
	case n != nil && !n.Draining:
		return "its seat was taken back"
	}
	return "its node is being drained"
}
