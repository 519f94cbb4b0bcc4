package queue

import (
	"math"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/estimate"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// Priorities of applications, where the rule knows some.
const (
	inTurn = iota
	promised
	interactive
)

// priority is that of a: somebody sits before a session without an end, a stream, or what is of that class. The class
// of an application that was taken over is not known.
func priority(a *ledger.App) int {
	switch p := &a.Promise; {
	case a.Tenant.Class == api.ClassInteractive,
		a.Tenant.Class != api.ClassBatch && p.Mode == ledger.Unpaced && !p.Reclaimed && !a.Tenant.Nodes.Lone():
		return interactive
	case keepsDeadline(a):
		return promised
	}
	return inTurn
}

// keepsDeadline reports whether a has a deadline that can be kept, as far as is known.
func keepsDeadline(a *ledger.App) bool {
	return a.Reserved() > 0 || a.Band() == api.BandPromised && !a.Promise.Late && a.Profile != nil
}

// spareCores is how much more than the least cores for its deadline an application keeps.
const spareCores = 1.1

// needs is on how many nodes a has to be whatever others wait for, each of which gives it so many cores.
func needs(o *estimate.Outlook, a *ledger.App, each units.Cores) int {
	least := placement.Least(a)
	latest := waiting.Of(a).Latest
	late := latest > 0 && o.View.Now() > latest
	if !keepsDeadline(a) || late || !(each > 0) {
		return least
	}
	cores := a.Reserved()
	if cores == 0 {
		cores = o.Least(a)
	}
	nodes := math.Ceil(spareCores * float64(cores/each))
	return max(least, int(min(nodes, math.MaxInt32)))
}

// whole is what all nodes give that may have executors.
type whole struct {
	// rooms is how many of them give so much memory, total what all do; said that each says what it gives.
	rooms map[units.Bytes]int
	total units.Bytes
	said  bool
	// each is how many cores a node offers in the mean, largest the most memory that one gives.
	each    units.Cores
	largest units.Bytes
}

func wholeOf(v ledger.View) whole {
	w := whole{rooms: make(map[units.Bytes]int), said: true}
	nodes := 0
	for _, n := range v.Nodes() {
		if !n.Live() {
			continue
		}
		nodes++
		w.rooms[n.Room()]++
		w.each += n.Offered
		w.largest = max(w.largest, n.Room())
		if w.said = w.said && n.Memory > 0; w.said {
			w.total += n.Memory
		}
	}
	w.each /= units.Cores(max(1, nodes))
	if !w.said {
		w.total = 0
	}
	return w
}

// unit is what a unit of so much memory takes of the total: what is left of a node beside such units, and holds none,
// is theirs. Cores count for nothing: those of a node are divided by quotas among all that run there.
func (w *whole) unit(memory units.Bytes) assign.Amount {
	fit := 0
	for room, nodes := range w.rooms {
		fit += nodes * int(room/max(1, memory))
	}
	switch {
	case !w.said:
		return assign.Amount{} // No bound of it is known.
	case fit == 0:
		return assign.Amount{Memory: w.total + 1}
	}
	return assign.Amount{Memory: w.total / units.Bytes(fit)}
}

// holders is how many nodes hold so much memory.
func (w *whole) holders(memory units.Bytes) (nodes int) {
	for room, n := range w.rooms {
		if room >= memory {
			nodes += n
		}
	}
	return nodes
}
