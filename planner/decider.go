package planner

import (
	"fmt"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/ledger"
)

// Decider looks at all that a planner knows and returns what it wants changed. It is asked at each
// tick, and keeps nothing of the View.
type Decider func(ledger.View) []ledger.Lever

// levers is the part of an engine that records what deciders want.
type levers struct {
	*core
	nodes *nodes
}

// ask asks deciders by turns, each about what the one before has changed.
func (l *levers) ask(deciders ...Decider) {
	for _, decide := range deciders {
		l.apply(decide(l.view)...)
	}
}

// apply records what deciders want, and what follows from it: nothing else changes what runs. What cannot be is left
// out, and all reports whether there was nothing of that.
func (l *levers) apply(levers ...ledger.Lever) (all bool) {
	all = true
	for _, lever := range levers {
		judged, _ := lever.(ledger.Judged)
		before := l.view.App(judged.App)
		paced := before != nil && before.Paced()
		if !l.record(lever) {
			all = false
			continue
		}
		switch f := lever.(type) {
		case ledger.Started:
			l.say(f.App, "started after "+f.Waited.Round(time.Second).String()+" in the queue: "+f.Reason)
		case ledger.Judged:
			l.say(f.App, f.Says)
			if a := l.view.App(f.App); a.Paced() && !paced {
				l.retarget(a)
				l.pacedAgain(a)
			}
		case ledger.GateSet:
			l.ungated(f.App, f.Why, f.Says)
		case ledger.ModeSet:
			l.ungated(f.App, f.Why, f.Why)
		case ledger.TargetsPaused:
			l.say(f.App, f.Says)
			l.retarget(l.view.App(f.App))
		case ledger.ExecutorsWanted:
			l.say(f.App, f.Says)
		case ledger.Seated:
			l.nodes.resize(l.view.App(f.App))
		case ledger.ExecutorLeaving:
			l.leaves(l.view.App(f.App), f)
		}
	}
	return all
}

// retarget plans the running stages of an application anew.
func (l *levers) retarget(a *ledger.App) {
	if a.Paced() {
		l.apply(schedule.Anew(l.outlook, a)...)
	}
}

// leaves has an executor of a that was asked to go do that at once if it only starts, and its driver
// has never seen it. Nobody knows that of one that was taken over, nor of one on a lost node: that is
// given up once the driver has told all that it knows (unstarted).
func (l *levers) leaves(a *ledger.App, f ledger.ExecutorLeaving) {
	x := a.Executor(f.ID)
	n := l.view.Node(x.Node)
	if f.For != "" && !l.view.Allocation(a, x.Node).Stays() {
		l.say(a.ID, fmt.Sprintf("gave node %s to %s, which waited", x.Node, f.For))
	}
	lost := n == nil || n.Presence == ledger.Lost
	if !x.Registered && x.State == api.ExecutorStarting && !a.Promise.Reclaimed && !lost {
		l.nodes.gone(a, x, whyLeaving(x, n))
	}
	l.nodes.resize(a)
}

// ungated has an application run with all cores from now on for a reason, "" for as before, and says a line.
func (l *levers) ungated(id api.AppID, why, says string) {
	if why != "" {
		l.record(ledger.PacingChanged{App: id, Pacing: l.view.App(id).Pacing(), Why: why})
	}
	l.say(id, says)
}

// pacedAgain says that a, which was released, is held back from now on.
func (l *levers) pacedAgain(a *ledger.App) {
	l.say(a.ID, "paced again: "+a.Promise.Reason)
	l.record(ledger.PacingChanged{App: a.ID, Pacing: a.Pacing(), Why: a.Promise.Reason})
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
