package planner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

func TestAStreamOfStagesIsBounded(t *testing.T) {
	cfg := planner.Default()
	cfg.Stages = 10
	w := newWorldOf(t, cfg, "a")
	r := registration("p", 0)
	id := w.mustRegister(r).AppID
	for k := range 50 {
		at := units.Seconds(k)
		w.tell(id, r.Submission, of(ready(at, k, fmt.Sprint("batch ", k), 1, "1"), k), done(at+1, k, at))
	}
	if n := len(w.app(id).Stages); n != 10 {
		t.Errorf("%d stages are kept", n)
	}
	w.tell(id, r.Submission, end(60))
	w.pass(2 * time.Second)
	if w.control(api.VerbProfile, api.ControlRequest{Profile: "p"}).Error == nil {
		t.Error("a part of a run became a profile")
	}
	if d := w.app(id); d.Unrecorded != "it had more than 10 stage attempts that look like no others" {
		t.Errorf("unrecorded: %q", d.Unrecorded)
	}
	if len(w.disk) != 5 { // Counters, node, history, its run, what the queue has learnt.
		t.Errorf("%d keys are left", len(w.disk))
	}
}

// of has a stage that becomes ready be of that job.
func of(ev api.Event, job int) api.Event {
	ev.Stage.Job = job
	return ev
}

// A run of more jobs than are kept has a profile if they look alike, also where its planner starts again meanwhile.
func TestManyJobsThatLookAlikeAreRecorded(t *testing.T) {
	cfg := planner.Default()
	cfg.Stages = 10
	w := newWorldOf(t, cfg, "a")
	r, begun := registration("p", 0), w.now
	id := w.mustRegister(r).AppID
	for k := range 60 {
		at := units.Seconds(2*k + 1)
		w.now = begun.Add(at.Duration())
		w.tell(id, r.Submission, of(ready(at, k, "fit", 1000, "1"), k), done(at+1, k, at))
		if n := len(w.app(id).Stages); n > 10 {
			t.Fatalf("%d stages are kept", n)
		}
		if k == 33 {
			w.restart()
		}
	}
	w.tell(id, r.Submission, end(121))
	w.pass(2 * time.Second)
	p := w.stored("p")
	if p == nil {
		t.Fatalf("no profile: %s", w.app(id).Unrecorded)
	}
	count, work := 0, units.Work(0)
	for _, s := range p.Stages {
		count += p.Count(s.ID)
		work += s.CoreSeconds
	}
	if count != 60 || len(p.Stages) > 20 || p.Duration < 120 || p.Duration > 122 {
		t.Errorf("%d stages that stand for %d in %v s, %v core-seconds", len(p.Stages), count, p.Duration, work)
	}

	// The next run is planned by it: each job has an equal part of what is left.
	r = registration("q", 240)
	r.Profile = "p"
	next := w.mustRegister(r).AppID
	began := w.now
	for k := range 60 {
		at := 1 + 3.9*units.Seconds(k)
		w.now = began.Add(at.Duration())
		w.tell(next, r.Submission, of(ready(at, k, "fit", 1000, "1"), k))
		s := w.app(next).Stages
		got := s[slices.IndexFunc(s, func(s api.AppStage) bool { return s.Stage == k })]
		if k < 50 && (got.Match.Known != api.StageKnown || got.Deadline < 2 || got.Deadline > 4) {
			t.Fatalf("job %d: %+v, %+v", k, got, got.Match)
		}
		if k == 50 { // Another deadline divides anew what is left, of which the job that runs has a tenth.
			before := w.target(next, k, "1").Remaining
			w.control(api.VerbDeadline, api.ControlRequest{App: next, Extend: 100})
			if more := w.target(next, k, "1").Remaining - before; more < 8 || more > 12 {
				t.Errorf("100 s more for ten jobs give the one that runs %v s", more)
			}
		}
		w.tell(next, r.Submission, done(at+2.9, k, at))
	}
}
