package planner_test

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// A step response: the targets of the stage carry the two levels one after the
// other, without a new Rev, then none; a planner that restarts forgets it.
func TestAStepResponseHoldsTheTargetsAtTwoLevels(t *testing.T) {
	w, id, sub := paced(t)
	step := api.Step{Stage: -1, Low: 0.5, High: 1.5, Each: 4}
	ask := func(s api.Step) api.ControlReply {
		return w.control(api.VerbStep, api.ControlRequest{App: id, Step: &s})
	}
	if r := ask(step); r.Error == nil || r.Error.Kind != api.KindTransient {
		t.Errorf("before anything is known of the stage: %+v", r)
	}
	rev := w.target(id, 1, "1").Rev
	for range 4 {
		w.now = w.now.Add(time.Second)
		s := w.status("a")
		s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: 1}, Executor: "1", Progress: 0.01,
			Samples: []api.StageSample{{Request: 2, Used: 2, Grant: 2, Running: 2}}}}
		w.step(planner.Status{Status: &s})
	}
	for name, bad := range map[string]api.Step{"falling": {Stage: -1, Low: 1.5, High: 0.5, Each: 4}, "too low": {Stage: -1, Low: 0.1, High: 1, Each: 4},
		"too high": {Stage: -1, Low: 0.5, High: 5, Each: 4}, "too short": {Stage: -1, Low: 0.5, High: 1, Each: 0.1}} {
		if r := ask(bad); r.Error == nil || r.Error.Kind != api.KindInvalid {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := ask(api.Step{Stage: 7, Low: 0.5, High: 1.5, Each: 4}); r.Error == nil || r.Error.Kind != api.KindConflict {
		t.Errorf("another stage: %+v", r)
	}
	r := ask(step)
	if r.Error != nil || r.Step == nil || r.Step.Stage != 1 || r.Step.At <= 0 {
		t.Fatalf("%+v", r)
	}
	if r := ask(step); r.Error == nil || r.Error.Kind != api.KindConflict {
		t.Errorf("held already: %+v", r)
	}
	for _, c := range []struct {
		after time.Duration
		hold  units.Cores
	}{{time.Second, 1}, {4 * time.Second, 3}, {4 * time.Second, 0}} {
		w.live(c.after, id)
		got := w.target(id, 1, "1")
		if got.Hold != c.hold || got.Rev != rev {
			t.Errorf("held at %v in revision %d, want %v in %d", got.Hold, got.Rev, c.hold, rev)
		}
		// Plans with a new level are sent as it begins.
		if most := 4 + 2.0; (got.HoldFor > 0) != (c.hold > 0) || !(float64(got.HoldFor) <= most) || c.hold > 0 && got.HoldFor < 5 {
			t.Errorf("held for %v at %v", got.HoldFor, c.hold)
		}
	}
	if r := ask(step); r.Error != nil {
		t.Fatal(r.Error)
	}
	w.live(time.Second, id)
	w.restart()
	w.hello("a")
	w.live(time.Second, id)
	if got := w.target(id, 1, "1"); got == nil || got.Hold != 0 {
		t.Errorf("after a restart: %+v", got)
	}
	w.tell(id, sub, done(110, 1, 2))
	if r := ask(step); r.Error == nil || r.Error.Kind != api.KindConflict {
		t.Errorf("after its end: %+v", r)
	}
}
