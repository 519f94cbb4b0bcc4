package node

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// shared is planApp of an application that comes after those with a deadline that can be
// kept.
func shared(id api.AppID, class api.Class) api.PlanApp {
	p := planApp(id, 2, ids("1"))
	p.HasDeadline, p.Band, p.Class = false, api.BandShared, class
	return p
}

// A stage that needs 1.4 of two cores gets them beside applications without a target, which
// have no quota and use all that it leaves.
func TestAPacedStageGetsItsCoresBesideOthers(t *testing.T) {
	for neighbours := range 4 {
		cfg := testConfig(2)
		cfg.Controller = controller.Default()
		w := newWorld(t, cfg)
		apps := []api.PlanApp{planApp(appA, 2, ids("1"))}
		for i := range neighbours {
			apps = append(apps, shared(api.AppID("app-"+string(rune('n'+i))), ""))
		}
		w.ready(1, apps...)
		for _, p := range apps[1:] {
			w.exec(Key{p.ID, "1"}).submit(0, 1000, 1)
		}
		stage := w.exec(Key{appA, "1"}).submit(0, 140, 0.2)
		apps[0].Stages = []api.StageTarget{target(0, "1", 140, 28, 20*time.Second, 1.4)}
		start := w.now
		w.apply(plan(2, apps...))
		w.ticks(44)
		if took := stage.end.Sub(start); stage.end == 0 || took > 20200*time.Millisecond || took < 18*time.Second {
			t.Errorf("beside %d: the stage took %v, want 20 s", neighbours, took)
		}
		used := 0.0
		for _, p := range apps {
			x := w.exec(Key{p.ID, "1"})
			used += x.cpu
			if x.key.App == appA {
				continue
			}
			if want := Weight(1/float64(neighbours)) * rules.Weights.Behind; !x.quota.IsUnlimited() || x.weight != want {
				t.Errorf("beside %d: %s has quota %v and weight %v, want none and %v", neighbours, x.key, x.quota, x.weight, want)
			}
		}
		if all := 2 * 22.0; neighbours > 0 && used < 0.99*all {
			t.Errorf("beside %d: %.1f of %.1f core-seconds are used", neighbours, used, all)
		}
	}
}

// Who shares has its part of the division, by its class; the parts leave room for what was
// granted, and for those who share the floor.
func TestThoseWhoShareHaveTheirPart(t *testing.T) {
	cfg := testConfig(4)
	cfg.Supervisor.FloorShare = 0.25
	w := newWorld(t, cfg)
	apps := []api.PlanApp{planApp(appA, 4, ids("1")), shared("app-x", api.ClassInteractive), shared("app-y", api.ClassBatch)}
	w.ready(1, apps...)
	for _, p := range apps {
		w.exec(Key{p.ID, "1"}).submit(0, 1000, 1)
	}
	apps[0].Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Second, 4)}
	w.apply(plan(2, apps...))
	w.ticks(2)
	var got []units.Cores
	for _, g := range w.e.Grants(nil) {
		got = append(got, g.Cores)
	}
	// A core of four is kept; the floors of 0.1 apart, 16 parts of 17 are interactive's.
	want := []units.Cores{3, 0.1 + 0.8*16/17, 0.1 + 0.8/17}
	for i := range want {
		if len(got) != 3 || got[i]-want[i] > 1e-9 || want[i]-got[i] > 1e-9 {
			t.Fatalf("grants %v, want %v", got, want)
		}
	}
	if q := w.quota(appA, "1"); q != 3 {
		t.Errorf("a quota of %v, want 3", q)
	}
	if x, y := w.exec(Key{"app-x", "1"}).weight, w.exec(Key{"app-y", "1"}).weight; x != rules.Weights.Behind*16/17 || y != rules.Weights.Behind/17 {
		t.Errorf("weights %v and %v", x, y)
	}
}

// Without anybody to yield to those who share have normal weights, and one whose deadline
// has passed joins them.
func TestOneThatIsLateShares(t *testing.T) {
	w := newWorld(t, testConfig(2))
	a, b := planApp(appA, 2, ids("1")), shared(appB, "")
	w.ready(1, a, b)
	for _, p := range []api.AppID{appA, appB} {
		w.exec(Key{p, "1"}).submit(0, 1000, 1)
	}
	w.ticks(2)
	if x, y := w.exec(Key{appA, "1"}).weight, w.exec(Key{appB, "1"}).weight; x != sharing.Normal || y != rules.Weights.Behind {
		t.Errorf("weights %v and %v", x, y)
	}
	a.Band = api.BandShared
	w.apply(plan(2, a, b))
	if x, y := w.exec(Key{appA, "1"}).weight, w.exec(Key{appB, "1"}).weight; x != sharing.Normal || y != sharing.Normal {
		t.Errorf("weights %v and %v when it is late", x, y)
	}
}

// A JVM that starts beside another application's stage takes cores that cannot be granted;
// beside its own application's it is expected.
func TestAStartBesideAnothersStageIsUseByOthers(t *testing.T) {
	for _, own := range []bool{true, false} {
		w := newWorld(t, testConfig(2))
		a, b := planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1"))
		w.ready(1, a)
		w.exec(Key{appA, "1"}).submit(0, 1000, 1)
		w.ticks(2)
		starting := Key{appB, "1"}
		if own {
			a.Executors, starting = ids("1", "2"), Key{appA, "2"}
			w.apply(plan(2, a))
		} else {
			w.apply(plan(2, a, b))
		}
		x := w.exec(starting)
		x.frozen = true
		x.submit(0, 100, 1)
		w.ticks(6)
		limit, others := w.e.Capacity()
		if alone := limit == 2 && others < 0.01; alone != own {
			t.Errorf("own %v: the capacity is %v, others use %v", own, limit, others)
		}
	}
}

// A Plan says how cores are divided; a restart goes on with it, and a Plan that says nothing
// takes it back. What is not known is told, and changes nothing.
func TestAPlanSwitchesTheStrategy(t *testing.T) {
	cfg := testConfig(2)
	w := newWorld(t, cfg)
	a := planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.5))
	b := planApp(appB, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.5))
	a.Remaining, b.Remaining = 90, 30
	w.ready(1, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1")))
	want := func(what string, first, second units.Cores) {
		t.Helper()
		if x, y := w.quota(appA, "1"), w.quota(appB, "1"); x != first || y != second {
			t.Errorf("%s: quotas %v and %v, want %v and %v", what, x, y, first, second)
		}
	}
	w.apply(plan(2, a, b))
	want("edf-pure", 0.5, 1.5)
	p := plan(3, a, b)
	p.Division = &api.Division{Strategy: supervisor.Proportional}
	w.apply(p)
	want("proportional", 1, 1)
	if w.status.Division.Strategy != supervisor.Proportional {
		t.Errorf("the status says %+v", w.status.Division)
	}
	w.restart(cfg)
	if got := w.e.Status(w.now).Division.Strategy; got != supervisor.Proportional {
		t.Errorf("after a restart it is %s", got)
	}
	w.ticks(1)
	p.Epoch, p.Division = 4, &api.Division{Strategy: "fifo"}
	w.apply(p)
	if !w.sawEvent(EventDivisionRefused) || w.e.Status(w.now).Division.Strategy != supervisor.Proportional {
		t.Errorf("fifo: %+v", w.e.Events())
	}
	p.Epoch, p.Division = 5, nil
	w.apply(p)
	if got := w.e.Status(w.now).Division.Strategy; got != supervisor.EDFPure {
		t.Errorf("without a division it is %s", got)
	}
}

// What an engine is configured to while it runs holds from the next tick on, but for what the
// Plan says; what is not valid, or may not change, changes nothing.
func TestAnEngineGoesByAnotherConfiguration(t *testing.T) {
	cfg := testConfig(2)
	w := newWorld(t, cfg)
	a := planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.5))
	b := planApp(appB, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.5))
	a.Remaining, b.Remaining = 90, 30
	w.ready(1, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 20, 1)
	w.exec(Key{appB, "1"}).submit(0, 20, 1)
	w.apply(plan(2, a, b))
	configure := func(next Config) error {
		actions, err := w.e.Configure(w.now, next)
		w.do(w, actions)
		return err
	}
	next := cfg
	next.Supervisor.Strategy, next.Node, next.Offered = supervisor.Proportional, "another", 1
	if err := configure(next); err != nil {
		t.Fatal(err)
	}
	if w.status.Division.Strategy != supervisor.Proportional || w.status.Node != cfg.Node {
		t.Errorf("the status says %+v of %s", w.status.Division, w.status.Node)
	}
	w.ticks(1)
	if x, y := w.quota(appA, "1"), w.quota(appB, "1"); x < 0.6 || x+y > 2 {
		t.Errorf("quotas %v and %v, and the first has 0.5 under edf-pure", x, y)
	}
	p := plan(3, a, b)
	p.Division = &api.Division{Strategy: supervisor.Speed}
	w.apply(p)
	next.Supervisor.Strategy = supervisor.EDFPure
	if err := configure(next); err != nil || w.e.Status(w.now).Division.Strategy != supervisor.Speed {
		t.Errorf("%v: %+v, the Plan's is speed", err, w.e.Status(w.now).Division)
	}
	next.Supervisor.Gamma = 2
	if err := configure(next); err == nil || w.e.roster.cfg.Supervisor.Gamma != 0 {
		t.Errorf("%v, and gamma is %v", err, w.e.roster.cfg.Supervisor.Gamma)
	}
}

// Two applications that ask for 1.5 of two cores each: the one that is due later loses one
// core, and is told to whom, until the other has ended; a restart of the count is no loss.
func TestWhatIsLostIsTold(t *testing.T) {
	w := newWorld(t, testConfig(2))
	a := planApp(appA, 2, ids("1"), target(0, "1", 200, 200, 10*time.Second, 1.5))
	b := planApp(appB, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.5))
	a.Remaining, b.Remaining = 90, 30
	w.ready(1, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 200, 1)
	w.exec(Key{appB, "1"}).submit(0, 20, 1)
	w.apply(plan(2, a, b))
	began := 0
	for range 4 {
		w.ticks(1)
		for _, e := range w.e.Events() {
			if e.Kind == EventShortage {
				began++
				if e.Key.App != appA || !strings.Contains(e.Detail, string(appB)) {
					t.Errorf("event %s", e)
				}
			}
		}
	}
	w.ticks(1)
	if s := w.status.Shortages; len(s) != 1 || s[0].App != appA || s[0].To != appB || s[0].Asked-s[0].Had < 0.9 || s[0].GivenUp {
		t.Errorf("shortages %+v", s)
	}
	if began != 1 {
		t.Errorf("a shortage began %d times", began)
	}
	lost := w.status.Losses
	if len(lost) != 1 || lost[0].App != appA || lost[0].To != appB || lost[0].CoreSeconds < 1.5 || lost[0].CoreSeconds > 4 {
		t.Fatalf("losses %+v", lost)
	}
	w.apply(plan(3, a))
	over := false
	for range calmAgain + 2 {
		w.ticks(1)
		over = over || w.sawEvent(EventShortageOver)
	}
	if !over || len(w.status.Shortages) != 0 {
		t.Errorf("the shortage does not end: %+v", w.status.Shortages)
	}
	sum := w.status.Losses[0].CoreSeconds
	w.ticks(4)
	if got := w.status.Losses[0].CoreSeconds; got != sum {
		t.Errorf("%v core-seconds are lost alone", got-sum)
	}
	w.apply(plan(4))
	w.ticks(2)
	if len(w.status.Losses) != 0 {
		t.Errorf("losses of an application that has ended: %+v", w.status.Losses)
	}
}

// Who is under no quota loses what it does not get, not what it was not granted.
func TestWhoSharesLosesWhatItDoesNotGet(t *testing.T) {
	w := newWorld(t, testConfig(2))
	apps := []api.PlanApp{planApp(appA, 2, ids("1")), shared(appB, "")}
	w.ready(1, apps...)
	w.exec(Key{appA, "1"}).submit(0, 1000, 1)
	w.exec(Key{appB, "1"}).submit(0, 1000, 1)
	apps[0].Stages = []api.StageTarget{target(0, "1", 1000, 1000, 1000*time.Second, 1.2)}
	w.apply(plan(2, apps...))
	w.ticks(20)
	lost := w.status.Losses
	want := 10 * (2 - 0.9)
	if len(lost) != 1 || lost[0].App != appB || lost[0].To != appA || math.Abs(float64(lost[0].CoreSeconds)-want) > 3 {
		t.Errorf("losses %+v, want about %.1f", lost, want)
	}
}

// What others use is a mean: after a driver's start it says more than is used. The one stage
// that has most, and needs all that is left, has no quota then, where weights alone keep what those have
// who share; an application under a cap and a larger floor have one.
func TestAStageThatNeedsAllThereIsHasNoQuota(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(*Config, []api.PlanApp)
		free   bool
	}{
		{"beside one", func(*Config, []api.PlanApp) {}, true},
		{"beside six", func(_ *Config, apps []api.PlanApp) {
			for i, id := range []api.AppID{"c", "d", "e", "f", "g"} {
				apps[2+i] = shared(id, "")
			}
		}, true},
		{"with cores to spare", func(_ *Config, apps []api.PlanApp) {
			apps[0].Stages[0] = target(0, "1", 1000, 1000, 1000*time.Second, 1)
		}, false},
		{"under a cap", func(_ *Config, apps []api.PlanApp) { apps[0].Cap = 1.5 }, false},
		{"with a larger floor", func(cfg *Config, _ []api.PlanApp) { cfg.Supervisor.FloorShare = 0.25 }, false},
		{"beside a batch application", func(_ *Config, apps []api.PlanApp) { apps[1].Class = api.ClassBatch }, true},
		{"with two stages", func(_ *Config, apps []api.PlanApp) {
			apps[0].Stages = append(apps[0].Stages, target(1, "2", 1000, 1000, time.Second, 1))
		}, false},
	} {
		cfg := testConfig(2)
		apps := make([]api.PlanApp, 7)
		apps[0], apps[1] = planApp(appA, 2, ids("1", "2")), shared(appB, "")
		apps[0].Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Second, 2)}
		c.change(&cfg, apps)
		apps = slices.DeleteFunc(apps, func(a api.PlanApp) bool { return a.ID == "" })
		w := newWorld(t, cfg)
		stages := apps[0].Stages
		apps[0].Stages = nil
		w.ready(1, apps...)
		for i, a := range apps {
			w.exec(Key{a.ID, "1"}).submit(min(i, 1), 1000, 7)
		}
		if len(stages) > 1 {
			w.exec(Key{appA, "2"}).submit(1, 1000, 7)
		}
		w.ticks(4)
		apps[0].Stages = stages
		w.apply(plan(2, apps...))
		w.ticks(4)
		if got := w.quota(appA, "1"); got.IsUnlimited() != c.free {
			t.Errorf("%s: a quota of %v, want none: %v", c.why, got, c.free)
		}
	}
}

// With gamma 1 all that nobody asks for is given away: weights divide, by the grants, and no quota
// leaves idle what one stage does not use of its part.
func TestWithGammaOneWeightsDivide(t *testing.T) {
	for _, c := range []struct {
		why           string
		gamma         float64
		strategy      string
		eq21          string
		shares        bool // One runs beside them.
		quotas        bool
		first, second Weight
	}{
		{"one after the other", 1, supervisor.EDFAll, "", false, false, sharing.Normal, rules.Weights.Place(0.1, 1.9)},
		{"by speed", 1, supervisor.Speed, "", false, false, sharing.Normal, sharing.Normal},
		{"half of it given away", 0.5, supervisor.Speed, "", false, true, sharing.Normal, sharing.Normal},
		{"beside one that shares", 1, supervisor.EDFAll, "", true, false, sharing.Normal, rules.Weights.Place(0.1, 1.8)},
		{"beside one that shares and would have too little", 1, supervisor.Speed, "", true, true, sharing.Normal, sharing.Normal},
		{"as printed", 1, supervisor.EDFPure, supervisor.Eq21Printed, false, true, sharing.Normal, sharing.Normal},
	} {
		cfg := testConfig(2)
		cfg.Supervisor.Strategy, cfg.Supervisor.Gamma, cfg.Supervisor.Eq21 = c.strategy, c.gamma, c.eq21
		w := newWorld(t, cfg)
		apps := []api.PlanApp{planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1"))}
		if c.shares {
			apps = append(apps, shared("x", ""))
		}
		w.ready(1, apps...)
		for i := range apps {
			w.exec(Key{apps[i].ID, "1"}).submit(i, 1000, 7)
		}
		for i := range 2 {
			apps[i].Stages = []api.StageTarget{target(i, "1", 1000, 7000, time.Duration(100+i)*time.Hour, 0.5)}
		}
		w.ticks(4)
		w.apply(plan(2, apps...))
		w.ticks(6)
		a, b := w.quota(appA, "1"), w.quota(appB, "1")
		if a.IsUnlimited() == c.quotas || b.IsUnlimited() == c.quotas {
			t.Errorf("%s: quotas of %v and %v, want some: %v", c.why, a, b, c.quotas)
		}
		if a, b := w.exec(Key{appA, "1"}).weight, w.exec(Key{appB, "1"}).weight; a != c.first || b != c.second {
			t.Errorf("%s: weights of %v and %v, want %v and %v", c.why, a, b, c.first, c.second)
		}
	}
}

// Beside a stage that is short of cores, of an application that needs nearly all of them to be in
// time, who shares is held to its part: it would use what the stage leaves while it waits for its
// driver, which runs on this machine and has less of the CPUs by that.
func TestWhoSharesIsHeldToItsPartBesideAStageThatIsShort(t *testing.T) {
	for _, c := range []struct {
		why    string
		driver string
		least  units.Cores
		due    time.Duration
		want   units.Cores
	}{
		{"it asks for more than there is", driverHere, 1.9, time.Second, 0.1},
		{"its application has time", driverHere, 1.7, time.Second, units.Unlimited},
		{"its driver is elsewhere", driverElsewhere, 1.9, time.Second, units.Unlimited},
		{"it asks for half of the cores", driverHere, 1.9, 1000 * time.Second, units.Unlimited},
	} {
		w := newWorld(t, testConfig(2))
		a, b := planApp(appA, 2, ids("1")), shared(appB, "")
		a.Launch.DriverURL, a.Remaining, a.Least = c.driver, 1000, c.least
		w.ready(1, a, b)
		w.exec(Key{appA, "1"}).submit(0, 1000, 7)
		w.exec(Key{appB, "1"}).submit(0, 1000, 7)
		w.ticks(4)
		a.Stages = []api.StageTarget{target(0, "1", 1000, 1000, c.due, 1)}
		w.apply(plan(2, a, b))
		w.ticks(4)
		if got := w.quota(appB, "1"); got != c.want {
			t.Errorf("%s: who shares has a quota of %v, want %v", c.why, got, c.want)
		}
		a.Stages = nil
		w.apply(plan(3, b))
		w.ticks(8)
		if got := w.quota(appB, "1"); !got.IsUnlimited() {
			t.Errorf("%s: a quota of %v when it is over", c.why, got)
		}
	}
}

// Of two with deadlines to keep that ask for more than there is the first has no quota: the
// other one's holds it back, and what it is granted is the kernel's to give.
func TestTheFirstOfTwoThatAreShortHasNoQuota(t *testing.T) {
	w := newWorld(t, testConfig(2))
	a, b := planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1"))
	a.Remaining, b.Remaining = 20, 40
	w.ready(1, a, b)
	w.exec(Key{appA, "1"}).submit(0, 1000, 1)
	w.exec(Key{appB, "1"}).submit(0, 1000, 1)
	w.ticks(4)
	a.Stages = []api.StageTarget{target(0, "1", 1000, 1000, 2*time.Second, 2)}
	b.Stages = []api.StageTarget{target(0, "1", 1000, 1000, 2*time.Second, 2)}
	w.apply(plan(2, a, b))
	w.ticks(4)
	if got := w.quota(appA, "1"); !got.IsUnlimited() {
		t.Errorf("the first has a quota of %v", got)
	}
	if got := w.quota(appB, "1"); got.IsUnlimited() || got > 0.5 {
		t.Errorf("the other has a quota of %v", got)
	}
}

// What an application that shares lacks is known, without a word for it, until it has it; what one that comes first
// has beyond its targets is no shortage.
func TestThatOneWhoSharesIsShortIsKnownWithoutAWord(t *testing.T) {
	w := newWorld(t, testConfig(2))
	a, b := planApp(appA, 2, ids("1", "2")), shared(appB, "")
	w.ready(1, a, b)
	w.exec(Key{appA, "1"}).submit(0, 1000, 1)
	w.exec(Key{appA, "2"}).submit(1, 1000, 1)
	w.exec(Key{appB, "1"}).submit(0, 1000, 1)
	a.Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Hour, 1.5)}
	w.apply(plan(2, a, b))
	for range 8 {
		w.ticks(1)
		if w.sawEvent(EventShortage) {
			t.Fatalf("it is told: %+v", w.status.Shortages)
		}
	}
	if s := w.status.Shortages; len(s) != 1 || s[0].App != appB || s[0].To != appA || s[0].Asked-s[0].Had < 0.9 {
		t.Errorf("shortages %+v", s)
	}
	w.apply(plan(3, b))
	w.ticks(calmAgain + 2)
	if s := w.status.Shortages; len(s) != 0 {
		t.Errorf("alone it is short: %+v", s)
	}
}

// Of one that the planner puts behind another one its node says once that it is given up, and why.
func TestWhoIsGivenUpIsTold(t *testing.T) {
	cfg := testConfig(2)
	cfg.Supervisor.Strategy = supervisor.Auto
	w := newWorld(t, cfg)
	a := planApp(appA, 2, ids("1"), target(0, "1", 200, 200, 20*time.Second, 1.9))
	b := planApp(appB, 2, ids("1"), target(0, "1", 30, 30, 20*time.Second, 1.5))
	a.Remaining, a.Least, b.Remaining, b.Least, a.Band = 20, 1.9, 21, 1.5, api.BandBehind
	w.ready(1, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 200, 1)
	w.exec(Key{appB, "1"}).submit(0, 30, 1)
	w.apply(plan(2, a, b))
	told := 0
	for range 8 {
		w.ticks(1)
		for _, e := range w.e.Events() {
			if e.Kind == EventGivenUp {
				told++
				if e.Key.App != appA || !strings.Contains(e.Detail, "it comes behind") {
					t.Errorf("event %s", e)
				}
			}
		}
	}
	if s := w.status.Shortages; told != 1 || len(s) != 1 || s[0].App != appA || !s[0].GivenUp {
		t.Errorf("told %d times; shortages %+v", told, s)
	}
}
