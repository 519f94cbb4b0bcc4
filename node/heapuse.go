package node

import (
	"math"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// longestLook is the longest time between two pages that counts as time with running tasks: after a longer one nobody
// knows what ran.
const longestLook = 5 * time.Second

// heapWatch is what an executor's page last told of its heap.
type heapWatch struct {
	at         units.Instant
	collecting time.Duration
	used       units.Bytes
	// lone says that one task alone has run since the page before, fresh that the newest collection was in that time: what
	// it has left is that task's.
	lone, fresh bool
}

// heapLook is what two pages tell of a heap in use while tasks ran.
type heapLook struct {
	used              units.Bytes
	bin               int
	passed, collected units.Seconds
	lone              bool
}

// look takes in a newer page of an executor with so much heap and so many running tasks. It is false where that tells
// nothing.
func (w *heapWatch) look(p *meter.Page, heap units.Bytes, running int) (heapLook, bool) {
	m, before := &p.Memory, *w
	if m.Used <= 0 || heap <= 0 {
		return heapLook{}, false
	}
	collected := max(0, m.Collecting-before.collecting)
	*w = heapWatch{at: p.At, collecting: m.Collecting, used: m.Used, lone: running == 1}
	w.fresh = w.lone && before.lone && (before.fresh || collected > 0 || m.Used != before.used)
	passed := p.At.Sub(before.at)
	return heapLook{used: m.Used, bin: int(min(int64(m.Used)*api.HeapBins/int64(heap), api.HeapBins-1)),
		passed: units.FromDuration(passed), collected: units.FromDuration(collected), lone: w.fresh,
	}, before.at > 0 && passed <= longestLook
}

// heapUse grows to what is told of a stage's use of the heap. squares is the sum of the squares of how far lone tasks'
// use was from its mean.
type heapUse struct {
	api.HeapUse
	mean, squares float64
}

func (h *heapUse) add(l heapLook) {
	h.Bins[l.bin]++
	h.Live = max(h.Live, l.used)
	h.Busy += l.passed
	h.Collecting += l.collected
	if !l.lone {
		return
	}
	h.Alone++
	off := float64(l.used) - h.mean
	h.mean += off / float64(h.Alone)
	h.squares += off * (float64(l.used) - h.mean)
	h.Mean = units.Bytes(math.Round(h.mean))
	h.Deviation = units.Bytes(math.Round(math.Sqrt(h.squares / float64(h.Alone))))
}
