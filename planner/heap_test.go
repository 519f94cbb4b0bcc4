package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// heaped runs an application that leaves its heap to the planner, has its node tell how the heap was used, and returns
// the heap with which its executors were started.
func (w *world) heaped(name string, deadline units.Seconds, live units.Bytes) units.Bytes {
	w.Helper()
	r := registration(name, deadline)
	r.Profile, r.Watched, r.Launch.Heap, r.Nodes = "p", true, 4*units.GiB, &api.NodeRange{HeapAuto: true}
	start := w.now
	id := w.run(r, "read", "map", "sum")
	heap := w.e.View().App(id).Tenant.Launch.Heap
	s := w.status("a")
	use := api.HeapUse{Live: live, Busy: 5, Collecting: 0.1}
	use.Bins[min(api.HeapBins-1, int(live*api.HeapBins/heap))] = 10
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: 1}, Executor: "1", CPU: 10, Heap: use}}
	w.step(planner.Status{Status: &s})
	w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: units.FromDuration(w.now.Sub(start)) + 1})
	w.pass(3 * time.Second)
	return heap
}

// Executors of an application that leaves its heap to the planner start with the heap that earlier runs have shown, each
// at most 35 % below the one before; with a deadline with the last good one.
func TestTheHeapFollowsEarlierRuns(t *testing.T) {
	w := newWorld(t, "a")
	if r := w.control(api.VerbKnee, api.ControlRequest{Profile: "p"}); r.Error == nil || !strings.Contains(r.Error.Message, `"p"`) {
		t.Errorf("of a profile that is not there: %+v", r)
	}
	if first := w.heaped("first", 0, 500*units.MiB); first != 4*units.GiB {
		t.Errorf("at first %v", first)
	}
	k := w.control(api.VerbKnee, api.ControlRequest{Profile: "p"}).Knee
	if k == nil || len(k.Runs) != 1 || k.Runs[0].Heap != 4*units.GiB || k.Next >= 4*units.GiB || k.Next < 4*units.GiB*65/100 || k.Safe != 4*units.GiB {
		t.Fatalf("%+v", k)
	}
	w.restart()
	if after := w.control(api.VerbKnee, api.ControlRequest{Profile: "p"}).Knee; after == nil || after.Next != k.Next || len(after.Runs) != 1 {
		t.Errorf("the next planner knows %+v", after)
	}
	if due := w.heaped("due", 200, 500*units.MiB); due != 4*units.GiB {
		t.Errorf("with a deadline %v", due)
	}
	second := w.heaped("second", 0, 500*units.MiB)
	if second >= 4*units.GiB || second < 4*units.GiB*65/100 {
		t.Errorf("then %v", second)
	}
	if due := w.heaped("due again", 200, 500*units.MiB); due != second {
		t.Errorf("with a deadline %v, the last good one is %v", due, second)
	}
	r := registration("other", 0)
	r.Profile, r.Launch.Heap, r.Nodes = "p", 256*units.MiB, &api.NodeRange{HeapAuto: true}
	if reply := w.register(r); reply.Error == nil || !strings.Contains(reply.Error.Message, "heap_bytes is 268435456, want at least 536870912 (spark.executor.memory)") {
		t.Errorf("%+v", reply)
	}
}
