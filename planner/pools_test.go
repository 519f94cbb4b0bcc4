package planner_test

import (
	"testing"

	"github.com/sparkpacer/pacer/api"
)

// What is asked in another pool than the deadline hangs on runs beside what is held back, which has all cores
// meanwhile, and its share of the time again when all is answered.
func TestWhatIsAskedInAnotherPoolIsNotHeldBack(t *testing.T) {
	w := newWorld(t, "a")
	p := diamond("p")
	p.Habit.Pool = "nightly"
	w.put(p)
	r := registration("p", 200)
	id := w.mustRegister(r).AppID
	w.to(2)
	pooled := func(ev api.Event, pool string) api.Event {
		ev.Stage.Pool = pool
		return ev
	}
	w.tell(id, r.Submission, pooled(ready(2, 0, "left", 3000, "1"), "nightly"))
	if got := w.directives[id]; got.Pool != "nightly" || !got.Gated {
		t.Fatalf("directive %+v", got)
	}
	held := w.target(id, 0, "1")
	if held == nil || held.Remaining < 30 {
		t.Fatalf("the long stage has the target %+v", held)
	}
	w.tell(id, r.Submission, pooled(ready(3, 1, "right", 1000, "1", "2"), "interactive"))
	if got := w.target(id, 0, "1"); got == nil || got.Remaining > 0 || len(w.targets(id)) != 1 {
		t.Errorf("beside a question the targets are %+v", w.targets(id))
	}
	w.tell(id, r.Submission, pooled(ready(4, 7, "right", 10, "1", "2"), "interactive"), done(5, 1, 3))
	if got := w.target(id, 0, "1"); got == nil || got.Remaining > 0 || len(w.targets(id)) != 1 {
		t.Errorf("beside another one that the profile lacks the targets are %+v", w.targets(id))
	}
	w.tell(id, r.Submission, done(6, 7, 4))
	if got := w.target(id, 0, "1"); got == nil || got.Remaining < 30 || got.Remaining > held.Remaining+20 {
		t.Errorf("after the questions the targets are %+v", w.targets(id))
	}
	if w.app(id).Pacing != "paced" {
		t.Errorf("it is %s", w.app(id).Pacing)
	}
}

// Of a profile that knows of no pools, and of a driver without them, nothing is beside.
func TestWithoutPoolsNothingIsBeside(t *testing.T) {
	w, id, sub := paced(t)
	if got := w.directives[id].Pool; got != "" {
		t.Errorf("the directive names pool %q", got)
	}
	ev := ready(3, 2, "map", 1000, "1")
	ev.Stage.Pool = "interactive"
	w.tell(id, sub, ev)
	if got := w.targets(id); len(got) != 2 || got["1.0@1"].Remaining <= 0 {
		t.Errorf("targets %+v", got)
	}
}
