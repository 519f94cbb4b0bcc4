package node

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// paced is a world with one executor that works on 40 tasks of 1 core-second
// for 30 s on 2 cores.
func paced(t tb, cfg Config) *world {
	w := newWorld(t, cfg)
	w.ready(1, planApp(appA, 2, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 40, 1)
	w.apply(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 40, 40, 30*time.Second, 1.35))))
	return w
}

func TestConfigReportsEveryFaultAtOnce(t *testing.T) {
	cfg := testConfig(2)
	cfg.Node, cfg.Offered, cfg.Meter.Progress, cfg.Quantum = "a.b", 3, "lines", 0
	cfg.Controller.Phi, cfg.Supervisor.Strategy = 2, "dice"
	err := cfg.Validate()
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{"a.b", "offered", "lines", "quantum", "phi", "dice"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %q", err, want)
		}
	}
	if _, err := New(cfg, nil); err == nil {
		t.Error("New took it")
	}
}

func TestAStageEndsAtItsDeadline(t *testing.T) {
	for _, law := range controller.Laws() {
		for _, progress := range []meter.Counted{meter.Tasks, meter.Work} {
			for name, overhead := range map[string]float64{"as profiled": 0, "a fifth slower": 0.2, "a fifth faster": -0.2} {
				cfg := testConfig(2)
				cfg.Controller.Law, cfg.Meter.Progress = law, progress
				w := newWorld(t, cfg)
				w.ready(1, planApp(appA, 2, ids("1")))
				x := w.exec(Key{appA, "1"})
				x.overhead = overhead
				s := x.submit(0, 60, 0.5)
				start := w.now
				w.apply(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 60, 30, 25*time.Second, 1.2))))
				w.ticks(60)
				took := s.end.Sub(start).Seconds()
				if s.finished != 60 || math.Abs(took-25) > 1.5 {
					t.Errorf("%s, %s, %s: %d tasks in %.2f s, want 60 in 25", law, progress, name, s.finished, took)
				}
			}
		}
	}
}

func TestExecutorsStartOnceAndStopWhenUnlisted(t *testing.T) {
	w := newWorld(t, testConfig(2))
	actions := w.apply(plan(1, planApp(appA, 2, ids("1", "2"))))
	if len(w.starts) != 2 || count(actions, ActSave) != 1 {
		t.Fatalf("starts %v, %d saves", w.starts, count(actions, ActSave))
	}
	saved := false
	for _, a := range actions {
		saved = saved || a.Kind == ActSave
		if a.Kind == ActStart && !saved {
			t.Error("a start came before the save that remembers it")
		}
	}
	w.ticks(2)
	w.exec(Key{appA, "2"}).exited = true
	w.ticks(1)
	if got := w.status.Executors[1]; got.State != api.ExecutorExited || got.Exit != "killed" {
		t.Errorf("status %+v, want it exited", got)
	}
	w.apply(plan(2, planApp(appA, 2, ids("1", "2", "3"))))
	w.ticks(2)
	if d := cmp.Diff([]Key{{appA, "1"}, {appA, "2"}, {appA, "3"}}, w.starts); d != "" {
		t.Error("an exited executor must stay exited\n", d)
	}
	w.apply(plan(3, planApp(appA, 2, ids("3"))))
	w.ticks(2)
	if d := cmp.Diff([]Key{{appA, "1"}, {appA, "2"}}, w.stops); d != "" {
		t.Error(d)
	}
	if len(w.e.roster.execs) != 1 || len(w.status.Executors) != 1 {
		t.Errorf("%d executors known, %d reported, want 1", len(w.e.roster.execs), len(w.status.Executors))
	}
}

func TestAStartThatFailsIsReportedAtOnceAndNotRepeated(t *testing.T) {
	w := newWorld(t, testConfig(2))
	actions := w.e.Apply(w.now, plan(1, planApp(appA, 2, ids("1"))))
	if count(actions, ActStart) != 1 {
		t.Fatalf("%v", actions)
	}
	w.failed = []Failure{{ActStart, Key{appA, "1"}, "java: not found"}}
	actions = w.e.Observe(w.now, w.sample())
	w.do(t, actions)
	if got := w.status.Executors[0]; got.State != api.ExecutorExited || got.Exit != "start: java: not found" || got.ExitCode != api.Unknown {
		t.Errorf("status %+v", got)
	}
	if !w.sawEvent(EventActionFailed) {
		t.Error("no event")
	}
	w.ticks(4)
	if len(w.starts) != 0 {
		t.Errorf("it was started again: %v", w.starts)
	}
}

func TestOldForeignAndRepeatedPlansChangeNothing(t *testing.T) {
	w := paced(t, testConfig(2))
	foreign, old, version := plan(9), plan(1), plan(9)
	foreign.Node, version.V = "n2", 99
	for name, c := range map[string]struct {
		p    api.Plan
		kind EventKind
	}{"older": {old, EventPlanIgnored}, "foreign": {foreign, EventPlanRefused}, "version": {version, EventPlanRefused}} {
		if actions := w.apply(c.p); len(actions) != 0 || !w.sawEvent(c.kind) {
			t.Errorf("%s: %d actions, events %v", name, len(actions), w.e.Events())
		}
	}
	if actions := w.apply(plan(2)); len(actions) != 0 || len(w.e.Events()) != 0 {
		t.Errorf("the same epoch again: %v, %v", actions, w.e.Events())
	}
	if w.e.roster.plan.Epoch != 2 || len(w.e.roster.apps) != 1 {
		t.Errorf("epoch %d, %d applications", w.e.roster.plan.Epoch, len(w.e.roster.apps))
	}
}

func TestTargetsWithImpossibleNumbersRunWithAllCores(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1")))
	bad := target(0, "1", 10, 10, 10*time.Second, 1)
	bad.Weight = -1
	elsewhere := target(1, "7", 10, 10, 10*time.Second, 1)
	w.apply(plan(2, planApp(appA, 2, ids("1"), bad, elsewhere)))
	if n := w.e.Counters().Refused; n != 2 || !w.quota(appA, "1").IsUnlimited() {
		t.Errorf("%d refused, quota %v", n, w.quota(appA, "1"))
	}
}

func TestAFinishedShareHasNoQuotaAndFreesItsCores(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1", "2")))
	w.exec(Key{appA, "1"}).submit(0, 2, 0.5)
	w.exec(Key{appA, "2"}).submit(1, 40, 1)
	w.apply(plan(2, planApp(appA, 2, ids("1", "2"), target(0, "1", 2, 1, 2*time.Second, 0.5), target(1, "2", 40, 40, 10*time.Second, 2))))
	w.ticks(8)
	if !w.exec(Key{appA, "1"}).idle() {
		t.Fatal("the first stage is still at work")
	}
	if !w.quota(appA, "1").IsUnlimited() || !w.quota(appA, "2").IsUnlimited() {
		t.Errorf("quotas %v and %v, want none: one is done, the other needs all", w.quota(appA, "1"), w.quota(appA, "2"))
	}
}

func TestAHandOverIsTakenUpAgain(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1")))
	x := w.exec(Key{appA, "1"})
	s := x.submit(0, 2, 0.5)
	w.apply(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 2, 1, 8*time.Second, 0.15))))
	w.ticks(20)
	if !x.idle() || !x.quota.IsUnlimited() {
		t.Fatalf("idle %v, quota %v", x.idle(), x.quota)
	}
	for range 20 {
		x.queue = append(x.queue, &simTask{stage: s, weight: 1, cpu: 0.5, records: 1000})
	}
	more := target(0, "1", 22, 11, 20*time.Second, 0.55)
	more.Rev = 2
	w.apply(plan(3, planApp(appA, 2, ids("1"), more)))
	w.ticks(4)
	if x.quota.IsUnlimited() || x.quota < 0.3 || x.quota > 1 {
		t.Errorf("quota %v, want about 10 core-seconds in 20 s", x.quota)
	}
}

func TestAStalePageReleasesTheExecutorOnce(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(6)
	x := w.exec(Key{appA, "1"})
	if x.quota.IsUnlimited() {
		t.Fatal("not controlled")
	}
	x.frozen = true
	stale := 0
	for range 10 {
		w.ticks(1)
		if w.sawEvent(EventPageStale) {
			stale++
		}
	}
	if !x.quota.IsUnlimited() || stale != 1 || w.e.Counters().PagesStale != 1 {
		t.Errorf("quota %v, %d events, counted %d", x.quota, stale, w.e.Counters().PagesStale)
	}
	x.frozen = false
	w.ticks(1)
	if !w.sawEvent(EventPageFresh) {
		t.Error("no event when the page is back")
	}
	w.ticks(2)
	if x.quota.IsUnlimited() {
		t.Error("not controlled again")
	}
}

func TestAFailedQuotaWriteSynchronisesWithWhatIsInForce(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(4)
	c := w.e.roster.apps[0].controls[0]
	before := w.quota(appA, "1")
	// Somebody asks for less: a longer deadline that the kernel refuses to hear of.
	w.refuse = true
	for w.e.Counters().QuotaFailures == 0 {
		w.ticks(1)
		if w.now > units.Instant(30*time.Second) {
			t.Fatal("no write in 30 s")
		}
	}
	if got := c.law.State().Granted; math.Abs(float64(got-before)) > 1e-9 {
		t.Errorf("the controller takes %v for granted, in force is %v", float64(got), float64(before))
	}
	if !w.sawEvent(EventActionFailed) {
		t.Error("no event")
	}
	w.refuse = false
	w.ticks(8)
	if w.e.roster.execs[0].quota != w.quota(appA, "1") {
		t.Errorf("the engine believes in %v, in force is %v", w.e.roster.execs[0].quota, w.quota(appA, "1"))
	}
}

func TestARestartChangesNoQuota(t *testing.T) {
	for _, law := range controller.Laws() {
		cfg := testConfig(2)
		cfg.Controller.Law = law
		w := paced(t, cfg)
		w.ticks(21)
		before := w.quota(appA, "1")
		deadline := w.e.roster.apps[0].controls[0].deadline
		status := w.status.Stages[0]
		if before.IsUnlimited() {
			t.Fatal("not controlled")
		}
		w.advance(3 * time.Second) // It is down for a while.
		w.restart(cfg)
		w.log = nil
		w.do(t, w.e.Step(w.now, w.sample()))
		if got := w.quota(appA, "1"); got != before || len(w.log) != 0 {
			t.Errorf("%s: quota jumped from %v to %v, writes %v", law, before, got, w.log)
		}
		if got := w.e.roster.apps[0].controls[0].grant; math.Abs(float64(got-before)) > 0.025+1e-9 || got == before {
			t.Errorf("%s: control goes on from %v, want the value before rounding to %v", law, float64(got), before)
		}
		if got := w.e.roster.apps[0].controls[0].deadline; got != deadline {
			t.Errorf("%s: the anchor moved by %v", law, got.Sub(deadline))
		}
		if got := w.status.Stages[0]; got.CPU < status.CPU || got.QuotaChanges != status.QuotaChanges {
			t.Errorf("%s: the record went from %+v to %+v", law, status, got)
		}
		for range 4 {
			last := w.quota(appA, "1")
			w.ticks(1)
			if jump := math.Abs(float64(w.quota(appA, "1") - last)); jump > 0.4 {
				t.Errorf("%s: a jump of %v to %v", law, jump, w.quota(appA, "1"))
			}
		}
		if len(w.starts) != 1 {
			t.Errorf("%s: starts %v", law, w.starts)
		}
	}
}

func TestAControllerStateThatCannotBeUsedGoesOnFromTheQuotaInForce(t *testing.T) {
	cfg := testConfig(2)
	w := paced(t, cfg)
	w.exec(Key{appA, "1"}).overhead = -0.3
	w.ticks(21)
	before := w.quota(appA, "1")
	if before.IsUnlimited() || before == 1.35 {
		t.Fatalf("quota %v is no case", before)
	}
	var s State
	if err := json.Unmarshal(w.saved, &s); err != nil {
		t.Fatal(err)
	}
	s.Controls[0].Controller.Target.Weight = -1
	w.saved = mustJSON(t, s)
	w.restart(cfg)
	w.do(t, w.e.Step(w.now, w.sample()))
	if got := w.quota(appA, "1"); got != before || !w.sawEvent(EventControlError) {
		t.Errorf("quota jumped from %v to %v, events %v", before, got, w.e.Events())
	}
}

func TestAPlanThatArrivesBeforeTheFirstTickWaits(t *testing.T) {
	cfg := testConfig(2)
	w := paced(t, cfg)
	w.ticks(20)
	before := w.quota(appA, "1")
	w.restart(cfg)
	w.log = nil
	same := target(0, "1", 40, 40, 18*time.Second, 2)
	actions := w.apply(plan(3, planApp(appA, 2, ids("1", "2"), same)))
	if len(w.log) != 0 || count(actions, ActStart) != 0 {
		t.Errorf("before anything is known: quotas %v, %d starts", w.log, count(actions, ActStart))
	}
	w.do(t, w.e.Step(w.now, w.sample()))
	if got := w.quota(appA, "1"); got != before {
		t.Errorf("quota jumped from %v to %v", before, got)
	}
	if len(w.starts) != 2 || w.starts[1].ID != "2" {
		t.Errorf("starts %v, want 1 and then 2", w.starts)
	}
}

func TestWhatIsGoneAfterARestartIsReportedAsLost(t *testing.T) {
	cfg := testConfig(2)
	w := paced(t, cfg)
	w.ticks(2)
	w.execs = nil
	w.restart(cfg)
	w.ticks(2)
	if got := w.status.Executors[0]; got.State != api.ExecutorExited || !strings.HasPrefix(got.Exit, "lost") {
		t.Errorf("status %+v", got)
	}
	if len(w.starts) != 1 {
		t.Errorf("it was started again: %v", w.starts)
	}
}

func TestAnotherBootsInstantsAreForgotten(t *testing.T) {
	cfg := testConfig(2)
	w := paced(t, cfg)
	w.ticks(4)
	w.execs = nil
	cfg.Boot = "another"
	w.restart(cfg)
	w.now = units.Instant(time.Second)
	w.ticks(2)
	if w.e.roster.plan.Epoch != 2 || len(w.e.roster.apps[0].controls) != 0 || w.status.Executors[0].State != api.ExecutorExited {
		t.Errorf("epoch %d, %d controls, %+v", w.e.roster.plan.Epoch, len(w.e.roster.apps[0].controls), w.status.Executors[0])
	}
}

func TestExecutorsOfALostStoreAreKeptUntilAPlanSaysOtherwise(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.add(Key{appA, "1"}, 2).cpu = 500
	w.add(Key{appB, "1"}, 2)
	w.ticks(4)
	if len(w.stops) != 0 {
		t.Fatalf("stopped %v without a plan", w.stops)
	}
	w.apply(plan(7, planApp(appA, 2, ids("1"))))
	w.ticks(1)
	if d := cmp.Diff([]Key{{appB, "1"}}, w.stops); d != "" || len(w.starts) != 0 {
		t.Errorf("starts %v, stops\n%s", w.starts, d)
	}
}

func TestLeavingLiftsQuotasAndLetsExecutorsRun(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(4)
	w.do(t, w.e.Shutdown(w.now, Leave))
	if !w.quota(appA, "1").IsUnlimited() || len(w.stops) != 0 || !w.status.Leaving {
		t.Errorf("quota %v, stops %v, leaving %v", w.quota(appA, "1"), w.stops, w.status.Leaving)
	}
	w.advance(time.Second)
	w.restart(testConfig(2))
	w.ticks(2)
	if w.quota(appA, "1").IsUnlimited() {
		t.Error("the next incarnation does not control it")
	}
}

// A service that stops may be one that is started again: quotas stand, and the next incarnation takes them over.
func TestAServiceLeavesItsQuotas(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(4)
	before := w.quota(appA, "1")
	w.do(t, w.e.Shutdown(w.now, Keep))
	if got := w.quota(appA, "1"); got != before || got.IsUnlimited() || len(w.stops) != 0 || !w.status.Leaving {
		t.Errorf("quota %v, before %v, stops %v, leaving %v", got, before, w.stops, w.status.Leaving)
	}
	w.advance(time.Second)
	w.restart(testConfig(2))
	if got := w.quota(appA, "1"); got != before {
		t.Errorf("the next incarnation begins with %v, not %v", got, before)
	}
}

func TestEndingStopsEverything(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(4)
	w.do(t, w.e.Shutdown(w.now, End))
	if len(w.stops) != 1 || !w.status.Leaving || w.status.Executors[0].State != api.ExecutorExited {
		t.Errorf("stops %v, status %+v", w.stops, w.status)
	}
	w.restart(testConfig(2))
	w.ticks(2)
	if len(w.starts) != 1 || len(w.status.Executors) != 0 {
		t.Errorf("starts %v, status %+v", w.starts, w.status.Executors)
	}
}

func TestStatusIsSentOncePerSecondOrWhenAnExecutorChanges(t *testing.T) {
	w := paced(t, testConfig(2))
	reports := 0
	for range 20 {
		reports += count(w.tick(t, w.e), ActReport)
	}
	if reports != 10 {
		t.Errorf("%d reports in 10 s, want 10", reports)
	}
	for count(w.tick(t, w.e), ActReport) == 0 {
	}
	w.exec(Key{appA, "1"}).exited = true
	if n := count(w.e.Observe(w.now, w.sample()), ActReport); n != 1 {
		t.Errorf("%d reports for an exit between ticks, want 1 at once", n)
	}
}

func TestStatusCarriesSamplesAndLingers(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 2, 1)
	w.apply(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 2, 2, 4*time.Second, 0.5))))
	w.ticks(2)
	s := w.status.Stages[0]
	if len(s.Samples) != 2 || s.Samples[0].Age != 0.5 || s.Samples[1].Age != 0 {
		t.Fatalf("samples %+v, want those of two ticks", s.Samples)
	}
	if got := s.Samples[1]; got.Running != 2 || got.Grant <= 0 || got.SetPoint <= 0 || math.Abs(float64(got.Used-0.5)) > 0.1 {
		t.Errorf("sample %+v", got)
	}
	w.ticks(10)
	w.apply(plan(3, planApp(appA, 2, ids("1"))))
	w.ticks(16)
	if len(w.status.Stages) != 1 || w.status.Stages[0].Progress != 1 || math.Abs(float64(w.status.Stages[0].CPU-2)) > 0.05 {
		t.Errorf("8 s after the end: %+v", w.status.Stages)
	}
	w.ticks(10)
	if len(w.status.Stages) != 0 {
		t.Errorf("13 s after the end: %+v", w.status.Stages)
	}
}

func TestQuotaChangesAreCounted(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(30)
	if got := w.e.Status(w.now).Stages[0].QuotaChanges; got != w.writes || got == 0 {
		t.Errorf("%d changes reported, %d written", got, w.writes)
	}
}

func TestSkippedTicksAreCounted(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(2)
	w.advance(2 * time.Second)
	w.do(t, w.e.Step(w.now, w.sample()))
	if got := w.e.Counters().TicksSkipped; got != 3 || !w.sawEvent(EventTicksSkipped) {
		t.Errorf("%d skipped, want 3", got)
	}
}

func TestSavesAreBounded(t *testing.T) {
	w := paced(t, testConfig(2))
	saves := 0
	for range 40 {
		saves += count(w.tick(t, w.e), ActSave)
	}
	if saves < 3 || saves > 4 {
		t.Errorf("%d saves in 20 s, want one every 5 s", saves)
	}
	idle := newWorld(t, testConfig(2))
	idle.ticks(40)
	if idle.saved != nil {
		t.Error("an idle node saved its state")
	}
}

func TestAFailedSaveAndReportAreRepeated(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(2)
	w.failed = []Failure{{Kind: ActSave, Err: "disk full"}, {Kind: ActReport, Err: "no connection"}}
	actions := w.tick(t, w.e)
	if count(actions, ActSave) != 1 || count(actions, ActReport) != 1 {
		t.Errorf("%d saves and %d reports after they failed, want 1 and 1", count(actions, ActSave), count(actions, ActReport))
	}
}

func TestWhatFailsAgainAndAgainIsSaidLessAndLess(t *testing.T) {
	w := paced(t, testConfig(2))
	said := 0
	for range 32 {
		w.failed = []Failure{{Kind: ActReport, Err: "no connection"}}
		w.ticks(1)
		if w.sawEvent(EventActionFailed) {
			said++
		}
	}
	if said != 6 {
		t.Errorf("said %d times in 32 failures, want 6", said)
	}
}

func TestOfTwoTargetsOnOneExecutorTheUnfinishedOneCounts(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.ready(1, planApp(appA, 4, ids("1")))
	x := w.exec(Key{appA, "1"})
	x.submit(0, 2, 0.2)
	x.submit(1, 40, 1)
	w.apply(plan(2, planApp(appA, 4, ids("1"), target(0, "1", 2, 0.4, 2*time.Second, 0.2), target(1, "1", 40, 40, 20*time.Second, 2))))
	w.ticks(4)
	if got := w.e.roster.execs[0].ctl.target.Stage; got != 1 {
		t.Errorf("stage %d is controlled, want 1", got)
	}
	if got := w.quota(appA, "1"); got < 1 || got > 3 {
		t.Errorf("quota %v, want about 2", got)
	}
}

func TestStateSurvivesJSON(t *testing.T) {
	w := paced(t, testConfig(2))
	w.ticks(12)
	var s State
	if err := json.Unmarshal(w.saved, &s); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(w.saved), string(mustJSON(t, s))); d != "" {
		t.Error(d)
	}
	s.Version = 99
	if _, err := New(testConfig(2), &s); err == nil {
		t.Error("a state of a newer layout was taken")
	}
}

// What an executor uses before its first page is nobody's, also in the tick of
// that page; from the next tick on all it uses is its stages'.
func TestAStartIsNotCountedToAStage(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.apply(plan(1, planApp(appA, 2, ids("1"))))
	x := w.exec(Key{appA, "1"})
	x.frozen = true
	for range 6 {
		x.cpu += 1
		w.ticks(1)
	}
	x.frozen = false
	x.cpu += 0.8
	x.submit(7, 2, 20)
	w.ticks(1)
	stage := func() units.Work {
		for _, s := range w.e.Status(w.now).Stages {
			if s.Stage == 7 {
				return s.CPU
			}
		}
		t.Fatal("the stage is not reported")
		return 0
	}
	if got := stage(); got < 0.9 || got > 1.01 {
		t.Errorf("%v core-seconds after half a second of two tasks, want 1: the start took 6.8", got)
	}
	before := stage()
	x.cpu += 0.3 // The compiler, say.
	w.ticks(1)
	if got := stage() - before; got < 1.25 || got > 1.35 {
		t.Errorf("%v core-seconds in the second half second, want 1.3", got)
	}
}
