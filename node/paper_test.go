package node

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// Equations and sections are those of the xSpark paper; decisions are the ones that correct
// it (docs/decisions).

func TestEq7InitialCoresAreInForceWhenThePlanArrives(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.ready(1, planApp(appA, 4, ids("1")))
	actions := w.apply(plan(2, planApp(appA, 4, ids("1"), target(0, "1", 20, 20, 16*time.Second, 1.25))))
	if got := w.quota(appA, "1"); got != 1.25 {
		t.Errorf("quota %v, want Eq 7's 1.25", got)
	}
	if actions[0].Kind != ActSetQuota {
		t.Errorf("the first action is %v, the quota is urgent", actions[0].Kind)
	}
}

func TestEq7GoesThroughTheSupervisor(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1", "2")))
	w.apply(plan(2, planApp(appA, 2, ids("1", "2"), target(0, "1", 20, 20, 10*time.Second, 1.6), target(1, "2", 20, 20, 10*time.Second, 1.6))))
	if a, b := w.quota(appA, "1"), w.quota(appA, "2"); a != 1 || b != 1 {
		t.Errorf("quotas %v and %v, want 1 each of the node's 2", a, b)
	}
}

func TestEq18StepsOncePerPageAtItsTimestamp(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1")))
	w.advance(70 * time.Millisecond) // Pages are 70 ms old at each tick from now on.
	x := w.exec(Key{appA, "1"})
	x.overhead = 0.4 // So that there is an error.
	x.submit(0, 20, 1)
	w.apply(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 20*time.Second, 1))))
	w.ticks(4)
	c := w.e.roster.apps[0].controls[0]
	before := c.law.State()
	if w.now.Sub(x.page.At) != 70*time.Millisecond || before.At != x.page.At {
		t.Errorf("error taken at %v, the page says %v", before.At, x.page.At)
	}
	ramp := x.page.At.Sub(c.start).Seconds() / 20
	if math.Abs(float64(before.Output.SetPoint)-ramp) > 1e-9 {
		t.Errorf("set point %v, want %v at the page's timestamp", before.Output.SetPoint, ramp)
	}
	x.frozen = true
	w.ticks(1)
	if after := c.law.State(); after != before {
		t.Errorf("a page seen twice changed the controller:\n%+v\n%+v", before, after)
	}
	x.frozen = false
	w.ticks(1)
	// Eq 18 over the second that passed: 2 (1-a) e(k-1).
	after := c.law.State()
	want := before.XC + 2*(1-before.A)*before.Error
	if math.Abs(before.Error) < 0.5 || math.Abs(after.XC-want) > 1e-6 {
		t.Errorf("xC %v, want %v (error %v): the step integrates the real interval", after.XC, want, before.Error)
	}
}

func TestEq19AfterACutUsesTheGrantBeforeRounding(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1", "2")))
	w.exec(Key{appA, "1"}).submit(0, 40, 1)
	w.exec(Key{appA, "2"}).submit(1, 40, 1)
	// Together they would need 8 cores.
	w.apply(plan(2, planApp(appA, 2, ids("1", "2"), target(0, "1", 40, 40, 10*time.Second, 2), target(1, "2", 40, 40, 10*time.Second, 2))))
	for range 6 {
		w.ticks(1)
		for _, c := range w.e.roster.apps[0].controls {
			s := c.law.State()
			if c.grant >= c.request {
				t.Fatalf("grant %v of %v: the test needs a cut", c.grant, c.request)
			}
			if math.Abs(float64(s.Granted-c.grant)) > 1e-12 {
				t.Errorf("the controller was told %v, granted %v", float64(s.Granted), float64(c.grant))
			}
			if xc := float64(c.grant)/s.K - s.Error; math.Abs(s.XC-xc) > 1e-9 {
				t.Errorf("xC %v, Eq 19 says %v", s.XC, xc)
			}
		}
	}
}

func TestSection5AfterTheSetPointEndsTheStageGetsAllItCanUse(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.ready(1, planApp(appA, 4, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 3, 30)
	w.apply(plan(2, planApp(appA, 4, ids("1"), target(0, "1", 3, 9, 3*time.Second, 0.5))))
	w.ticks(8)
	if got := w.quota(appA, "1"); got != 3 {
		t.Errorf("quota %v after the deadline, want 3: as many as tasks", got)
	}
}

func TestADeadlineThatHasPassedMeansAllCores(t *testing.T) {
	w := newWorld(t, testConfig(4))
	w.ready(1, planApp(appA, 4, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 40, 1)
	w.apply(plan(2, planApp(appA, 4, ids("1"), target(0, "1", 40, 40, -time.Second, 0))))
	w.ticks(3)
	if got := w.quota(appA, "1"); !got.IsUnlimited() {
		t.Errorf("quota %v, want none", got)
	}
}

func TestDecision1QuotaMovesOnlyByAQuantumAndKeepsTheRemainder(t *testing.T) {
	e, err := New(testConfig(4), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &executor{quota: 1}
	for _, c := range []struct{ grant, quota, rest units.Cores }{
		{1.049, 1, 0},           // Less than a quantum away.
		{1.07, 1.05, 0.02},      // 0.02 is withheld,
		{1.108, 1.15, -0.022},   // and given back.
		{4, units.Unlimited, 0}, // The whole capacity.
		{3.96, units.Unlimited, 0},
		{3.94, 3.95, -0.01},
		{0.01, 0.05, -0.05}, // Never less than a quantum.
	} {
		quota, rest := e.roster.round(x, c.grant, 4)
		if math.Abs(float64(quota-c.quota)) > 1e-9 && quota != c.quota {
			t.Errorf("grant %v over %v: quota %v, want %v", c.grant, x.quota, quota, c.quota)
		}
		if math.Abs(float64(rest-c.rest)) > 0.026 {
			t.Errorf("grant %v: remainder %v, want %v", float64(c.grant), float64(rest), float64(c.rest))
		}
		x.quota, x.remainder = quota, rest
	}
}

func TestDecision2FloorAndWeights(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1", "2")))
	w.exec(Key{appA, "1"}).submit(0, 1000, 0.01)
	// An hour for ten core-seconds: the law would ask for next to nothing.
	w.apply(plan(2, planApp(appA, 2, ids("1", "2"), target(0, "1", 1000, 10, time.Hour, 0.05))))
	w.ticks(10)
	if got := w.quota(appA, "1"); got != 0.1 {
		t.Errorf("quota %v, want the floor of 0.10", got)
	}
	if a, b := w.exec(Key{appA, "1"}).weight, w.exec(Key{appA, "2"}).weight; a != sharing.Normal || b != rules.Weights.Low {
		t.Errorf("weights %v and %v, want normal for the bound one, low for the other", a, b)
	}
	if got := w.quota(appA, "2"); !got.IsUnlimited() {
		t.Errorf("the unbound executor has quota %v", got)
	}
}

func TestDecision3TheEarlierApplicationIsServedFirst(t *testing.T) {
	w := newWorld(t, testConfig(2))
	a := planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.5))
	b := planApp(appB, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.5))
	a.Remaining, b.Remaining = 90, 30
	w.ready(1, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1")))
	w.apply(plan(2, a, b))
	if first, second := w.quota(appB, "1"), w.quota(appA, "1"); first != 1.5 || second != 0.5 {
		t.Errorf("quotas %v and %v, want EDF's 1.5 and 0.5", first, second)
	}
}

// Sec 6.2, Speed: the rates are the applications', not those of the stages that
// happen to be here.
func TestSpeedDividesByTheRatesOfThePlan(t *testing.T) {
	cfg := testConfig(2)
	cfg.Supervisor.Strategy = supervisor.Speed
	w := newWorld(t, cfg)
	a := planApp(appA, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.9))
	b := planApp(appB, 2, ids("1"), target(0, "1", 20, 20, 10*time.Second, 1.9))
	a.NominalRate, b.NominalRate = 300, 100
	a.Stages[0].Records, b.Stages[0].Records = 2000, 20000 // The other way round.
	w.ready(1, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1")))
	w.apply(plan(2, a, b))
	// The floors of 0.1 apart, one part for A and three for B.
	if first, second := w.quota(appA, "1"), w.quota(appB, "1"); math.Abs(float64(first-0.55)) > 1e-9 || math.Abs(float64(second-1.45)) > 1e-9 {
		t.Errorf("quotas %v and %v, want 0.55 and 1.45", first, second)
	}
	a.NominalRate, b.NominalRate = 0, 0
	w.apply(plan(3, a, b))
	if first, second := w.quota(appA, "1"), w.quota(appB, "1"); !(first > second+1) {
		t.Errorf("quotas %v and %v, want by the stages' rates, 100 and 1000, where the plan tells none", first, second)
	}
}

func TestDecision4AnAnchorStaysWithItsRev(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, planApp(appA, 2, ids("1")))
	w.exec(Key{appA, "1"}).submit(0, 40, 1)
	first := target(0, "1", 40, 40, 30*time.Second, 1.35)
	w.apply(plan(2, planApp(appA, 2, ids("1"), first)))
	deadline := w.e.roster.apps[0].controls[0].deadline
	w.ticks(4)
	w.apply(plan(3, planApp(appA, 2, ids("1"), first)))
	if got := w.e.roster.apps[0].controls[0].deadline; got != deadline {
		t.Errorf("the deadline moved by %v with the same Rev", got.Sub(deadline))
	}
	second := first
	second.Rev, second.Remaining = 2, 60
	quota := w.quota(appA, "1")
	w.apply(plan(4, planApp(appA, 2, ids("1"), second)))
	c := w.e.roster.apps[0].controls[0]
	if want := w.now.Add(time.Minute); c.deadline != want {
		t.Errorf("a new Rev's deadline is %v off", c.deadline.Sub(want))
	}
	if c.from <= 0 || c.from != c.meter.Done() {
		t.Errorf("the ramp starts at %v, done is %v", c.from, c.meter.Done())
	}
	if got := w.quota(appA, "1"); got != quota {
		t.Errorf("quota jumped from %v to %v with the new Rev", quota, got)
	}
}

func TestDecision8OthersTakeFromTheCapacitySlowlyAndNeverAll(t *testing.T) {
	cfg := testConfig(4)
	cfg.LeastCapacity = 0.5
	c := newCapacity(cfg)
	host := units.Work(100)
	c.observe(host, usage{}, 0)
	tick := func(others, ours units.Work) units.Cores {
		host += (others + ours) / 2
		c.observe(host, usage{ours: ours / 2}, 500*time.Millisecond)
		return c.cores()
	}
	if got := tick(0, 3); got != 4 {
		t.Errorf("our own use took the capacity to %v", got)
	}
	if got := tick(4, 0); got < 3 {
		t.Errorf("one noisy tick took the capacity to %v", got)
	}
	for range 40 {
		tick(1, 2)
	}
	if got := c.cores(); math.Abs(float64(got-3)) > 0.01 {
		t.Errorf("capacity %v with one core used by others, want 3", got)
	}
	for range 40 {
		tick(4, 0)
	}
	if got := c.cores(); got != 2 {
		t.Errorf("capacity %v with everything used by others, want the least: 2", got)
	}
}
