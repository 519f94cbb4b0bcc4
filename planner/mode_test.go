package planner_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// ticked is a status in which executor 1 would have been granted 1.5 cores for a
// stage by 3 quotas.
func (w *world) ticked(id api.AppID, stage int) {
	w.Helper()
	s := w.status("a")
	s.Executors = []api.ExecutorStatus{{App: id, ID: "1", State: api.ExecutorRunning, CPU: 10, Quota: api.Unknown}}
	s.Stages = []api.StageStatus{{App: id, StageKey: api.StageKey{Stage: stage}, Executor: "1", CPU: 10, QuotaChanges: 3,
		Samples: []api.StageSample{{Age: 0.6, Grant: 1, Used: 4, Running: 4}, {Age: 0.1, Grant: 2, Used: 4, Running: 4}, {Grant: 8}}}}
	w.step(planner.Status{Status: &s})
}

// inMode registers an application of the chain's profile.
func inMode(t *testing.T, mode api.Mode) (*world, api.RegisterRequest, api.RegisterReply) {
	t.Helper()
	w := newWorld(t, "a")
	w.put(chain("p"))
	r := registration("p", 100)
	r.Mode = mode
	return w, r, w.mustRegister(r)
}

// chainRun lets an application go through the chain's stages, each in 8 s.
func (w *world) chainRun(id api.AppID, submission string) api.EventsReply {
	w.Helper()
	for i, signature := range []string{"read", "map", "sum"} {
		at := units.Seconds(2 + 10*i)
		w.to(at)
		event := ready(at, i, signature, []int64{3000, 1000, 2000}[i], "1")
		if i > 0 {
			event.Stage.Parents = []int{i - 1}
		}
		w.tell(id, submission, event)
		w.to(at + 5)
		w.ticked(id, i)
		w.to(at + 8)
		w.tell(id, submission, done(at+8, i, at))
	}
	w.to(31)
	return w.tell(id, submission, end(31))
}

func TestAnObservedRunIsPlannedAndNotHeldBack(t *testing.T) {
	w, r, reply := inMode(t, api.ModeObserve)
	if reply.Verdict != api.VerdictFeasible || !strings.Contains(reply.Reason, "observe") || !reply.Directive.Gated {
		t.Errorf("reply %+v", reply)
	}
	w.to(2)
	w.tell(reply.AppID, r.Submission, ready(2, 0, "read", 3000, "1"))
	if got := w.targets(reply.AppID); len(got) != 1 {
		t.Errorf("targets %v, want one", got)
	}
	if mode := w.plans["a"].Apps[0].Launch.Mode; mode != api.ModeObserve {
		t.Errorf("the node is told mode %q", mode)
	}
	w.ticked(reply.AppID, 0)
	w.live(6*time.Second, reply.AppID) // The figures are saved now and then.
	w.restart()
	app := w.app(reply.AppID)
	if app.Pacing != "observed" || app.WouldCores == nil || app.QuotaChanges != 3 || *app.WouldCores < 1.4 || *app.WouldCores > 1.6 {
		t.Errorf("pacing %s, %d quotas, %v cores", app.Pacing, app.QuotaChanges, app.WouldCores)
	}
}

func TestTheEndOfAnObservedRunSaysWhatWouldHaveBeen(t *testing.T) {
	w, r, reply := inMode(t, api.ModeObserve)
	notice := w.chainRun(reply.AppID, r.Submission).Directive.Notice
	// 3 stages of 8 s on 1.5 cores, in 28 s.
	if want := "observed: Pacer would have held 3 of 3 stages to 1.29 cores on average by 9 quotas; they used "; !strings.HasPrefix(notice, want) {
		t.Errorf("notice %q, want %s...", notice, want)
	}
	app := w.app(reply.AppID)
	if !near(float64(*app.WouldCores), 1.29, 0.01) || len(app.Notices) != 1 || app.Notices[0] != notice {
		t.Errorf("%v cores, notices %q", *app.WouldCores, app.Notices)
	}
}

// It had all cores: its durations are as good as any.
func TestAnObservedRunIsRecordedAsOneAtAllCores(t *testing.T) {
	w, r, reply := inMode(t, api.ModeObserve)
	w.chainRun(reply.AppID, r.Submission)
	w.pass(3 * time.Second)
	if p := w.stored("p"); p == nil || p.Runs != 2 || p.Stages[0].Duration >= 20 {
		t.Errorf("profile %+v", p)
	}
}

func TestOffGetsExecutorsAndNothingElse(t *testing.T) {
	w, r, reply := inMode(t, api.ModeOff)
	if reply.Verdict != api.VerdictNone || reply.Directive.Gated || reply.Executors != 1 {
		t.Errorf("reply %+v", reply)
	}
	w.tell(reply.AppID, r.Submission, api.Event{Type: api.EventExecutorUp, At: 1, Executor: &api.ExecutorEvent{ID: "1"}})
	app := w.app(reply.AppID)
	if app.Pacing != "off" || app.Executors[0].State != api.ExecutorRunning || app.Predicted != 0 {
		t.Errorf("pacing %s, executors %+v, predicted %v", app.Pacing, app.Executors, app.Predicted)
	}
	before := w.stored("p")
	w.chainRun(reply.AppID, r.Submission)
	w.pass(3 * time.Second)
	if now := w.stored("p"); now.Runs != before.Runs {
		t.Errorf("it is run %d of its profile", now.Runs)
	}
}

func TestAnUnknownModeIsRefused(t *testing.T) {
	w := newWorld(t, "a")
	r := registration("p", 100)
	r.Mode = "watch"
	if reply := w.register(r); reply.Error == nil || !strings.Contains(reply.Error.Message, `mode is "watch", want control, observe or off`) {
		t.Errorf("reply %+v", reply)
	}
}

// The bounds of a user on cores and memory reach the nodes in every mode; without them a node
// leaves alone what its mode says.
func TestAUsersBoundsHoldInEveryMode(t *testing.T) {
	for _, mode := range []api.Mode{api.ModeControl, api.ModeObserve, api.ModeOff} {
		for _, bounds := range []api.Bounds{{}, {Cores: 1.5}, {Memory: 100 * units.GiB}, {Running: 3}} {
			w := newWorld(t, "a")
			r := registration("p", 0)
			r.Mode, r.Launch.Bounded = mode, true // Whatever the driver says.
			by := api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit, Bounds: bounds}
			if reply := w.step(planner.Register{To: 1, By: by, Request: r}).(api.RegisterReply); reply.Error != nil {
				t.Fatal(reply.Error)
			}
			told := w.plans["a"].Apps[0]
			if want := bounds.Cores+units.Cores(bounds.Memory) > 0; told.Cap != bounds.Cores || told.Launch.Bounded != want || told.Launch.Mode != mode {
				t.Errorf("mode %s, bounds %+v: the node is told a cap of %v and %+v", mode, bounds, told.Cap, told.Launch)
			}
		}
	}
}

// A user whose bound holds fewer executors than fill a node gets these, and is refused only where it holds none.
func TestAUsersMemoryHoldsFewerExecutors(t *testing.T) {
	for _, c := range []struct {
		bound     units.Bytes
		executors int
	}{{100 * units.GiB, 4}, {6 * units.GiB, 3}, {3 * units.GiB, 1}, {units.GiB, 0}} {
		w := newWorld(t, "a")
		r := registration("p", 0)
		r.Launch.Cores = 1
		by := api.Principal{Kind: api.PrincipalUser, Name: "ann", Role: api.RoleSubmit, Bounds: api.Bounds{Memory: c.bound}}
		reply := w.step(planner.Register{To: 1, By: by, Request: r}).(api.RegisterReply)
		denied := reply.Error != nil && reply.Error.Kind == api.KindDenied
		if denied != (c.executors == 0) || reply.Executors != c.executors || reply.Slots != c.executors {
			t.Errorf("bound %v: %d executors, %d slots, %v; want %d", c.bound, reply.Executors, reply.Slots, reply.Error, c.executors)
		}
	}
}
