package node

import (
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// tellEvery is how often a status tells of an executor's memory that does not move.
const tellEvery = time.Minute

// ExecutorMemory is what the shell sees of an executor's memory beside its page.
type ExecutorMemory struct {
	// Limit is its group's memory limit as last written, 0 where it has none.
	Limit units.Bytes
	// Wanted is the newest wish on its wish page, Wish the wish's sequence, 0 for none.
	Wanted units.Bytes
	Wish   uint64
	// Bound says that something limits its memory that the shell cannot raise.
	Bound bool
	// Resident and Cache are its group's anonymous memory and page cache, and Pressure how its tasks wait for memory, as
	// last read, within a minute.
	Resident, Cache units.Bytes
	Pressure        units.Fraction `json:",omitzero"`
}

// holding is what an executor has of the node's memory.
type holding struct {
	// heap and overhead do not change; floor is what it has off the heap at its start, and
	// the least of it.
	heap, overhead, floor units.Bytes
	weight                float64
	// yields says that the kernel takes it first (api.PlanApp.Yields), shield what the kernel was last told of it.
	yields bool
	shield shield
	// still says that its off-heap memory is not to be moved: its user fixed it, it has none,
	// or its application is left alone.
	still bool
	seen  ExecutorMemory
	page  meter.Memory
	// reserved is the most that it may have off the heap by what is known.
	reserved units.Bytes
	// share is what it is to have, part its application's place in the division.
	share units.Bytes
	part  int
	// waits says that its start waits until others have shrunk.
	waits bool
	// wished is when the newest wish was made, slow that it is told of as not answered.
	wished units.Instant
	slow   bool
	// toldAt is when a status last told of it, told how many moves, final that it has gone.
	toldAt units.Instant
	told   int
	final  bool
	loan   loan
}

// shield is what the kernel goes by where memory is short; the zero value is not known.
type shield struct {
	size   units.Bytes
	yields bool
}

// take takes over how it is started. An executor that was started keeps how that was: another planner may only guess
// it, and a limit below what it has would end it.
func (h *holding) take(l *api.Launch, started bool) {
	h.weight = l.OffHeapWeight
	if started && !h.unknown() {
		return
	}
	h.heap, h.overhead, h.floor = l.Heap, l.Overhead, l.OffHeap
	h.still = l.OffHeapFixed || l.OffHeap == 0 || l.Mode.Unmanaged()
	h.reserved = max(h.reserved, h.floor)
}

// state is what there is to remember of it: the rest is seen.
func (h *holding) state() HoldingState {
	return HoldingState{Heap: h.heap, Overhead: h.overhead, Floor: h.floor, Still: h.still, Resident: h.loan.series}
}

// restore makes it what state was of.
func (h *holding) restore(s HoldingState) {
	h.heap, h.overhead, h.floor, h.still = s.Heap, s.Overhead, s.Floor, s.Still
	h.reserved = max(h.reserved, h.floor)
	h.loan.series = s.Resident
}

// unknown reports whether nobody has said how it was started, as where the state is lost and
// no Plan has it: what it has is then left alone.
func (h *holding) unknown() bool { return h.heap+h.overhead+h.floor == 0 }

// observe takes in what was seen of it. page is nil where no good one was read.
func (h *holding) observe(seen ExecutorMemory, page *meter.Memory) {
	h.seen = seen
	if page != nil && page.Known {
		known := h.page.Known
		h.page = *page
		if known {
			// It has no more than it was ever told to have, whatever it says.
			h.page.InForce = min(h.page.InForce, h.reserved)
		}
	}
	switch {
	case h.unknown():
		h.reserved = max(h.reserved, h.page.InForce, h.wanted())
	case h.fixed() && h.seen.Wish == 0:
		h.reserved = h.floor
	case !h.fixed() && h.answered():
		h.reserved = max(h.page.InForce, h.wanted())
	default:
		// It may go by any wish since the one that it has acknowledged.
		h.reserved = max(h.reserved, h.page.InForce, h.wanted(), h.seen.Limit-h.heap-h.overhead)
	}
}

// fixed reports whether its off-heap memory does not move.
func (h *holding) fixed() bool {
	return h.still || h.unknown() || h.seen.Bound || h.page.Known && !h.page.Moves
}

// moves reports whether wishes can be put to it.
func (h *holding) moves() bool { return !h.fixed() && h.page.Moves }

// answered reports whether it goes by the newest wish, or there is none.
func (h *holding) answered() bool { return h.page.Acknowledged == h.seen.Wish }

// wanted is the newest wish, what it was started with before the first.
func (h *holding) wanted() units.Bytes {
	if h.seen.Wish == 0 {
		return h.floor
	}
	return h.seen.Wanted
}

// used is what it takes of the node's memory, at most, whatever it does.
func (h *holding) used() units.Bytes { return max(h.seen.Limit, h.heap+h.overhead+h.reserved) }

// least is what it takes once it has shrunk as far as it can.
func (h *holding) least() units.Bytes {
	if h.fixed() {
		return h.heap + h.overhead + h.reserved
	}
	return h.heap + h.overhead + h.floor
}

// owes reports whether it has more than is wanted.
func (h *holding) owes() bool { return h.reserved > h.wanted() }

// overdue reports, once for a wish, that it has owed for longer than patience.
func (h *holding) overdue(now units.Instant, patience time.Duration) bool {
	if !h.owes() {
		h.slow = false
		return false
	}
	if h.slow || h.wished == 0 || now.Sub(h.wished) < patience {
		return false
	}
	h.slow = true
	return true
}

// news reports whether a status is to tell of it: once a minute, when it has moved, and when
// its executor has gone.
func (h *holding) news(now units.Instant, gone bool) bool {
	if !h.page.Known || h.final {
		return false
	}
	return h.toldAt == 0 || h.page.Met != h.told || gone || now.Sub(h.toldAt) >= tellEvery
}

// describe says what it has.
func (h *holding) describe() api.ExecutorMemory {
	m := api.ExecutorMemory{Heap: h.page.Heap, OffHeap: h.page.InForce, OffHeapUsed: h.page.Storage + h.page.Execution,
		Owed:  h.page.Owed,
		Fixed: h.fixed(), Yields: h.yields, Pressure: h.seen.Pressure, Spare: h.loan.spare,
		Resident: h.seen.Resident, Cache: h.seen.Cache, Limit: h.seen.Limit,
		Moves: h.page.Met, Moving: units.FromDuration(h.page.Moving), Evicted: h.page.Evicted, Spilled: h.page.Spilled}
	if !h.page.Moves {
		m.OffHeap = h.floor
	}
	return m
}
