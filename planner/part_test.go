package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// session registers a notebook, which has no end.
func (w *world) session() (api.AppID, string) {
	w.Helper()
	r := registration("notebook", 0)
	r.Mode = api.ModeEndless
	return w.mustRegister(r).AppID, r.Submission
}

func partBegan(at, deadline units.Seconds) api.Event {
	return api.Event{Type: api.EventPartBegan, At: at, Part: &api.SessionPart{At: at, Name: "daily", Deadline: deadline}}
}

func partOver(at units.Seconds) api.Event {
	return api.Event{Type: api.EventPartOver, At: at, Part: &api.SessionPart{At: at}}
}

// part has a session run a group of one stage of so long, from a moment of its clock on. Meanwhile it is looked at.
func (w *world) part(id api.AppID, submission string, stage int, at, takes, deadline units.Seconds, meanwhile func()) {
	w.Helper()
	w.to(at)
	w.tell(id, submission, partBegan(at, deadline), ready(at, stage, "read", 1000, "1"))
	w.to(at + takes/2)
	w.used(id, stage, 5, 5, api.ExecutorRunning)
	meanwhile()
	w.to(at + takes)
	w.used(id, stage, units.Work(takes), units.Work(at+takes), api.ExecutorRunning)
	w.tell(id, submission, done(at+takes, stage, at), partOver(at+takes))
	w.live(2*time.Second, id)
}

// A session runs a group three times: the first run teaches the profile of its name, the others are held back to their
// deadlines. Each is a run of the history, and the session goes on as before between them.
func TestAPartOfASessionIsARun(t *testing.T) {
	for _, restart := range []bool{false, true} {
		w := newWorld(t, "a")
		id, submission := w.session()
		unpaced := func() {
			t.Helper()
			if d := w.app(id); d.Pacing != "unpaced" || d.Deadline != 0 || d.Profile != "notebook" || len(d.Stages) != 0 {
				t.Errorf("the session is %s with a deadline of %v and profile %q", d.Pacing, d.Deadline, d.Profile)
			}
			if d := w.directives[id]; d.Gated {
				t.Error("its stages own their executors")
			}
		}
		again := func() {
			if restart {
				w.restart()
			}
		}
		w.part(id, submission, 1, 100, 10, 60, func() {
			if d := w.app(id); d.Pacing != "recording" || d.Deadline != 60 || d.Profile != "daily" || !near(float64(d.Duration), 5, 0.01) {
				t.Errorf("the first run is %s with a deadline of %v after %v, profile %q", d.Pacing, d.Deadline, d.Duration, d.Profile)
			}
			again()
		})
		unpaced()
		p := w.stored("daily")
		if p == nil || p.Runs != 1 || len(p.Stages) != 1 || !near(float64(p.Stages[0].CoreSeconds), 10, 0.5) || p.ExecutorStart != 0 || !near(float64(p.Duration), 10, 0.1) {
			t.Fatalf("the first run has taught %+v", p)
		}
		w.live(100*time.Second, id)
		unpaced()
		for i, at := range []units.Seconds{300, 400} {
			w.part(id, submission, 2+i, at, 19, 20, func() {
				d := w.app(id)
				target := w.target(id, 2+i, "1")
				if d.Pacing != "paced" || d.Verdict != api.VerdictFeasible || target == nil || !w.directives[id].Gated {
					t.Errorf("run %d is %s, %s, target %+v", 2+i, d.Pacing, d.Reason, target)
				} else if !near(float64(target.Remaining), 20, 1) {
					t.Errorf("run %d: the target says %v", 2+i, target.Remaining)
				}
				again()
			})
			unpaced()
		}
		if p = w.stored("daily"); p.Runs != 3 {
			t.Errorf("%d runs have taught the profile", p.Runs)
		}
		var runs []api.AppSummary
		for _, a := range w.control(api.VerbApps, api.ControlRequest{}).Apps {
			if a.Name == "daily" {
				runs = append(runs, a)
			}
		}
		if len(runs) != 3 {
			t.Fatalf("%d runs are history", len(runs))
		}
		for i, r := range runs {
			if r.ID == id || r.State != api.AppFinished || r.ErrorPct == nil || r.Profile != "daily" {
				t.Errorf("run %d: %+v", i, r)
			} else if i > 0 && !near(*r.ErrorPct, 5, 0.1) {
				t.Errorf("run %d ends %v %% early", i, *r.ErrorPct)
			}
		}
		if said := strings.Join(w.app(id).Notices, "\n"); !strings.Contains(said, `group "daily": deadline`) || !strings.Contains(said, `group "daily" ended 1`) {
			t.Errorf("its user hears:\n%s", said)
		}
		w.to(500)
		w.tell(id, submission, end(500))
		w.pass(3 * time.Second)
		if d := w.app(id); d.State == api.AppRunning || d.Name != "notebook" || !near(float64(d.Duration), 500, 1) {
			t.Errorf("the session ends as %q, %s after %v", d.Name, d.State, d.Duration)
		}
		if w.stored("notebook") != nil {
			t.Error("the session has taught a profile")
		}
	}
}

// A group whose last job has failed, or whose session ends before it, teaches nothing; so does a run that is late, but
// for what it took.
func TestPartsThatDoNotEndWell(t *testing.T) {
	for name, c := range map[string]struct {
		over   []api.Event
		state  api.AppState
		taught bool
	}{
		"its last job failed": {[]api.Event{{Type: api.EventPartOver, Failed: true, Part: &api.SessionPart{At: 30}}}, api.AppFailed, false},
		"its session stops":   {[]api.Event{end(30)}, api.AppFailed, false},
		"it is late":          {[]api.Event{partOver(30)}, api.AppFinished, true},
		"over when it stops":  {[]api.Event{partOver(30), end(31)}, api.AppFinished, true},
	} {
		w := newWorld(t, "a")
		id, submission := w.session()
		w.to(10)
		w.tell(id, submission, partBegan(10, 15), ready(10, 1, "read", 1000, "1"))
		w.to(30)
		w.used(id, 1, 20, 20, api.ExecutorRunning)
		w.tell(id, submission, done(30, 1, 10))
		w.tell(id, submission, c.over...)
		w.pass(3 * time.Second)
		var run *api.AppSummary
		for _, a := range w.control(api.VerbApps, api.ControlRequest{}).Apps {
			if a.Name == "daily" {
				run = &a
			}
		}
		if run == nil || run.State != c.state || !near(float64(run.Duration), 20, 0.1) {
			t.Errorf("%s: the run is %+v", name, run)
		}
		if p := w.stored("daily"); (p != nil) != c.taught {
			t.Errorf("%s: it has taught %+v", name, p)
		}
	}
}

// A session with a deadline, or in mode off, has no parts, and one that begins before another is over ends that. The
// work goes on, and the user hears why.
func TestWhatIsNoPart(t *testing.T) {
	for mode, want := range map[api.Mode]string{api.ModeControl: "its session has a deadline itself", api.ModeOff: "its session is in mode off"} {
		w := newWorld(t, "a")
		r := registration("p", 100)
		r.Mode = mode
		id := w.mustRegister(r).AppID
		w.to(5)
		w.tell(id, r.Submission, partBegan(5, 20), ready(5, 1, "read", 1000, "1"), done(9, 1, 5), partOver(9))
		d := w.app(id)
		if said := strings.Join(d.Notices, "\n"); !strings.Contains(said, `the deadline of group "daily" is set aside: `+want) {
			t.Errorf("mode %s: %q", mode, said)
		}
		if d.Profile != "p" || len(d.Stages) != 1 {
			t.Errorf("mode %s: profile %s, %d stages", mode, d.Profile, len(d.Stages))
		}
	}
	w := newWorld(t, "a")
	id, submission := w.session()
	w.to(10)
	w.tell(id, submission, partBegan(10, 100), ready(10, 1, "read", 1000, "1"))
	w.to(20)
	w.tell(id, submission, partBegan(20, 50), ready(20, 2, "read", 1000, "1"), done(21, 1, 10))
	if d := w.app(id); d.Deadline != 50 || len(d.Stages) != 1 || d.Stages[0].Stage != 2 {
		t.Errorf("after another one began it is %+v", d.AppSummary)
	}
	if said := w.directives[id].Notice; !strings.Contains(said, "group \"daily\" failed after 10 s") || !strings.Contains(said, "\ngroup \"daily\": deadline") {
		t.Errorf("its driver says %q of the two", said)
	}
}

// An application without a deadline that runs on, as a server of one's own does, is a session from its first part on.
func TestAServerOfOnesOwnHasParts(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("server", 0)
	id := w.mustRegister(r).AppID
	w.to(5)
	w.tell(id, r.Submission, ready(5, 1, "other", 1000, "1"))
	w.part(id, r.Submission, 2, 10, 10, 60, func() {
		// A stage of before is none of the part's.
		w.tell(id, r.Submission, done(15, 1, 5))
	})
	if d := w.app(id); d.Pacing != "unpaced" || d.Deadline != 0 || d.Profile != "server" {
		t.Errorf("after its part it is %s with a deadline of %v and profile %q", d.Pacing, d.Deadline, d.Profile)
	}
	w.to(30)
	w.tell(id, r.Submission, ready(30, 3, "other", 1000, "1"), done(35, 3, 30), end(36))
	w.pass(3 * time.Second)
	if p := w.stored("daily"); p == nil || len(p.Stages) != 1 {
		t.Errorf("the part has taught %+v", p)
	}
	if w.stored("server") != nil {
		t.Error("the session has taught a profile")
	}
}
