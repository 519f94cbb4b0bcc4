package node

import (
	"math"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// The least cores that a Plan gives an application are those of one moment. What has been
// used since is needed no more, and what has not been is needed in less time: also after a
// Plan that says nothing new, and after a restart.
func TestTheLeastCoresFollowWhatIsUsed(t *testing.T) {
	w := newWorld(t, testConfig(4))
	a := planApp(appA, 4, ids("1"))
	a.Least, a.Remaining = 2, 100
	w.ready(1, a)
	w.exec(Key{appA, "1"}).submit(0, 1000, 1)
	a.Stages = []api.StageTarget{target(0, "1", 1000, 1000, 1000*time.Second, 1)}
	a.Remaining = units.FromDuration(100*time.Second - w.now.Sub(0))
	w.apply(plan(2, a))
	start, used := w.now, w.exec(Key{appA, "1"}).cpu
	need := 2 * float64(a.Remaining)
	check := func(when string) {
		t.Helper()
		left := float64(a.Remaining) - w.now.Sub(start).Seconds()
		want := (need - (w.exec(Key{appA, "1"}).cpu - used)) / left
		if got := float64(w.e.roster.apps[0].least(w.now)); math.Abs(got-want) > 0.02 {
			t.Errorf("%s it needs %.3f cores, want %.3f", when, got, want)
		}
	}
	w.ticks(20)
	check("after ten seconds at one core")
	again := a
	again.Remaining -= units.FromDuration(w.now.Sub(start))
	w.apply(plan(3, again))
	w.ticks(20)
	check("after a Plan that says nothing new")
	w.restart(testConfig(4))
	w.ticks(20)
	check("after a restart")
	again.Least, again.Remaining = 3, a.Remaining-units.FromDuration(w.now.Sub(start))
	w.apply(plan(4, again))
	if got := w.e.roster.apps[0].least(w.now); math.Abs(float64(got)-3) > 1e-6 {
		t.Errorf("it needs %v cores, the Plan says 3", got)
	}
}

// Held back, a stage uses less than its profile has of all cores. What is left of it is taken for
// what it would use at the rate so far, and not given up for what it does not need.
func TestTheLeastCoresFollowWhatAStageTurnsOutToUse(t *testing.T) {
	const predicted, left = 400.0, 400.0 // Core-seconds, of which its tasks use half, and seconds.
	w := newWorld(t, testConfig(4))
	a := planApp(appA, 4, ids("1"))
	w.ready(1, a)
	x := w.exec(Key{appA, "1"})
	x.submit(0, 200, 1)
	s := target(0, "1", 200, 200, left*time.Second, 1)
	s.Work = predicted
	a.Stages, a.Least, a.Remaining = []api.StageTarget{s}, predicted/left, left
	w.apply(plan(2, a))
	start, used := w.now, x.cpu
	for range 4 {
		w.ticks(20)
		u := x.cpu - used
		p := w.e.roster.apps[0].controls[0].meter.Done() / 200
		want := (u + predicted/10) / (p + 0.1) * (1 - p) / (left - w.now.Sub(start).Seconds())
		if got := float64(w.e.roster.apps[0].least(w.now)); math.Abs(got-want) > 0.02 {
			t.Errorf("%.2f done with %.1f core-seconds: it needs %.3f cores, want %.3f", p, u, got, want)
		}
	}
	if p := w.e.roster.apps[0].controls[0].meter.Done() / 200; p < 0.1 {
		t.Errorf("only %.2f of the stage is done", p)
	}
}

// All executors weigh as much as the rest of the machine while one of them has a deadline to
// keep, more once the rest has left too little to them for 5 s, and less otherwise, so that
// drivers have the cores that they need; nothing is written for who is left alone.
func TestTheWeightOfAllExecutors(t *testing.T) {
	for _, c := range []struct {
		name string
		apps []api.PlanApp
		want Weight
	}{
		{"one has a deadline to keep", []api.PlanApp{shared("app-x", ""), planApp(appA, 2, ids("1"))}, rules.Weights.Promised},
		{"none has a deadline", []api.PlanApp{shared("app-x", "")}, rules.Weights.Shared},
		{"one that is late has nobody beside it to yield to", []api.PlanApp{late(appA)}, rules.Weights.Promised},
		{"one that is late yields", []api.PlanApp{late(appA), planApp(appB, 2, nil), planApp("app-idle", 2, ids("2"))}, rules.Weights.Shared},
		{"it is observed", []api.PlanApp{unmanaged(api.ModeObserve)}, sharing.Unset},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, testConfig(2))
			w.ready(1, c.apps...)
			for _, a := range c.apps {
				if a.ID != "app-idle" && len(a.Executors) > 0 {
					w.exec(Key{a.ID, a.Executors[0]}).submit(0, 1000, 7)
				}
			}
			want := func(when string, want Weight) {
				t.Helper()
				if got := w.e.roster.weights.all; got != want {
					t.Errorf("%s all executors have the weight %v, want %v", when, got, want)
				}
			}
			usual := min(c.want, rules.Weights.Even)
			w.ticks(4)
			want("beside drivers", usual)
			w.others = 1
			w.ticks(rules.Weights.Crowded - 3)
			w.others = 0.25 // Executors have all that is to be left to them at least.
			w.ticks(rules.Weights.Crowded)
			want("after a driver's start", usual)
			w.others = 1
			w.ticks(rules.Weights.Crowded - 1)
			want("at the start of a load", usual)
			w.ticks(4)
			want("beside a load", c.want)
			w.others = 0
			w.ticks(8)
			want("when it has gone", usual)
		})
	}
}

// Tasks of short queries have ended at each tick: their executor keeps the weight of its class all the same, and so do all
// executors together.
func TestShortQueriesKeepTheirWeight(t *testing.T) {
	w := newWorld(t, testConfig(2))
	w.ready(1, shared(appA, api.ClassInteractive))
	x := w.exec(Key{appA, "1"})
	for query := range 20 {
		x.submit(query, 1, 0.05)
		w.ticks(1)
		if n := w.e.roster.execs[0].running(); n != 0 {
			t.Fatalf("query %d: %d tasks run at the tick", query, n)
		}
		if want := Weight(api.ClassInteractive.Weight()); x.weight != want {
			t.Fatalf("query %d runs with weight %v, want %v", query, x.weight, want)
		}
	}
	w.ticks(5)
	if x.weight != rules.Weights.Low {
		t.Errorf("with no query for a while: weight %v", x.weight)
	}
}

// The weight of all executors rises by steps, and does not fall between two stages.
func TestTheWeightOfAllExecutorsRisesBySteps(t *testing.T) {
	w := newWorld(t, testConfig(2))
	a, b := planApp(appA, 2, ids("1")), shared(appB, "")
	w.ready(1, a, b)
	w.exec(Key{appB, "1"}).submit(0, 1000, 7)
	all := &w.e.roster.weights.all
	w.ticks(2)
	if *all != rules.Weights.Shared {
		t.Fatalf("%v while none has a deadline to keep", *all)
	}
	for stage, want := range [][]Weight{{0.35, 0.5, 0.71, 1, 1}, {1, 1, 1}} {
		x := w.exec(Key{appA, "1"})
		x.submit(stage, 1000, 7)
		for i, want := range want {
			if w.ticks(1); math.Abs(float64(*all-want)) > 0.01 {
				t.Errorf("stage %d: %v after %d ticks, want %v", stage, *all, i+1, want)
			}
		}
		x.queue, x.running = nil, nil
		w.ticks(2)
		if *all != rules.Weights.Even {
			t.Errorf("%v between two stages", *all)
		}
	}
	w.ticks(int(rules.Weights.Rest / w.e.roster.cfg.Interval))
	if *all != rules.Weights.Shared {
		t.Errorf("%v after the last stage", *all)
	}
}

// Executors start with the weight of those that work, and not with what was left behind.
func TestTheWeightOfExecutorsThatStart(t *testing.T) {
	for _, c := range []struct {
		app  api.PlanApp
		want Weight
	}{
		{planApp(appA, 2, ids("1")), rules.Weights.Even},
		{shared(appA, ""), rules.Weights.Shared},
		{late(appA), rules.Weights.Even},
		{unmanaged(api.ModeObserve), sharing.Unset},
	} {
		w := newWorld(t, testConfig(2))
		w.apply(plan(1, c.app))
		tick := func() {
			w.advance(w.e.roster.cfg.Interval)
			s := w.sample()
			s.Executors[0].Page = meter.Page{} // Its JVM has not made one.
			w.do(w, w.e.Step(w.now, s))
		}
		tick()
		if got := w.e.roster.weights.all; got != c.want {
			t.Errorf("%s, deadline %v: a weight of %v at its start, want %v", c.app.Launch.Mode, c.app.HasDeadline, got, c.want)
		}
		w.e.roster.weights.all = rules.Weights.Promised
		tick()
		if got := w.e.roster.weights.all; c.want != sharing.Unset && got != c.want {
			t.Errorf("%s, deadline %v: a weight of %v at its start after others, want %v", c.app.Launch.Mode, c.app.HasDeadline, got, c.want)
		}
	}
}

// late is planApp of an application whose deadline has passed.
func late(id api.AppID) api.PlanApp {
	p := planApp(id, 2, ids("1"))
	p.Band, p.Remaining = api.BandShared, -1
	return p
}
