package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// pieces counts the keys of samples.
func (w *world) pieces() (n int) {
	for key := range w.disk {
		if strings.Contains(key, "/samples/") {
			n++
		}
	}
	return n
}

// A restart loses the samples of the last seconds; the others are there, in their
// order, whether they have been thinned or not, and go with the application.
func TestSamplesOfRunningStagesSurviveARestart(t *testing.T) {
	for _, limit := range []int{2000, 40} {
		cfg := planner.Default()
		cfg.Samples = limit
		w := newWorldOf(t, cfg, "a")
		r := registration("p", 0)
		id := w.mustRegister(r).AppID
		w.tell(id, r.Submission, ready(1, 1, "read", 1, "1"))
		for round := range 4 {
			for i := range 30 {
				w.used(id, 1, units.Work(30*round+i), units.Work(30*round+i), api.ExecutorRunning)
				w.tell(id, r.Submission)
				w.pass(500 * time.Millisecond)
			}
			before := w.app(id).Stages[0].Samples
			w.restart()
			after := w.app(id).Stages[0].Samples
			lost := len(before) - len(after)
			if len(after) == 0 || lost < 0 || lost > 10 {
				t.Fatalf("%d samples before, %d after a restart", len(before), len(after))
			}
			if d := cmp.Diff(before[:len(after)], after); d != "" && limit > 120 {
				t.Error(d)
			}
			for i := 1; i < len(after); i++ {
				if after[i].At <= after[i-1].At {
					t.Fatalf("sample %d is of %v, after one of %v", i, after[i].At, after[i-1].At)
				}
			}
		}
		if w.pieces() == 0 || (limit == 40 && w.pieces() > limit) {
			t.Errorf("limit %d: %d pieces", limit, w.pieces())
		}
		w.tell(id, r.Submission, done(65, 1, 1), end(66))
		w.pass(2 * time.Second)
		if n := w.pieces(); n != 0 {
			t.Errorf("%d pieces are left", n)
		}
		if n := len(w.app(id).Stages[0].Samples); n == 0 {
			t.Error("the history has none")
		}
	}
}
