package planner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// Where the time of a run went is told while it runs, at its end and of the history, also by the next planner;
// an exit that is heard of later is in it.
func TestWhyIsToldOfTheHistoryToo(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 0)
	r.Watched = true
	id := w.mustRegister(r).AppID
	why := func() api.Why {
		t.Helper()
		reply := w.control(api.VerbWhy, api.ControlRequest{App: id})
		if reply.Why == nil {
			t.Fatalf("%v", reply.Error)
		}
		sum := units.Seconds(0)
		for _, p := range reply.Why.Parts {
			sum += p.For
		}
		if d := w.app(id); !near(float64(sum), float64(d.Duration), 1e-6) || reply.Why.Headline != d.Headline {
			t.Errorf("%+v, the application %v: %s", reply.Why, d.Duration, d.Headline)
		}
		return *reply.Why
	}
	w.to(2)
	w.tell(id, r.Submission, ready(2, 0, "read", 3000, "1"))
	w.to(7)
	if got := why().Parts; len(got) != 2 || got[1].Part != api.PartStages || got[1].For != 5 {
		t.Errorf("while it runs: %+v", got)
	}
	w.to(10)
	w.tell(id, r.Submission, done(10, 0, 2))
	w.to(11)
	w.stopped(id, r.Submission, end(11))
	w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 13})
	ended := why()
	want := []api.WhyPart{{Part: api.PartStarting, For: 2}, {Part: api.PartStages, For: 8}, {Part: api.PartAfter, For: 1}, {Part: api.PartExit, For: 2}}
	if d := cmp.Diff(want, ended.Parts); d != "" {
		t.Error(d)
	}
	w.pass(3 * time.Second)
	w.restart()
	if got := why(); !cmp.Equal(want, got.Parts) || got.Headline == "" {
		t.Errorf("in the history: %+v", got)
	}
	if reply := w.control(api.VerbWhy, api.ControlRequest{App: "app-9"}); api.KindOf(reply.Error) != api.KindNotFound {
		t.Errorf("of none: %v", reply.Error)
	}
}

// Whoever may command an application is told where its Spark UI is, by http or https; nobody else, and of nothing else.
func TestTheUIOfSparkIsToldToItsUser(t *testing.T) {
	for url, want := range map[string]string{"http://driver-1:4040": "http://driver-1:4040", "https://10.0.0.1:4440/x": "https://10.0.0.1:4440/x",
		"javascript:alert(1)": "", "ftp://x/": "", "http://": "", "http://u:p@x/": "", "/jobs": ""} {
		w := newWorld(t, "a")
		r := registration("p", 0)
		r.User, r.UIWebURL = "ann", url
		id := w.mustRegister(r).AppID
		w.restart()
		if got := w.app(id).UIWebURL; got != want {
			t.Errorf("%q is told as %q", url, got)
		}
		for name, told := range map[string]string{"ann": want, "bob": ""} {
			by := api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleSubmit}
			reply := w.step(planner.Control{To: 1, By: by, Verb: api.VerbApp, Request: api.ControlRequest{V: api.Version, App: id}}).(api.ControlReply)
			if reply.App == nil || reply.App.UIWebURL != told {
				t.Errorf("%s is told %+v", name, reply)
			}
		}
	}
}

// What a profile has noticed of a stage without another input is told as a cause, while it runs and of the history.
func TestWhyTellsAJump(t *testing.T) {
	w := newWorld(t, "a")
	body := chain("p")
	body.Habit.Stages = map[int]api.StageHabit{1: {Jump: api.Jump{Times: 1.8, Since: "2026-11-20", Runs: 3}}}
	w.control(api.VerbProfilePut, api.ControlRequest{Body: &body})
	r := registration("p", 0)
	r.Watched = true
	id := w.mustRegister(r).AppID
	told := func() {
		t.Helper()
		why := w.control(api.VerbWhy, api.ControlRequest{App: id}).Why
		if why == nil || len(why.Causes) == 0 || why.Causes[len(why.Causes)-1] != "stage 1 takes 1.8 times since 2026-11-20, by its profile" {
			t.Errorf("%+v", why)
		}
	}
	told()
	w.tell(id, r.Submission, ready(2, 0, "read", 3000, "1"))
	w.to(10)
	w.tell(id, r.Submission, done(10, 0, 2))
	w.to(11)
	w.stopped(id, r.Submission, end(11))
	w.control(api.VerbExit, api.ControlRequest{Submission: r.Submission, Elapsed: 13})
	w.pass(3 * time.Second)
	w.restart()
	told()
}
