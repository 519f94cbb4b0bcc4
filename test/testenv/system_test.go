package testenv_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/sim/plant"
	"github.com/sparkpacer/pacer/test/testenv"
	"github.com/sparkpacer/pacer/units"
)

// submit starts an application that has to be taken.
func submit(e *testenv.Env, a plant.App) *testenv.Driver {
	e.T.Helper()
	d := e.Submit(a)
	if err := d.Refused(); err != nil {
		e.T.Fatal(err)
	}
	return d
}

// record runs an application at all cores, which makes its profile, and returns
// how long it took.
func record(e *testenv.Env, a plant.App) units.Seconds {
	e.T.Helper()
	a.Deadline = 0
	full := submit(e, a).Wait()
	if full.State != api.AppFinished || full.Pacing != "recording" {
		e.T.Fatalf("the recording run is %s and %s", full.State, full.Pacing)
	}
	return full.Duration
}

// paced submits an application with slack times as long as it takes at all cores.
func paced(e *testenv.Env, a plant.App, slack units.Seconds) *testenv.Driver {
	e.T.Helper()
	a.Deadline = record(e, a) * slack
	return submit(e, a)
}

// one is a planner with one node of two cores.
func one(e *testenv.Env) *testenv.Node {
	e.T.Helper()
	e.StartPlanner()
	return e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 2})
}

// wantPaced checks that an application ended just before its deadline.
func wantPaced(t *testing.T, a api.AppDetail) {
	t.Helper()
	if a.State != api.AppFinished || a.ErrorPct == nil {
		t.Fatalf("the application is %s, error %v, %v", a.State, a.ErrorPct, a.Notices)
	}
	if *a.ErrorPct < 0 || *a.ErrorPct > 1.5 {
		t.Errorf("it ended %.2f %% before its deadline of %v, want 0 to 1.5", *a.ErrorPct, a.Deadline)
	}
}

// running waits until a stage of the application has run for a while under a
// quota, and returns that stage's executor.
func underQuota(e *testenv.Env, n *testenv.Node, d *testenv.Driver) api.ExecutorID {
	e.T.Helper()
	var limited api.ExecutorID
	e.Until("an executor has a quota", func() bool {
		for _, x := range n.Executors() {
			app, id, _ := strings.Cut(x, "/")
			if app == string(d.ID()) && !n.Quota(d.ID(), api.ExecutorID(id)).IsUnlimited() {
				limited = api.ExecutorID(id)
				return true
			}
		}
		return false
	})
	e.Pass(3 * time.Second)
	return limited
}

// A first run is recorded at all cores; the second is paced by quotas, ends just
// before its deadline on fewer cores and no more CPU time, and leaves nothing.
func TestTheLoopCloses(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Fork("join", 20)
		d := submit(e, app)
		e.Until("both branches run", func() bool { return ready(e.App(d.ID())) == 2 })
		if got := n.Quota(d.ID(), "1"); !got.IsUnlimited() {
			t.Errorf("a recording run has a quota of %v", got)
		}
		full := d.Wait()
		if full.Verdict != api.VerdictNone || full.QuotaChanges != 0 {
			t.Errorf("the recording run: verdict %s, %d quota changes", full.Verdict, full.QuotaChanges)
		}
		profiles, err := e.Ask(api.VerbProfiles, api.ControlRequest{})
		if err != nil || len(profiles.Listed) != 1 || profiles.Listed[0].Name != "join" || profiles.Listed[0].Stages != 3 {
			t.Fatalf("profiles %+v, %v", profiles.Listed, err)
		}

		app.Deadline = full.Duration * 1.5
		d = submit(e, app)
		if d.Reply().Verdict != api.VerdictFeasible || !d.Gated() {
			t.Errorf("verdict %s, gated %v", d.Reply().Verdict, d.Gated())
		}
		x := underQuota(e, n, d)
		if q := n.Quota(d.ID(), x); q > 2 {
			t.Errorf("quota %v of 2 cores", q)
		}
		paced := d.Wait()
		wantPaced(t, paced)
		if paced.QuotaChanges == 0 || paced.MeanCores >= full.MeanCores || paced.CoreSeconds > full.CoreSeconds*1.1 {
			t.Errorf("%d quota changes, %v cores of %v, %v core-seconds of %v", paced.QuotaChanges, paced.MeanCores, full.MeanCores,
				float64(paced.CoreSeconds), float64(full.CoreSeconds))
		}
		for _, s := range paced.Stages {
			if len(s.Samples) == 0 || s.Deadline <= 0 || s.ErrorPct == nil {
				t.Errorf("stage %d: %d samples, deadline %v", s.Stage, len(s.Samples), s.Deadline)
			}
		}
		if left := append(n.Executors(), n.Groups()...); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestDeadlinesAreMet(t *testing.T) {
	for name, factor := range map[string]units.Seconds{"1.3x": 1.3, "1.6x": 1.6, "2.5x": 2.5} {
		t.Run(name, func(t *testing.T) {
			testenv.Run(t, func(e *testenv.Env) {
				one(e)
				app := testenv.Chain("chain", 4, 25)
				app.Stages[2].Job, app.Stages[3].Job = 1, 1
				wantPaced(t, paced(e, app, factor).Wait())
			})
		})
	}
}

// Other programs of the machine take cores: the controller sees what is really
// used and makes up for it.
func TestADisturbedMachineStillMeetsTheDeadline(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Chain("chain", 3, 30)
		d := paced(e, app, 1.8)
		underQuota(e, n, d)
		n.Disturb(1)
		e.Pass(10 * time.Second)
		n.Disturb(0)
		wantPaced(t, d.Wait())
	})
}

func TestTwoApplicationsShareANode(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		e.StartPlanner()
		e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 4})
		a, b := testenv.Chain("a", 3, 30), testenv.Chain("b", 3, 30)
		a.Deadline = record(e, a) * 2.4
		b.Deadline = record(e, b) * 3
		x, y := submit(e, a), submit(e, b)
		wantPaced(t, x.Wait())
		wantPaced(t, y.Wait())
	})
}

// Two node controllers with their own names, groups and shares work on one
// machine.
func TestTwoNodeControllersOnOneMachine(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		e.StartPlanner()
		n1 := e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 4, Offered: 2})
		n2 := e.StartNode(testenv.NodeSpec{Name: "n2", Cores: 4, Offered: 2, On: n1})
		app := testenv.Chain("chain", 3, 40)
		d := paced(e, app, 1.6)
		first := underQuota(e, n1, d)
		second := underQuota(e, n2, d)
		if first == second {
			t.Errorf("executor %s is on both nodes", first)
		}
		done := d.Wait()
		wantPaced(t, done)
		for _, s := range done.Stages {
			if len(s.Executors) != 2 {
				t.Errorf("stage %d ran on %v, want one executor per node", s.Stage, s.Executors)
			}
		}
		if left := slices.Concat(n1.Groups(), n2.Groups()); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestAPlannerRestartCostsNothing(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Chain("chain", 4, 25)
		d := paced(e, app, 1.6)
		x := underQuota(e, n, d)
		e.StopPlanner()
		e.Pass(12 * time.Second) // Stages end and begin meanwhile: the driver goes on.
		if !slices.Contains(n.Executors(), string(d.ID())+"/"+string(x)) {
			t.Error("the executor is gone with the planner")
		}
		e.StartPlanner()
		e.Until("the planner is back in control", func() bool { return ready(e.App(d.ID())) > 1 })
		done := d.Wait()
		wantPaced(t, done)
		if len(done.Stages) != 4 || len(done.Executors) != 1 {
			t.Errorf("%d stages on %d executors: the planner lost some", len(done.Stages), len(done.Executors))
		}
	})
}

// A planner that has lost its state stops no executor of the one before: it takes the
// application over with it, under its id, and hears of its end.
func TestAPlannerWithoutItsStateStopsNothing(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		d := paced(e, testenv.Chain("chain", 2, 25), 1.6)
		x := string(d.ID()) + "/" + string(underQuota(e, n, d))
		id := d.ID()
		e.StopPlanner()
		e.ForgetPlanner()
		e.StartPlanner()
		for range 12 {
			e.Pass(time.Second)
			if got := n.Executors(); !slices.Equal(got, []string{x}) {
				t.Fatalf("executors %v, want %s alone", got, x)
			}
		}
		if a := e.App(id); a.State != api.AppRunning || len(a.Executors) != 1 || a.Pacing != "unpaced" {
			t.Errorf("it is %s, %s, on executors %v", a.State, a.Pacing, a.Executors)
		}
		if done := d.Wait(); done.ID != id || done.State != api.AppFinished {
			t.Errorf("%s is %s, %v", done.ID, done.State, done.Notices)
		}
		e.Until("the node is free", func() bool {
			r, err := e.Ask(api.VerbNodes, api.ControlRequest{})
			return err == nil && len(r.Nodes) == 1 && r.Nodes[0].State == "ready" && len(n.Executors()) == 0
		})
		if next := submit(e, testenv.Chain("next", 1, 5)).Wait(); next.State != api.AppFinished {
			t.Errorf("the next application is %s, %v", next.State, next.Notices)
		}
	})
}

// A node controller that was killed takes the quotas in force over, without a
// jump, and goes on with its controllers' states.
func TestANodeRestartDoesNotMoveAQuota(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Chain("chain", 3, 40)
		d := paced(e, app, 1.6)
		x := underQuota(e, n, d)
		e.Pass(10 * time.Second)
		before := n.Quota(d.ID(), x)
		n.Kill()
		if got := n.Quota(d.ID(), x); got != before {
			t.Fatalf("the kill changed the quota from %v to %v", before, got)
		}
		e.Pass(time.Second)
		n.Start()
		for range 6 {
			if got := n.Quota(d.ID(), x); got < before-0.15 || got > before+0.15 {
				t.Errorf("the quota jumped from %v to %v", before, got)
			}
			e.Pass(500 * time.Millisecond)
		}
		done := d.Wait()
		wantPaced(t, done)
		if len(done.Executors) != 1 {
			t.Errorf("%d executors: the one that ran was not taken over", len(done.Executors))
		}
	})
}

// A node controller that is asked to stop lifts the quotas and leaves the
// executors running; the next one is in control again.
func TestAStoppedNodeLeavesItsExecutorsWithoutQuotas(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Chain("chain", 3, 40)
		d := paced(e, app, 1.6)
		x := underQuota(e, n, d)
		before := n.Executors()
		n.Stop()
		if got := n.Quota(d.ID(), x); !got.IsUnlimited() {
			t.Errorf("the quota is still %v", got)
		}
		e.Pass(2 * time.Second)
		if d := cmp.Diff(before, n.Executors()); d != "" {
			t.Errorf("executors changed: %s", d)
		}
		n.Start()
		e.Until("the quota is back", func() bool { return !n.Quota(d.ID(), x).IsUnlimited() })
		wantPaced(t, d.Wait())
	})
}

func TestAnUnreachablePlannerCostsNoControl(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Chain("chain", 3, 40)
		d := paced(e, app, 1.6)
		x := underQuota(e, n, d)
		n.Cut(true)
		e.Pass(5 * time.Second)
		if got := n.Quota(d.ID(), x); got.IsUnlimited() {
			t.Error("the node gave its quota up with its connection")
		}
		n.Cut(false)
		wantPaced(t, d.Wait())
	})
}

func TestANodeThatComesFirstWaitsForItsPlanner(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		e.StartNode(testenv.NodeSpec{Name: "n1", Cores: 2})
		e.Pass(5 * time.Second)
		e.StartPlanner()
		e.Until("the node is there", func() bool {
			r, err := e.Ask(api.VerbNodes, api.ControlRequest{})
			return err == nil && len(r.Nodes) == 1
		})
		record(e, testenv.Chain("chain", 2, 5))
	})
}

func TestAGoneDriverGivesItsCoresBack(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		d := submit(e, testenv.Chain("chain", 3, 40))
		e.Until("it runs", func() bool { return len(n.Executors()) == 1 })
		d.Kill()
		gone := time.Now()
		e.Until("its executors are gone", func() bool { return len(n.Executors()) == 0 && len(n.Groups()) == 0 })
		if took := time.Since(gone); took > 10*time.Second {
			t.Errorf("the cores came back after %v", took)
		}
		e.Until("the application has failed", func() bool { return e.App(d.ID()).State == api.AppFailed })
	})
}

func TestACrashedExecutorIsReplaced(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		d := submit(e, testenv.Chain("chain", 3, 20))
		e.Until("it runs", func() bool { return ready(e.App(d.ID())) == 1 })
		n.Crash(d.ID(), "1")
		done := d.Wait()
		if done.State != api.AppFinished || len(done.Stages) != 3 {
			t.Errorf("%s with %d stages", done.State, len(done.Stages))
		}
		var ids []string
		for _, x := range done.Executors {
			ids = append(ids, string(x.ID)+" "+x.Exit)
		}
		if len(ids) != 2 || !strings.HasPrefix(ids[0], "1 ") || len(ids[0]) < 3 || !strings.HasPrefix(ids[1], "2 ") {
			t.Errorf("executors %q, want 1, crashed, and 2", ids)
		}
	})
}

func TestAnInfeasibleDeadlineWarnsOrIsRefused(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		one(e)
		app := testenv.Chain("chain", 3, 20)
		full := record(e, app)
		app.Deadline, app.RequireFeasible = full/2, true
		if err := e.Submit(app).Refused(); api.KindOf(err) != api.KindInfeasible || err == nil || !strings.Contains(err.Error(), "earliest feasible deadline") {
			t.Errorf("refusal: %v", err)
		}
		app.RequireFeasible = false
		d := submit(e, app)
		if r := d.Reply(); r.Verdict != api.VerdictInfeasible || r.Earliest < full*0.9 {
			t.Errorf("%s, earliest %v of %v", r.Verdict, r.Earliest, full)
		}
		if done := d.Wait(); done.QuotaChanges != 0 || done.Duration > full*1.1 {
			t.Errorf("it ran %v with %d quota changes, want all cores as in %v", done.Duration, done.QuotaChanges, full)
		}
	})
}

func TestReleaseAndALaterDeadline(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		n := one(e)
		app := testenv.Chain("chain", 3, 30)
		full := record(e, app)
		app.Deadline = full * 1.6
		d := submit(e, app)
		underQuota(e, n, d)
		if _, err := e.Ask(api.VerbDeadline, api.ControlRequest{App: d.ID(), Extend: full * 0.5}); err != nil {
			t.Fatal(err)
		}
		done := d.Wait()
		wantPaced(t, done)
		if want := app.Deadline + full*0.5; done.Deadline < want-0.01 || done.Deadline > want+0.01 {
			t.Errorf("the deadline is %v, want %v", done.Deadline, want)
		}

		d = submit(e, app)
		x := underQuota(e, n, d)
		if _, err := e.Ask(api.VerbRelease, api.ControlRequest{App: d.ID()}); err != nil {
			t.Fatal(err)
		}
		e.Until("the quota is lifted", func() bool { return n.Quota(d.ID(), x).IsUnlimited() })
		if done := d.Wait(); done.Pacing != "released" || *done.ErrorPct < 5 {
			t.Errorf("%s, error %.1f %%", done.Pacing, *done.ErrorPct)
		}
	})
}

// A run that is not what its profile says gets all cores, said in one line.
func TestAnotherApplicationUnderTheNameIsReleased(t *testing.T) {
	testenv.Run(t, func(e *testenv.Env) {
		one(e)
		full := record(e, testenv.Chain("same", 2, 20))
		other := testenv.Chain("same", 5, 8)
		other.Deadline = full * 2
		d := submit(e, other)
		done := d.Wait()
		if done.State != api.AppFinished || done.Pacing != "released" {
			t.Errorf("%s, %s", done.State, done.Pacing)
		}
		if !slices.ContainsFunc(done.Notices, func(s string) bool { return strings.Contains(s, "not in profile") && !strings.Contains(s, "\n") }) {
			t.Errorf("notices %q", done.Notices)
		}
	})
}
