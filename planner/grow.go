package planner

import (
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
)

// grow gives a executors on live nodes where it has none: nodes that have come since it
// registered, or whose memory has come free, as far as the rule of the queue lets it. Like
// replacements, they come when the driver speaks. An application is not looked at while nothing has
// changed since the last time, or while the queue is to be asked first.
func (h starter) grow(a *ledger.App) {
	freed, backfills := a.Tenant.Crowded && a.Clocks.Freed != h.view.Version(ledger.PartFreed), h.line.Backfills()
	if a.Tenant.GaveUp || a.Outcome.Killed != "" || a.Tenant.Launch.Attach != nil ||
		a.Clocks.Grown == h.view.Version(ledger.PartGrowth) && !freed && (backfills || !h.memory.shares.more[a.ID]) ||
		len(h.view.Waiting()) > 0 && freed && (backfills || h.view.Version(lineReads) != markOf(h.core, "queue").version) {
		return
	}
	places, bounded := h.places, false
	if !backfills {
		if !queue.Grows(h.outlook, a) {
			return // It is looked at again.
		}
		h.memory.shares.renew(h.outlook, h.line, h.view.Version(news), h.now)
		delete(h.memory.shares.more, a.ID)
		most := places.Most(a)
		if share := max(1, h.memory.shares.nodes[a.ID]); share < len(h.view.Nodes()) && (most == 0 || share < most) {
			places, bounded = places.Within(share), true
		}
	}
	seats, crowded := places.Growth(h.outlook, a)
	h.record(ledger.SeatsLooked{App: a.ID, Crowded: crowded || bounded})
	h.apply(seats...)
}
