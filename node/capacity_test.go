package node

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// A driver whose application is over gets a core for its exit, which its neighbours'
// executors do without until it is known to have exited, or for a while; one of another
// machine, and one that is not expected to exit, do not.
func TestADriverThatExitsHasACore(t *testing.T) {
	exiting := []api.AppID{"a"}
	for _, c := range []struct {
		url     string
		exiting []api.AppID
		known   bool
		want    float64
	}{
		{driverHere, exiting, false, 3}, {driverHere, exiting, true, 3}, {driverHere, nil, false, 4},
		{"spark://CoarseGrainedScheduler@[::1]:40123", exiting, false, 3}, {"spark://CoarseGrainedScheduler@here:40123", exiting, false, 3},
		{"spark://CoarseGrainedScheduler@10.0.0.7:40123", exiting, false, 4}, {"spark://nobody", exiting, false, 4},
	} {
		cfg := testConfig(4)
		cfg.Host = "here"
		e, err := New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		app := func(id api.AppID) api.PlanApp {
			return api.PlanApp{ID: id, Launch: &api.Launch{DriverURL: c.url}, Executors: []api.ExecutorID{"1"}}
		}
		now := units.Instant(10 * time.Second)
		plan := api.Plan{V: api.Version, Node: cfg.Node, Epoch: 1, Apps: []api.PlanApp{app("a"), app("b")}}
		e.Apply(now, plan)
		if got, _ := e.Capacity(); got != 4 {
			t.Errorf("%s: capacity %v before", c.url, got)
		}
		plan.Epoch, plan.Apps, plan.Over, plan.Exiting = 2, plan.Apps[1:], exiting, c.exiting
		e.Apply(now, plan)
		if got, _ := e.Capacity(); float64(got) != c.want {
			t.Errorf("%s: capacity %v as it exits, want %v", c.url, got, c.want)
		}
		plan.Epoch = 3
		e.Apply(now.Add(rules.Room.Exit-time.Millisecond), plan)
		if got, _ := e.Capacity(); float64(got) != c.want {
			t.Errorf("%s: capacity %v while it exits, want %v", c.url, got, c.want)
		}
		if plan.Epoch = 4; c.known {
			plan.Exiting = nil
		} else {
			now = now.Add(2 * time.Millisecond)
		}
		e.Apply(now.Add(rules.Room.Exit-time.Millisecond), plan)
		if got, _ := e.Capacity(); got != 4 {
			t.Errorf("%s: capacity %v when it is gone", c.url, got)
		}
	}
}

// On a machine of 16 cores, of which the node may use 4, what others use takes nothing from it until
// they leave it less.
func TestOthersTakeNothingFromAPartOfTheMachine(t *testing.T) {
	cfg := testConfig(4)
	cfg.Machine, cfg.Smoothing = 16, 0
	for _, c := range []struct{ others, want units.Cores }{{0, 4}, {10, 4}, {12, 4}, {12.4, 3.6}, {16, 3.4}} {
		k := newCapacity(cfg)
		k.observe(1000, usage{}, time.Second)
		k.observe(1000+units.Work(c.others)+3, usage{ours: 3}, time.Second)
		if got := k.cores(); math.Abs(float64(got-c.want)) > 1e-9 {
			t.Errorf("beside %v cores: %v, want %v", c.others, got, c.want)
		}
		if contended := c.want < 3.5; k.contended != contended {
			t.Errorf("beside %v cores: contended %v", c.others, k.contended)
		}
	}
}

func TestDriversThatExitTakeHalfAtMost(t *testing.T) {
	c := newCapacity(testConfig(4))
	for range 5 {
		c.driver(units.Instant(time.Second), appA)
	}
	if got := c.cores(); got != 2 {
		t.Errorf("capacity %v, want half", got)
	}
}

// An executor that is stopped as its application ends has the lowest weight, but where
// nobody is to write one.
func TestAnExecutorThatIsStoppedGoesLast(t *testing.T) {
	for _, mode := range []api.Mode{api.ModeControl, api.ModeObserve} {
		w := newWorld(t, testConfig(2))
		w.ready(1, unmanaged(mode))
		w.exec(Key{appA, "1"}).submit(0, 40, 1)
		w.ticks(4)
		var low, stopped int
		for i, a := range w.apply(plan(2)) {
			switch {
			case a.Kind == ActSetWeight && a.Weight == rules.Weights.Low:
				low = i + 1
			case a.Kind == ActStop:
				stopped = i + 1
			}
		}
		if want := mode == api.ModeControl; (low > 0) != want || stopped < low {
			t.Errorf("mode %s: the weight is action %d, the stop %d", mode, low, stopped)
		}
	}
}

// Who shares is under no quota, but for the moment in which a driver exits: it would take
// that driver's core, and so would a stage that is granted all that there is.
func TestThoseWhoShareLeaveACoreToADriverThatExits(t *testing.T) {
	for _, capped := range []units.Cores{0, 0.5} {
		w := newWorld(t, testConfig(2))
		a, b := planApp(appA, 2, ids("1")), shared(appB, "")
		b.Cap = capped
		a.Launch.DriverURL = driverHere
		w.ready(1, a, b)
		w.exec(Key{appB, "1"}).submit(0, 1000, 7)
		w.ticks(6)
		usual := w.quota(appB, "1")
		w.apply(plan(2, b))
		want := units.Cores(1)
		if capped > 0 {
			want = capped
		}
		for range 2 {
			if got := w.quota(appB, "1"); got != want {
				t.Errorf("cap %v: a quota of %v while the driver exits, want %v", capped, got, want)
			}
			w.ticks(2)
		}
		w.ticks(6)
		if got := w.quota(appB, "1"); got != usual || usual.IsUnlimited() != (capped == 0) {
			t.Errorf("cap %v: a quota of %v when it is gone, %v before", capped, got, usual)
		}
	}
	w := newWorld(t, testConfig(2))
	a, b := planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1"))
	a.Launch.DriverURL = driverHere
	w.ready(1, a, b)
	w.exec(Key{appB, "1"}).submit(0, 1000, 7)
	b.Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Second, 2)}
	w.apply(plan(2, a, b))
	w.ticks(2)
	w.apply(plan(3, b))
	if got := w.quota(appB, "1"); got != 1 {
		t.Errorf("a stage that needs all cores has a quota of %v while a driver exits, want 1", got)
	}
}

// A stage that waits for its driver keeps a core for that from those that come after its
// application, for 3 s; from those that come before it, and where the driver is elsewhere, it
// keeps nothing.
func TestAStageThatWaitsForItsDriverKeepsACoreForIt(t *testing.T) {
	for _, c := range []struct {
		why    string
		driver string
		due    units.Seconds
		shares bool // Those that run do.
		want   units.Cores
	}{
		{"it is due first", driverHere, 50, false, 1},
		{"the others have no deadline", driverHere, 50, true, 1},
		{"it is due last", driverHere, 500, false, units.Unlimited},
		{"its driver is elsewhere", driverElsewhere, 50, false, units.Unlimited},
	} {
		w := newWorld(t, testConfig(2))
		a, b := planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1"))
		if c.shares {
			b = shared(appB, "")
		}
		a.Launch.DriverURL, a.Remaining = c.driver, c.due
		w.ready(1, a, b)
		stage := w.exec(Key{appA, "1"}).submit(0, 4, 0.05)
		w.exec(Key{appB, "1"}).submit(0, 1000, 7)
		a.Stages = []api.StageTarget{target(0, "1", 4, 0.2, time.Second, 2)}
		if !c.shares {
			b.Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Second, 2)}
		}
		w.apply(plan(2, a, b))
		w.ticks(8)
		if stage.end == 0 {
			t.Fatalf("%s: its stage has not ended", c.why)
		}
		a.Stages = nil // The next one is not there.
		w.apply(plan(3, a, b))
		w.ticks(1)
		if got := w.quota(appB, "1"); got != c.want && !(c.want.IsUnlimited() && got > 1.5) {
			t.Errorf("%s: the other one has a quota of %v, want %v", c.why, got, c.want)
		}
		w.ticks(8)
		if got := w.quota(appB, "1"); got < 1.5 {
			t.Errorf("%s: after 4 s the other one has a quota of %v", c.why, got)
		}
	}
}

// One whose deadline has passed, and that only now, has no target any more and keeps its place
// before those that are due later.
func TestOneThatIsLateOnlyNowKeepsItsPlace(t *testing.T) {
	for _, band := range []api.Band{"", api.BandShared} {
		w := newWorld(t, testConfig(2))
		a, b := planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1"))
		w.ready(1, a, b)
		w.exec(Key{appA, "1"}).submit(0, 1000, 1)
		w.exec(Key{appB, "1"}).submit(0, 1000, 1)
		a.Remaining, a.Band = -1, band
		b.Stages = []api.StageTarget{target(0, "1", 1000, 1000, time.Second, 2)}
		w.apply(plan(2, a, b))
		w.ticks(4)
		if got, yields := w.quota(appB, "1"), band == ""; (got < 0.2) != yields {
			t.Errorf("band %q: the other one has a quota of %v", band, got)
		}
		if q := w.quota(appA, "1"); !q.IsUnlimited() {
			t.Errorf("band %q: it has a quota of %v", band, q)
		}
	}
}
