package planner_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/assign"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// One that is late keeps its place for a tenth of its deadline on nodes that serve by deadline,
// and then shares; elsewhere it shares at once.
func TestOneThatIsLateSharesWhenItHasBeenForLong(t *testing.T) {
	for _, strategy := range []string{"edf-pure", "proportional"} {
		w, id, _ := paced(t)
		band := func() api.Band {
			for _, p := range w.plans {
				for _, a := range p.Apps {
					if a.ID == id {
						return a.Band
					}
				}
			}
			t.Fatal("no Plan has it")
			return ""
		}
		w.dividing.Strategy = strategy
		w.live(102*time.Second, id)
		if w.app(id).Pacing != "released" || (band() == api.BandPromised) != (strategy == "edf-pure") {
			t.Errorf("%s: 2 s late it is %s and %q", strategy, w.app(id).Pacing, band())
		}
		w.live(10*time.Second, id)
		if band() != api.BandShared {
			t.Errorf("%s: 12 s late it is %q", strategy, band())
		}
		if said := strings.Contains(strings.Join(w.app(id).Notices, " "), "late by more than 10 %"); said != (strategy == "edf-pure") {
			t.Errorf("%s: notices %q", strategy, w.app(id).Notices)
		}
	}
}

// refusing is a world of one node where a deadline that cannot be kept is turned down.
func refusing(t *testing.T) *world {
	t.Helper()
	cfg := planner.Default()
	cfg.Queue.Late = assign.Refuse
	w := newWorldOf(t, cfg, "a")
	w.put(chain("p"))
	return w
}

// By the policy refuse a deadline that cannot be kept is turned down at the entrance, with the earliest that could be;
// one of which nobody knows that is not, unless it has passed. By share all of them run.
func TestADeadlineThatCannotBeKeptIsTurnedDown(t *testing.T) {
	w := refusing(t)
	late := func(name string, deadline units.Seconds, mode api.Mode) api.RegisterRequest {
		r := registration(name, deadline)
		r.Submission, r.Mode, r.Elapsed = fmt.Sprint(name, deadline, mode), mode, 5
		return r
	}
	for _, c := range []struct {
		request api.RegisterRequest
		want    string
	}{
		{late("p", 30, ""), "infeasible: all cores would finish in 71s, the earliest feasible deadline is 1m11s"},
		{late("p", 5000, ""), ""},
		{late("new", 6, ""), ""},
		{late("new", 4, ""), "deadline 4s has passed"},
		{late("new", 4, api.ModeOff), ""},
		{late("new", 0, ""), ""},
	} {
		for _, late := range assign.Lates() {
			w.setPolicy(&api.QueuePolicy{Late: late})
			c.request.Submission += late
			reply := w.register(c.request)
			switch refused := late == assign.Refuse && c.want != ""; {
			case !refused && reply.Error != nil:
				t.Errorf("%s %v, %s: %v", c.request.Name, c.request.Deadline, late, reply.Error)
			case refused && (reply.Error == nil || reply.Error.Kind != api.KindInfeasible || !strings.Contains(reply.Error.Message, c.want)):
				t.Errorf("%s %v: %+v, want a refusal with %q", c.request.Name, c.request.Deadline, reply, c.want)
			case !refused:
				w.control(api.VerbExit, api.ControlRequest{Submission: c.request.Submission})
			}
		}
	}
}

// So is one that waits, when it cannot be in time any more; what nobody has recorded waits on until its deadline has
// passed.
func TestOneThatWaitsTooLongIsTurnedDown(t *testing.T) {
	w := refusing(t)
	first := large("first")
	one := w.mustRegister(first).AppID
	var waits []api.AppID
	for _, name := range []string{"p", "new"} {
		r := large(name)
		r.Deadline = 200
		reply := w.register(r)
		if reply.Error != nil || reply.Directive.Queued == nil {
			t.Fatalf("%s: %+v", name, reply)
		}
		waits = append(waits, reply.AppID)
	}
	refused := map[api.AppID]units.Seconds{}
	for range 130 {
		w.pass(2 * time.Second)
		w.tell(one, first.Submission)
		w.says("a", api.ExecutorRunning, one)
		for _, id := range waits {
			switch a := w.app(id); {
			case a.State == api.AppQueued:
				w.tell(id, a.Submission)
			case a.State != api.AppRefused:
				t.Fatalf("%+v", a)
			case refused[id] == 0:
				refused[id] = a.Duration
			}
		}
	}
	if at := refused[waits[0]]; at < 125 || at > 195 {
		t.Errorf("one that takes 68 s and is due after 200 was turned down after %v", at)
	}
	if at := refused[waits[1]]; at < 200 || at > 262 {
		t.Errorf("one of which nobody knows what it takes was turned down after %v, it is due after 200", at)
	}
}

// Nobody is turned down who may have run: whom another planner had taken in, or whose driver is not heard and may speak
// with another one.
func TestWorkThatMayBeDoneIsNotTurnedDown(t *testing.T) {
	w := refusing(t)
	r := registration("p", 30)
	r.AppID = "app-20270101000000-0001"
	if reply := w.register(r); reply.Error != nil || reply.Verdict != api.VerdictInfeasible {
		t.Errorf("another planner had taken it in: %+v", reply)
	}
	first, second := large("first"), large("p")
	second.Deadline = 150
	one := w.mustRegister(first).AppID
	two := w.mustRegister(second).AppID
	live := func(drivers ...api.RegisterRequest) {
		for range 65 {
			w.pass(2 * time.Second)
			for _, r := range drivers {
				w.tell(map[string]api.AppID{"first": one, "p": two}[r.Name], r.Submission)
			}
			w.says("a", api.ExecutorRunning, one)
		}
	}
	w.restart() // Its clock may have been set since.
	w.hello("a")
	w.now = w.now.Add(24 * time.Hour)
	live(first)
	if s := w.app(two); s.State == api.AppRefused {
		t.Errorf("its driver is not heard: %s", s.Reason)
	}
}
