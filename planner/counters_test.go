package planner_test

import (
	"bytes"
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

// What nodes have told of an application is not worth the application, nor the planner's start: a
// list that is cut is set aside with a line. One of another release's layout is not touched.
func TestListsThatAreCutAreNotRead(t *testing.T) {
	for _, part := range []string{"/usage", "/counters/1.0", "/samples/1.0/0"} {
		w, id := flushed(t)
		key := "app/" + string(id) + part
		whole := w.disk[key]
		w.disk[key] = append([]byte{99}, whole[1:]...)
		if _, err := planner.New(w.cfg, w.records()); err == nil {
			t.Errorf("%s: another layout is read", key)
		}
		for _, cut := range [][]byte{whole[:len(whole)-1], {}} {
			w, id := flushed(t)
			w.disk[key] = cut
			w.restart()
			w.hello("a")
			if d := w.app(id); d.State != api.AppRunning || len(d.Stages) != 1 || len(w.heard("record lost")) != 1 {
				t.Errorf("%s of %d of %d bytes: %s, %d stages, said %v", key, len(cut), len(whole), d.State, len(d.Stages), w.said)
			}
			if aside := w.disk["aside/"+key]; !bytes.Equal(aside, cut) {
				t.Errorf("%s: %d bytes are set aside, want %d", key, len(aside), len(cut))
			}
		}
	}
}
