package planner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
)

// What nodes told of CPU time survives a restart without an event that saved it, but
// for that of the last seconds.
func TestUsageSurvivesARestart(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	w.tell(id, r.Submission, ready(1, 1, "read", 1, "1"))
	w.used(id, 1, 0, 0.5, api.ExecutorRunning)
	w.pass(time.Second)
	w.used(id, 1, 7, 8, api.ExecutorRunning)
	w.live(6*time.Second, id)
	before := w.app(id)
	if before.CoreSeconds <= 0 || before.Stages[0].CoreSeconds != 7 || before.Stages[0].QuotaChanges != 1 {
		t.Fatalf("%v core-seconds, stage %+v", before.CoreSeconds, before.Stages[0])
	}
	w.restart()
	if d := cmp.Diff(before, w.app(id)); d != "" {
		t.Errorf("after a restart (-before +after):\n%s", d)
	}
}

// flushed is a world with an observed application of which all that a node has told of
// its stage 1 is saved.
func flushed(t *testing.T) (*world, api.AppID) {
	t.Helper()
	w := newWorld(t, "a")
	w.now = w.now.Add(time.Second)
	r := registration("p", 0)
	r.Mode = api.ModeObserve
	id := w.mustRegister(r).AppID
	w.tell(id, r.Submission, ready(1, 1, "read", 1, "1"))
	w.used(id, 1, 3, 4, api.ExecutorRunning)
	w.live(6*time.Second, id)
	return w, id
}

func TestListsThatAreCutAreNotRead(t *testing.T) {
	w, id := flushed(t)
	for _, part := range []string{"/usage", "/counters/1.0"} {
		key := "app/" + string(id) + part
		whole := w.disk[key]
		for _, cut := range [][]byte{whole[:len(whole)-1], {}, append([]byte{99}, whole[1:]...)} {
			w.disk[key] = cut
			if _, err := planner.New(w.cfg, w.records()); err == nil {
				t.Errorf("%s: %d of %d bytes are read", key, len(cut), len(whole))
			}
		}
		w.disk[key] = whole
	}
}
