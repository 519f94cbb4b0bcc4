package planner

import (
	"github.com/sparkpacer/pacer/deciders/lending"
	"github.com/sparkpacer/pacer/deciders/queue"
	"github.com/sparkpacer/pacer/ledger"
)

// grow gives a executors on live nodes where it has none: nodes that have come since it
// registered, or whose memory has come free, as far as the rule of the queue lets it. Like
// replacements, they come when the driver speaks. Of memory that has come free the queue is asked first. Applications
// from which all were taken get some in the order in which they came, before others start.
func (h starter) grow(a *ledger.App) {
	if !lending.IsOut(a) {
		h.more(a)
		return
	}
	for _, b := range lending.Out(h.view) {
		if b.Clocks.Silent < h.cfg.DriverSilent {
			h.more(b)
		}
	}
}

// more gives a what it may have more.
func (h starter) more(a *ledger.App) {
	backfills := h.line.Backfills()
	freed := a.Tenant.Crowded && h.view.Version(ledger.PartFreed) > h.said.last.version
	if freed && len(h.view.Waiting()) > 0 && !lending.IsOut(a) &&
		(backfills || h.view.Version(lineReads) > markOf(h.core, matter{row: "queue"}).version) {
		later(h.core)
		return
	}
	places, share, bounded := h.places, queue.Share{}, false
	if !backfills {
		if !queue.Grows(h.outlook, a) {
			later(h.core)
			return
		}
		share = queue.ShareOf(a)
		most, mine := places.Most(a), max(1, share.Nodes)
		if mine < len(h.view.Nodes()) && (most == 0 || mine < most) {
			places, bounded = places.Within(mine), true
		}
	}
	seats, crowded := places.Growth(h.outlook, a)
	if crowded = crowded || bounded; crowded != a.Tenant.Crowded || share.More {
		h.record(ledger.SeatsLooked{App: a.ID, Crowded: crowded})
	}
	h.apply(seats...)
}

// uncrowded is what is nothing to an application that others' memory does not keep from growing.
func uncrowded(a *ledger.App) ledger.Part {
	if a.Tenant.Crowded {
		return 0
	}
	return ledger.PartFreed
}

// fewer reports whether a keeps fewer executors than when it was last asked about, or may have more.
func fewer(c *core, a *ledger.App, last mark) bool {
	return a.Clocks.Fewer > last.version || !c.line.Backfills() && queue.ShareOf(a).More
}
