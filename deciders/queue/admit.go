package queue

import (
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
)

// admit is what a gets now, an error where it is to wait. Where the rule has others give back for it, and a is to
// wait for that, they are in h.gives.
func (h *round) admit(a *ledger.App, noWait bool) (placement.Seating, error) {
	if h.book.Backfills() {
		return h.seats(a, 0)
	}
	if h.blocked && len(h.leave[a.ID]) == 0 {
		return placement.Seating{}, h.othersFirst()
	}
	s, err := h.admitted(a, noWait)
	// Applications behind one that fits no node, and to which no other gives one, would take what comes free, one after
	// another. Memory that it is given is spared.
	h.blocked = h.blocked || api.KindOf(err) == api.KindConflict && h.givenTo(a) == "" && !h.book.Places.Borrows(a)
	return s, err
}

// admitted is what a, which nobody blocks, gets now.
func (h *round) admitted(a *ledger.App, noWait bool) (placement.Seating, error) {
	if len(h.view.Waiting()) == 0 {
		if s, err := h.seats(a, 0); err == nil && len(s.Seats) >= h.least(a) {
			return s, nil // No other application waits: what is free is nobody's.
		}
	}
	if placement.Least(a) > h.book.mostOf(a) {
		return h.seats(a, 0) // There are not the nodes for it now: that is nobody's fault.
	}
	by := h.book.assign()
	may, need := by.granted(a.ID), h.least(a)
	if len(h.leave[a.ID]) > 0 {
		may = max(may, need) // It has been its turn.
	}
	unbound := may == 0 // More may fit a node than its units count for: what nobody grows into is its own.
	if unbound && !h.idle() {
		return placement.Seating{}, h.othersFirst()
	}
	fit, coming := h.fitting(a, need), h.comingTo(a)
	if len(fit) >= need {
		return h.seats(a, may)
	}
	switch {
	case unbound:
		return placement.Seating{}, h.othersFirst()
	case h.book.Rule == assign.Rigid:
	case len(fit)+coming >= need, h.book.takesBack() && !noWait && h.giveBack(a, need-len(fit)-coming, fit):
		return placement.Seating{}, h.isGiven(a)
	case coming == 0 && len(fit) >= placement.Least(a):
		return h.seats(a, may) // No application can give what more it needs.
	case coming == 0 && h.book.takesBack() && !noWait && h.giveBack(a, placement.Least(a)-len(fit), fit):
		return placement.Seating{}, h.isGiven(a)
	}
	if _, err := h.seats(a, may); err != nil {
		return placement.Seating{}, err
	}
	return placement.Seating{}, api.Errorf(api.KindConflict, "it fits %d nodes now, and needs %d", len(fit), need)
}

// othersFirst says that others come first.
func (h *round) othersFirst() error {
	return api.Errorf(api.KindConflict, "by the rule %s others are served first", h.book.Rule)
}

// isGiven says that a waits for what is given back.
func (h *round) isGiven(a *ledger.App) error {
	return api.Errorf(api.KindConflict, "it gets node %s, where others leave for it", h.givenTo(a))
}

// least is on how many nodes a has to have room to start: on all that it asks for, by the rule that gives all or
// nothing.
func (h *round) least(a *ledger.App) int {
	j := h.book.waiting(a)
	if h.book.Rule == assign.Rigid {
		return j.Core + j.Elastic
	}
	return j.Core
}

// fitting are nodes on which an executor of a fits now, at most so many.
func (h *round) fitting(a *ledger.App, most int) map[string]bool {
	fit := make(map[string]bool)
	for _, n := range h.view.Nodes() {
		if len(fit) >= most {
			break
		}
		if n.Live() && h.room(n, a) >= a.Tenant.Claim() && !h.full(n, a) {
			fit[n.Node] = true
		}
	}
	return fit
}

// comingTo is on how many nodes a is to fit when those have left that were asked to.
func (h *round) comingTo(a *ledger.App) (nodes int) {
	for name, g := range h.gifts {
		n := h.view.Node(name)
		if free := h.free(n, a); g.to.ID == a.ID && g.coming > 0 && free < a.Tenant.Claim() &&
			free+g.coming >= a.Tenant.Claim() {
			nodes++
		}
	}
	return nodes
}

// idle reports whether no application that runs is to get what is free, so that anybody may have it.
func (h *round) idle() bool {
	if h.nobody != nil {
		return *h.nobody
	}
	by, idle := h.book.assign(), true
	for i := range by.Serving {
		j := &by.Serving[i]
		if a := h.view.App(api.AppID(j.ID)); idle && by.granted(a.ID) > j.Units && Grows(h.outlook, a) {
			idle = !slices.ContainsFunc(h.view.Nodes(), func(n *ledger.Node) bool {
				return n.Live() && h.gifts[n.Node] == nil && h.free(n, a) >= a.Tenant.Claim() &&
					h.view.Allocation(a, n.Node) == nil
			})
		}
	}
	h.nobody = &idle
	return idle
}
