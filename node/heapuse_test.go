package node

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// A stage's use of the heap is folded while its tasks run and told when none does: by parts of the heap, with the time in
// collections, and apart what one task alone has left after a collection.
func TestTheHeapOfAStageIsToldAtItsEnd(t *testing.T) {
	w := newWorld(t, testConfig(4))
	app := planApp(appA, 4, ids("1"))
	app.Launch.Heap = 640 * units.MiB
	w.ready(1, app)
	x := w.e.roster.index[Key{appA, "1"}]
	at, key := w.now, api.StageKey{Stage: 3}
	page := func(running int, used units.Bytes, collecting time.Duration) *api.StageStatus {
		at = at.Add(time.Second)
		p := meter.Page{At: at, Generation: 1, Memory: meter.Memory{Used: used, Collecting: collecting},
			Stages: []meter.Stage{{Key: key, Running: running, Finished: 1}}}
		if !w.e.roster.foldPage(x, &p, at) {
			t.Fatal("the page was refused")
		}
		var s api.StageStatus
		x.record(key).describe(&s, x.key, at)
		return &s
	}
	page(2, 100*units.MiB, 10*time.Millisecond)
	page(2, 200*units.MiB, 110*time.Millisecond)
	page(1, 300*units.MiB, 110*time.Millisecond) // What two had, too.
	page(1, 300*units.MiB, 110*time.Millisecond) // No collection since.
	page(1, 310*units.MiB, 120*time.Millisecond) // Of one alone.
	if s := page(1, 330*units.MiB, 130*time.Millisecond); s.Heap != (api.HeapUse{}) {
		t.Errorf("told while a task runs: %+v", s.Heap)
	}
	page(2, 700*units.MiB, 130*time.Millisecond) // More than its heap counts as all.
	h := page(0, 50*units.MiB, 630*time.Millisecond).Heap
	bins := [api.HeapBins]int32{20: 1, 30: 2, 31: 1, 33: 1, 63: 1}
	want := api.HeapUse{Bins: bins, Live: 700 * units.MiB, Busy: 6, Collecting: 0.12, Alone: 2, Mean: 320 * units.MiB, Deviation: 10 * units.MiB}
	if d := h.Collecting - want.Collecting; d > 1e-9 || d < -1e-9 {
		t.Errorf("%v s in collections", h.Collecting)
	}
	if h.Collecting = want.Collecting; h != want {
		t.Errorf("%+v, want %+v", h, want)
	}
}

// An executor whose JVM does not tell, and one that is looked at again after a long time, add nothing.
func TestAHeapThatIsNotTold(t *testing.T) {
	var w heapWatch
	page := func(s int, used units.Bytes) *meter.Page {
		return &meter.Page{At: units.Instant(s) * units.Instant(time.Second), Memory: meter.Memory{Used: used}}
	}
	for i, c := range []struct {
		second     int
		used, heap units.Bytes
		tells      bool
	}{{1, 0, 1 << 30, false}, {2, 1 << 20, 0, false}, {3, 1 << 20, 1 << 30, false}, {4, 1 << 20, 1 << 30, true}, {10, 1 << 20, 1 << 30, false}, {11, 1 << 20, 1 << 30, true}} {
		if _, tells := w.look(page(c.second, c.used), c.heap, 1); tells != c.tells {
			t.Errorf("look %d: %v", i, tells)
		}
	}
}
