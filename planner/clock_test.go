package planner_test

import (
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/waiting"
	"github.com/sparkpacer/pacer/units"
)

// clockAt restarts the planner with its clock set by d while it was down, and has its node come
// back.
func (w *world) clockAt(d time.Duration) {
	w.Helper()
	w.now = w.now.Add(d)
	w.restart()
	w.hello("a")
}

// shows checks what the planner makes of the only application's deadline clock.
func (w *world) shows(want units.Seconds) {
	w.Helper()
	for _, a := range w.e.View().Apps() {
		if got := a.At(w.now); !near(float64(got), float64(want), 0.001) {
			w.Errorf("the deadline clock shows %v, want %v", got, want)
		}
	}
}

// left is the time of the only target.
func (w *world) left(id api.AppID) units.Seconds {
	w.Helper()
	for _, t := range w.targets(id) {
		return t.Remaining
	}
	w.Fatalf("there is no target")
	return 0
}

// A planner's clock is set by hours while it is down. The deadline stays where the driver's clock
// has it: the stage's target has the time that is left, the application is neither late nor has
// it hours.
func TestAClockThatIsSetMovesNoDeadline(t *testing.T) {
	for name, d := range map[string]time.Duration{"back": -2 * time.Hour, "ahead": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w, id, sub := paced(t)
			before := w.left(id)
			w.clockAt(d)
			w.pass(time.Second) // What is late by the planner's clock is released for the moment.
			r := registration("p", 100)
			r.Elapsed = 10
			if reply := w.register(r); reply.Error != nil || reply.AppID != id {
				t.Fatalf("%+v", reply)
			}
			w.shows(10)
			if got := w.left(id); got > before || got < before-20 {
				t.Errorf("the stage has %v left, before %v", got, before)
			}
			if !w.directives[id].Gated || len(w.heard("clock corrected")) != 1 {
				t.Errorf("directive %+v, said %v", w.directives[id], w.heard("clock corrected"))
			}
			w.tell(id, sub)
			w.shows(10)
		})
	}
}

// A driver that has not noticed that the planner was away does not register again: an event from
// what the planner takes for the future says as much.
func TestAnEventFromTheFutureSetsTheClock(t *testing.T) {
	w, id, sub := paced(t)
	w.clockAt(-2 * time.Hour)
	w.tell(id, sub, done(40, 1, 3))
	w.shows(40)
}

// Of a clock that was not set a registration or an event that was held up says nothing, nor does
// one of a time that cannot be.
func TestAWordThatWasHeldUpSetsNoClock(t *testing.T) {
	w, id, sub := paced(t)
	w.to(60)
	r := registration("p", 100)
	r.Elapsed = 20
	w.register(r)
	w.shows(60)
	w.tell(id, sub, ready(30, 2, "join", 3000, "1"), done(1e12, 1, 3))
	w.shows(60)
	w.restart()
	w.hello("a")
	r.Elapsed = 58
	w.register(r)
	w.shows(60)
	r.Elapsed = 20
	w.register(r)
	w.shows(60)
	if said := w.heard("clock corrected"); len(said) != 0 {
		t.Errorf("said %v", said)
	}
}

// One that waits came when it came, too, whatever the planner's clock shows since: it neither
// passes others nor is passed.
func TestAClockThatIsSetMovesNobodyInTheQueue(t *testing.T) {
	w := newWorld(t, "a")
	w.mustRegister(large("first"))
	waits := large("second")
	w.register(waits)
	w.clockAt(2 * time.Hour)
	w.pass(time.Second)
	waits.Elapsed = 1
	w.register(waits)
	if got := w.now.Sub(waiting.Of(w.e.View().Waiting()[0]).Since); got > 2*time.Second {
		t.Errorf("it waits for %v", got)
	}
}
