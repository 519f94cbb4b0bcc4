package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/placement"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

// round is the cluster as those in front leave it: who started in this round has its memory,
// and whoever waits has the memory of a node kept.
type round struct {
	Policy
	view ledger.View
	// taken is what was taken in this round, by node, kept who waits for the node.
	taken map[string]units.Bytes
	kept  map[string]*ledger.App
	// told is what Plans have grown by in this round, by node: bytes of launches.
	told map[string]int
	// ends are the changes of memory that are expected, nil until somebody asks.
	ends map[string][]change
	// asked is how many starts have been looked for.
	asked int
}

// change is what a node has more of memory from then on, or less.
type change struct {
	at units.Instant
	by units.Bytes
}

// newRound is the cluster before anybody is looked at. Executors that are to replace ones of
// nodes that are away have their memory taken where they would go.
func (p Policy) newRound(v ledger.View) *round {
	h := &round{Policy: p, view: v, taken: make(map[string]units.Bytes), kept: make(map[string]*ledger.App),
		told: make(map[string]int)}
	for a := range v.Running() {
		for _, lost := range a.Tenant.Pending {
			if n := v.Node(lost); n == nil || !n.Live() {
				if n := p.Places.Replacement(v, a, lost); n != nil {
					h.taken[n.Node] += a.Tenant.Claim()
				}
			}
		}
	}
	return h
}

// room is what whoever is looked at may take of n.
func (h *round) room(n *ledger.Node) units.Bytes {
	free := h.view.Free(n) - h.taken[n.Node]
	head := h.kept[n.Node]
	if head == nil {
		return free
	}
	// All that was there when the head came will end; what has come since stays.
	spare := n.Room() - head.Tenant.Claim() - h.taken[n.Node]
	for _, t := range h.view.Allocations(n.Node) {
		if t.App.Instant(t.App.Tenant.Began) >= since(head) {
			spare -= units.Bytes(len(t.Executors)) * t.App.Tenant.Claim()
		}
	}
	return min(free, spare)
}

// seats are what a gets now; an error where that is nothing, which is a *fullPlan where there is
// memory for it.
func (h *round) seats(a *ledger.App) (placement.Seating, error) {
	var full *fullPlan
	s, err := h.Places.Seats(h.view, a, func(n *ledger.Node) units.Bytes {
		room := h.room(n)
		if room >= a.Tenant.Claim() && h.full(n, a) {
			full = &fullPlan{n.Node, a.Tenant.Launch.Bytes()}
			return 0
		}
		return room
	})
	if err != nil && full != nil {
		return s, full
	}
	return s, err
}

// full reports whether n's Plan, which has to go through the bus, does not hold a's launch too. As
// with memory, those who come do not take what the head waits for.
func (h *round) full(n *ledger.Node, a *ledger.App) bool {
	used := h.view.LaunchBytes(n) + h.told[n.Node]
	if used < api.MostPlanLaunches/2 {
		return false // Any two launches fit.
	}
	free := api.MostPlanLaunches - used
	if head := h.kept[n.Node]; head != nil {
		spare := api.MostPlanLaunches - head.Tenant.Launch.Bytes() - h.told[n.Node]
		for _, t := range h.view.Allocations(n.Node) {
			if t.App.Instant(t.App.Tenant.Began) >= since(head) {
				spare -= t.App.Tenant.Launch.Bytes()
			}
		}
		free = min(free, spare)
	}
	return a.Tenant.Launch.Bytes() > free
}

// fullPlan says that the Plan of a node does not hold an application beside others, which has
// that many bytes. Alone any launch fits (api.MostLaunch).
type fullPlan struct {
	node string
	mine int
}

// Error implements error.
func (e *fullPlan) Error() string {
	return fmt.Sprintf(
		"the plan of node %s has no room: a plan takes %d bytes of Java options, class paths and environments, and this "+
			"application has %d: "+
			"shorten them, or wait until others have ended", e.node, api.MostPlanLaunches, e.mine)
}

// take has a, which starts, take its seats.
func (h *round) take(a *ledger.App, s placement.Seating) {
	tenant := a.Tenant
	tenant.Launch.OffHeap = s.OffHeap
	end := h.ofWaiting(a, h.view.Now())
	for _, seat := range s.Seats {
		by := units.Bytes(seat.Executors) * tenant.Claim()
		h.taken[seat.Node.Node] += by
		h.told[seat.Node.Node] += a.Tenant.Launch.Bytes()
		if h.ends != nil && end > 0 {
			h.expectChange(seat.Node.Node, change{end, by})
		}
	}
}

// keep keeps the memory of a node for a, and returns which: the one that is kept for it
// already, or the one where it is expected to start first; "" where all are kept for others.
func (h *round) keep(a *ledger.App, before string) string {
	claim := a.Tenant.Claim()
	holds := func(n *ledger.Node) bool { return n != nil && n.Live() && h.kept[n.Node] == nil && n.Room() >= claim }
	if n := h.view.Node(before); !holds(n) {
		before = ""
		var best units.Instant
		for _, n := range h.view.Nodes() {
			if !holds(n) {
				continue
			}
			if at := cmp.Or(h.when(n, claim), never); before == "" || at < best {
				before, best = n.Node, at
			}
		}
	}
	if before != "" {
		h.kept[before] = a
	}
	return before
}

// never is later than anything that is expected.
const never = units.Instant(1<<63 - 1)

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
		if at := h.when(n, claim); at > 0 && at < best {
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

// when is the first moment from which n is expected to have so much memory left, 0 for none.
func (h *round) when(n *ledger.Node, claim units.Bytes) units.Instant {
	h.foresee()
	free := h.view.Free(n) - h.taken[n.Node]
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
			claims[x.Node] += a.Tenant.Claim()
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
	if at := h.estimates().Predicted(h.view, a); at > 0 {
		return max(now, a.Instant(at)).Add(leaving)
	}
	usual := took(h.view, a)
	if usual == 0 {
		return 0
	}
	// One that takes longer than others did may take a quarter more.
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
