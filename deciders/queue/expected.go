package queue

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// mostExpected bounds for how many applications in a round a start is looked for.
const mostExpected = 100

// expect is when a, which does not fit, is expected to start, 0 where nobody knows; it has its
// memory from then on.
func (h *round) expect(a *ledger.App) units.Instant {
	if h.asked++; h.asked > mostExpected {
		return 0
	}
	claim := a.Tenant.Claim()
	node, best := "", never
	for _, n := range h.view.Nodes() {
		if !n.Live() || n.Room() < claim {
			continue
		}
		if at := h.when(n, a); at > 0 && at < best {
			node, best = n.Node, at
		}
	}
	if node == "" {
		return 0
	}
	h.expectChange(node, change{best, -claim})
	if end := h.ofWaiting(a, best); end > 0 {
		h.expectChange(node, change{end, claim})
	}
	return best
}

// when is the first moment from which n is expected to have memory left for a, 0 for none. Lent memory comes
// free for a node's next need: nobody can wait for it.
func (h *round) when(n *ledger.Node, a *ledger.App) units.Instant {
	h.foresee()
	free, claim := h.free(n, a), a.Tenant.Claim()
	at := h.view.Now()
	if free < claim {
		at = 0
	}
	for _, c := range h.ends[n.Node] {
		switch free += c.by; {
		case free < claim:
			at = 0
		case at == 0:
			at = c.at
		}
	}
	return at
}

// leaving is how long an application that has ended still has its executors.
const leaving = 2 * time.Second

// foresee finds when memory comes free, once in a round.
func (h *round) foresee() {
	if h.ends != nil {
		return
	}
	h.ends = make(map[string][]change)
	for _, a := range h.view.Apps() {
		claims := make(map[string]units.Bytes)
		for _, x := range a.Alive() {
			if g, gives := waiting.GiftOf(a, x.ID); gives && !g.Stayed {
				left := change{max(h.view.Now(), a.Instant(g.At).Add(giving)), a.Tenant.Claim()}
				h.ends[x.Node] = append(h.ends[x.Node], left)
				continue
			}
			if !x.Lent() {
				claims[x.Node] += a.Tenant.Claim()
			}
		}
		if len(claims) == 0 {
			continue
		}
		if end := h.ofRunning(a); end > 0 {
			for _, node := range slices.Sorted(maps.Keys(claims)) {
				h.ends[node] = append(h.ends[node], change{end, claims[node]})
			}
		}
	}
	for _, changes := range h.ends {
		slices.SortStableFunc(changes, func(x, y change) int { return cmp.Compare(x.at, y.at) })
	}
}

func (h *round) expectChange(node string, c change) {
	h.foresee()
	at, _ := slices.BinarySearchFunc(h.ends[node], c, func(x, y change) int { return cmp.Or(cmp.Compare(x.at, y.at), -1) })
	h.ends[node] = slices.Insert(h.ends[node], at, c)
}

// ofRunning is when a, which has executors, is expected to have none, 0 where nobody knows.
func (h *round) ofRunning(a *ledger.App) units.Instant {
	now := h.view.Now()
	if a.Over() || a.Outcome.Killed != "" {
		return now.Add(leaving)
	}
	if at := h.outlook.Predicted(a); at > 0 {
		return max(now, a.Instant(at)).Add(leaving)
	}
	usual := took(h.view, a)
	switch {
	case usual == 0 && a.Reserved() > 0:
		return a.Instant(a.Promise.Deadline).Add(leaving)
	case usual == 0:
		return 0
	}
	// An application that takes longer than others did may take a quarter more.
	ran := a.At(now) - a.Tenant.Began
	return a.Instant(a.Tenant.Began + max(usual, ran*5/4)).Add(leaving)
}

// ofWaiting is when a is expected to end if it starts then, 0 where nobody knows.
func (h *round) ofWaiting(a *ledger.App, start units.Instant) units.Instant {
	at := a.At(start)
	switch usual := took(h.view, a); {
	case a.Profile != nil && a.Promise.Mode == ledger.Paced && a.Band() == api.BandPromised:
		return max(a.Instant(a.Promise.Deadline), start.Add(leaving))
	case usual > 0:
		return a.Instant(at + usual).Add(leaving)
	case a.Profile != nil:
		return a.Instant(at + a.Profile.Body.Duration - a.Profile.Body.Head).Add(leaving)
	}
	return 0
}
