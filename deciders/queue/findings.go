package queue

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/ledger"
	"github.com/sparkpacer/pacer/units"
)

const (
	// mostAnew bounds of how many applications that wait in a round what was found is found anew, those first whose
	// verdict is oldest: to walk a graph of 2,000 stages takes milliseconds.
	mostAnew = 2
	// keptShare is the part of its deadline by which the expected start of an application may move until its verdict
	// is found anew.
	keptShare = 0.01
)

// Findings are what was found of applications that wait, so that no graph is walked again at each ask. The zero
// value has none; nil finds them each time. They are not safe for concurrent use.
type Findings struct {
	of   map[api.AppID]*finding
	anew map[api.AppID]bool // Whose verdict is found anew in this round.
	made int
}

// Made is how many verdicts have been found.
func (f *Findings) Made() int { return f.made }

// finding is the verdict on an application that waits, were it to start at a moment, and its latest start.
type finding struct {
	by        basis
	made      int
	judgement ledger.Judgement
	latest    units.Instant
}

// basis is what a verdict is found by: a profile's version, a deadline, the nodes, who has come and gone, and the
// start.
type basis struct {
	profile  *ledger.Profile
	mode     ledger.Mode
	deadline units.Seconds
	around   around
	at       units.Instant
}

// around is what an application finds: a cluster of nodes that are live, with what they give, and a count of who has
// come and gone.
type around struct{ nodes, news uint64 }

// aroundOf is that of v: the hash is FNV-1a, of words where there are some, for there may be 10,000 nodes.
func aroundOf(v ledger.View) around {
	h := uint64(14695981039346656037)
	mix := func(x uint64) { h = (h ^ x) * 1099511628211 }
	for _, n := range v.Nodes() {
		if !n.Live() {
			continue
		}
		for i := range len(n.Node) {
			mix(uint64(n.Node[i]))
		}
		mix(math.Float64bits(float64(n.Offered)))
		mix(uint64(n.Room()))
	}
	return around{h, v.Version(ledger.PartGrowth | ledger.PartFreed)}
}

// holds reports whether what was found by b is about what would be found by now.
func (b basis) holds(now basis) bool {
	moved := units.FromDuration(now.at.Sub(b.at))
	b.at = now.at
	return b == now && max(moved, -moved) <= keptShare*max(1, now.deadline)
}

// begin is the start of a round in which those wait: what is known of others is dropped.
func (f *Findings) begin(waiting map[api.AppID]basis) {
	if f == nil {
		return
	}
	var stale []api.AppID
	maps.DeleteFunc(f.of, func(id api.AppID, x *finding) bool {
		now, there := waiting[id]
		if there && !x.by.holds(now) {
			stale = append(stale, id)
		}
		return !there
	})
	slices.SortFunc(stale, func(x, y api.AppID) int { return cmp.Compare(f.of[x].made, f.of[y].made) })
	f.anew = make(map[api.AppID]bool)
	for _, id := range stale[:min(len(stale), mostAnew)] {
		f.anew[id] = true
	}
}

// known is what was found of an application, nil where that is to be found now.
func (f *Findings) known(id api.AppID) *finding {
	if f == nil || f.anew[id] {
		return nil
	}
	return f.of[id]
}

// keep notes what was found now.
func (f *Findings) keep(id api.AppID, x finding) {
	if f == nil {
		return
	}
	if f.of == nil {
		f.of = make(map[api.AppID]*finding)
	}
	f.made++
	x.made = f.made
	f.of[id] = &x
	delete(f.anew, id)
}
