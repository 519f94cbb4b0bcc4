package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// comes has by register r.
func (w *world) comes(by api.Principal, r api.RegisterRequest) api.RegisterReply {
	w.Helper()
	return w.step(planner.Register{To: 1, By: by, Request: r}).(api.RegisterReply)
}

// However many deadlines of applications that wait are moved, the queue is asked once for all of them, and each
// is answered with what came of it.
func TestAttackDeadlinesOfManyThatWait(t *testing.T) {
	w := newWorld(t, "a")
	w.standby = nil
	var waits []api.AppID
	for i := range 20 {
		r := large(fmt.Sprint("p", i))
		if reply := w.register(r); reply.Directive.Queued != nil {
			waits = append(waits, reply.AppID)
		}
	}
	if len(waits) < 15 {
		t.Fatalf("%d wait", len(waits))
	}
	w.e.Hold()
	before, answers := w.e.Asked(), 0
	for i := range 200 {
		for _, action := range w.e.Step(w.now, planner.Control{To: planner.Ticket(i + 1), Verb: api.VerbDeadline,
			Request: api.ControlRequest{V: api.Version, App: waits[i%len(waits)], Deadline: 1e6 + units.Seconds(i)}}) {
			if _, answered := action.(planner.Reply); answered {
				t.Fatalf("request %d is answered before the queue is asked", i)
			}
		}
	}
	if !w.e.Due() || w.e.Asked() != before {
		t.Fatalf("due %v, asked %d times", w.e.Due(), w.e.Asked()-before)
	}
	for _, action := range w.e.Step(w.now, planner.Settle{}) {
		if r, ok := action.(planner.Reply); ok {
			answers++
			if body := r.Body.(api.ControlReply); body.Error != nil || !strings.Contains(body.Message, "queued at place") {
				t.Errorf("answer %d: %+v", r.To, body)
			}
		}
	}
	if asked := w.e.Asked() - before; asked != 1 || answers != 200 || w.e.Due() {
		t.Errorf("asked %d times, %d answers, due %v", asked, answers, w.e.Due())
	}
}

// A planner that is busy asks the queue at a later tick, and asks it then.
func TestAttackTicksBesideALongQueue(t *testing.T) {
	w := newWorld(t, "a")
	w.register(large("first"))
	w.register(large("second"))
	w.hello("b") // There is room now.
	before := w.e.Asked()
	for range 10 {
		w.now = w.now.Add(planner.TickInterval)
		w.step(planner.Tick{Busy: true})
	}
	if asked := w.e.Asked() - before; asked != 0 {
		t.Errorf("a busy planner asks %d times", asked)
	}
	w.now = w.now.Add(planner.TickInterval)
	w.step(planner.Tick{})
	if asked := w.e.Asked() - before; asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

// However many stages a driver says run, or executors they are bound to, a bounded number of them is kept and
// aimed at, and the application runs unpaced, which is said once.
func TestAttackStagesWithoutEnd(t *testing.T) {
	const batch = 100
	for name, c := range map[string]struct {
		executors, most int
		key             func(n int) api.StageKey
	}{
		"attempts of one stage": {1, 2000, func(n int) api.StageKey { return api.StageKey{Attempt: n} }},
		"stages":                {1, 2000, func(n int) api.StageKey { return api.StageKey{Stage: n} }},
		"executors of stages":   {1000, 16, func(n int) api.StageKey { return api.StageKey{Stage: n} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			w.standby = nil
			w.put(chain("etl"))
			r := registration("etl", 1e6)
			id := w.comes(mallory, r).AppID
			w.tell(id, r.Submission, up("1"))
			var executors []api.ExecutorID
			for i := range c.executors {
				executors = append(executors, api.ExecutorID(fmt.Sprint(i+1)))
			}
			for n := 0; n <= c.most+2*batch; n += batch {
				var events []api.Event
				for k := range batch {
					e := ready(5, 0, "read", 3000, executors...)
					e.Stage.StageKey = c.key(n + k)
					events = append(events, e)
				}
				if got := w.send(id, r.Submission, events...); got.Error != nil {
					t.Fatal(got.Error)
				}
			}
			a := w.e.View().App(id)
			if len(a.Order) != c.most || a.Promise.Mode != "unpaced" || len(w.targets(id)) > 0 {
				t.Errorf("%d stages are kept, want %d; mode %s, %d targets", len(a.Order), c.most, a.Promise.Mode, len(w.targets(id)))
			}
			said := 0
			for _, line := range w.heard("message refused") {
				if strings.Contains(line.Text, string(id)) {
					said++
				}
			}
			if said != 1 {
				t.Errorf("it is said %d times: %v", said, w.said)
			}
		})
	}
}

// A hundred applications wait whose profile has 2,000 stages: each gets its place, time passes, and when the one that runs
// has ended the next one starts.
func TestAttackAHundredLargeProfilesWait(t *testing.T) {
	w := newWorld(t, "a")
	w.standby = nil
	p := chain("long")
	one := p.Stages[0]
	p.Stages = nil
	for i := range 2000 {
		s := one
		s.ID, s.Signature, s.Name, s.Parents = i, fmt.Sprintf("%016x", i), fmt.Sprint("stage ", i), []int{}
		if i > 0 {
			s.Parents = []int{i - 1}
		}
		p.Stages = append(p.Stages, s)
	}
	p.Duration = units.Seconds(len(p.Stages))*one.Duration + 10
	w.put(p)
	first := large("first")
	id := w.mustRegister(first).AppID
	w.tell(id, first.Submission, up("1"))
	for i := range 100 {
		r := large(fmt.Sprint("waits ", i))
		r.Profile, r.Deadline = p.Name, 1000*p.Duration
		reply := w.mustRegister(r)
		if q := reply.Directive.Queued; q == nil || q.Place != i+1 || w.e.View().App(reply.AppID).Profile == nil {
			t.Fatalf("application %d: %+v, queued %+v", i, reply, q)
		}
	}
	w.pass(2 * planner.TickInterval)
	w.tell(id, first.Submission, end(3))
	w.says("a", api.ExecutorExited, id)
	w.pass(2 * planner.TickInterval)
	counts := map[api.AppState]int{}
	for _, a := range w.control(api.VerbApps, api.ControlRequest{}).Apps {
		counts[a.State]++
	}
	if counts[api.AppRunning] != 1 || counts[api.AppQueued] != 99 || len(w.heard("message refused")) > 0 {
		t.Errorf("%v; refused: %v", counts, w.heard("message refused"))
	}
}
