package planner

import (
	"fmt"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/component"
	"github.com/sparkpacer/pacer/deciders/pause"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/schedule"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
)

// Decider looks at all that a planner knows and returns what it wants changed. It is asked at each
// tick, and keeps nothing of the View.
type Decider func(ledger.View) []ledger.Lever

// apply records what deciders want, and what follows from it: nothing else changes what runs. A lever that cannot be is
// left out, and all reports whether there was nothing of that.
func (c *core) apply(levers ...ledger.Lever) (all bool) {
	all = true
	for _, lever := range levers {
		judged, _ := lever.(ledger.Judged)
		before := c.view.App(judged.App)
		paced := before != nil && before.Paced()
		if c.record(lever) {
			follow(c, lever, paced)
		} else {
			all = false
		}
	}
	return all
}

// follow records what follows from a lever; paced says that its application was held back before.
func follow(c *core, lever ledger.Lever, paced bool) {
	switch f := lever.(type) {
	case ledger.Started:
		c.say(f.App, "started after "+f.Waited.Round(time.Second).String()+" in the queue: "+f.Reason)
	case ledger.Judged:
		c.say(f.App, f.Says)
		if a := c.view.App(f.App); a.Paced() && !paced {
			c.retarget(a)
			pacedAgain(c, a)
		}
	case ledger.GateSet:
		ungated(c, f.App, f.Why, f.Says)
	case ledger.ModeSet:
		ungated(c, f.App, f.Why, f.Why)
	case pause.TargetsPaused:
		c.say(f.App, f.Says)
		c.retarget(c.view.App(f.App))
	case placement.ExecutorsWanted:
		c.say(f.App, f.Says)
	case component.Lost:
		if a := c.view.App(f.App); !a.Outcome.Clean { // A last word that proves its exit code stands.
			fails(c, a, fmt.Sprintf("its driver was lost with node %s", f.Node))
		}
	case component.MemberLost:
		if a := c.view.App(f.App); component.NeedsAll(a, f.ID) {
			fails(c, a, fmt.Sprintf("its component %s was lost with node %s", f.ID, f.Node))
		}
	case component.Left:
		c.say(f.App, fmt.Sprintf("its driver on node %s %s: it begins again", f.Node, f.Reason))
	case ledger.Seated:
		c.resize(c.view.App(f.App))
	case ledger.ExecutorLeaving:
		a := c.view.App(f.App)
		if x := a.Executor(f.ID); f.For != "" && !c.view.Allocation(a, x.Node).Stays() {
			c.say(a.ID, fmt.Sprintf("gave node %s to %s, which waited", x.Node, f.For))
		}
		leave(c, a, f.ID)
	case ledger.ExecutorTaken:
		a := c.view.App(f.App)
		if !slices.ContainsFunc(a.Alive(), func(x *ledger.Executor) bool { return !x.Taken() }) {
			c.say(a.ID, "all its executors go: its memory was lent and is taken back, and it goes on when there is some")
		}
		leave(c, a, f.ID)
	}
}

// unknownCode is the exit code of a driver of which nobody knows it: it was not started, or its machine has gone.
const unknownCode = 1

// fails ends a, which has failed for a reason.
func fails(c *core, a *ledger.App, reason string) {
	if !a.Over() {
		c.record(ledger.RunEnded{App: a.ID, State: api.AppFailed, At: a.At(c.now), By: api.EndedByExit, Reason: reason})
	}
	c.record(ledger.Exited{App: a.ID, At: max(a.At(c.now), a.Outcome.Stopped), By: api.EndedByExit, Failed: true,
		Reason: reason, Code: unknownCode})
}

// retarget plans the running stages of an application anew.
func (c *core) retarget(a *ledger.App) {
	if !a.Paced() {
		return
	}
	for _, aim := range schedule.Anew(c.outlook, a) { // From which nothing else follows.
		c.record(aim)
	}
}

// leave has an executor of a that was asked to go do that at once if it only starts, and its driver
// has never seen it. That is not known of an executor that was taken over, nor of one on a lost node: it is
// given up once the driver has told all that it knows (unstarted).
func leave(c *core, a *ledger.App, id api.ExecutorID) {
	x := a.Executor(id)
	n := c.view.Node(x.Node)
	lost := n == nil || n.Presence == ledger.Lost
	if !x.Registered && x.State == api.ExecutorStarting && !a.Promise.Reclaimed && !lost {
		c.gone(a, x, whyLeaving(a, x, n))
	}
	c.resize(a)
}

// ungated has an application run with all cores from now on for a reason, "" for as before, and says a line.
func ungated(c *core, id api.AppID, why, says string) {
	if why != "" {
		c.record(ledger.PacingChanged{App: id, Pacing: c.view.App(id).Pacing(), Why: why})
	}
	c.say(id, says)
}

// pacedAgain says that a, which was released, is held back from now on.
func pacedAgain(c *core, a *ledger.App) {
	c.say(a.ID, "paced again: "+a.Promise.Reason)
	c.record(ledger.PacingChanged{App: a.ID, Pacing: a.Pacing(), Why: a.Promise.Reason})
}

// gone notes that x runs no more. A running application gets another one when
// its driver speaks next: executors also exit when their driver dies, and must
// not be replaced then.
func (c *core) gone(a *ledger.App, x *ledger.Executor, reason string) {
	lose(c, a, x, reason, false)
}

// lose records that x runs no more; unstarted says that it has never run.
func lose(c *core, a *ledger.App, x *ledger.Executor, reason string, unstarted bool) {
	if x.Gone {
		return
	}
	node := x.Node
	if !a.Running() {
		node = ""
	}
	c.record(ledger.ExecutorLost{App: a.ID, ID: x.ID, Node: node, Reason: reason, Unstarted: unstarted,
		Leaving: x.Leaving})
}

// resize counts again what a's nodes offer.
func (c *core) resize(a *ledger.App) {
	cores, slots := placement.Extent(c.view, a)
	if cores == a.Tenant.Cores && slots == a.Tenant.Slots || cores == 0 && a.Tenant.Launch.Attach != nil {
		return // A cluster manager that has given it nothing yet, or nothing any more, is thought to give some.
	}
	c.record(ledger.Resized{App: a.ID, Cores: cores, Slots: slots})
}

// whyLeaving says why x of a, which is on n, was asked to go.
func whyLeaving(a *ledger.App, x *ledger.Executor, n *ledger.Node) string {
	switch gift, given := waiting.GiftOf(a, x.ID); {
	case x.Taken():
		return "the memory that it was lent was taken back"
	case given:
		return fmt.Sprintf("its memory was given to %s", gift.For)
	case n != nil && !n.Draining():
		return "its seat was taken back"
	}
	return "its node is being drained"
}
