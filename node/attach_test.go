package node

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/supervisor"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

// attaching is the configuration of a node that finds executors.
func attaching(cores units.Cores) Config {
	cfg := testConfig(cores)
	cfg.Hosts = []string{"127.0.0.1", "localhost"}
	return cfg
}

func attachedApp(id api.AppID, slots int, executors []api.ExecutorID, targets ...api.StageTarget) api.PlanApp {
	a := planApp(id, slots, executors, targets...)
	a.Launch.Attach = &api.Attach{Manager: api.ManagerYARN, App: "application_1_0001"}
	return a
}

// held is an application with a target on an executor that was found with that ceiling.
func held(t *testing.T, found Found) (*world, *simExec) {
	t.Helper()
	w := newWorld(t, attaching(4))
	w.ready(1, attachedApp(appA, 4, ids("1")))
	x := w.exec(Key{appA, "1"})
	x.found, x.hidden = found, false
	w.ticks(2)
	x.submit(0, 60, 1)
	w.apply(plan(2, attachedApp(appA, 4, ids("1"), target(0, "1", 60, 60, 60*time.Second, 1))))
	w.ticks(6)
	return w, x
}

func TestAnExecutorOfAnotherManagerIsSoughtAndThenHeld(t *testing.T) {
	w := newWorld(t, attaching(4))
	w.ready(1, attachedApp(appA, 4, ids("1", "2")))
	if len(w.starts) != 2 || len(w.status.Executors) != 2 || w.status.Executors[0].State != api.ExecutorStarting {
		t.Fatalf("started %v, status %+v", w.starts, w.status.Executors)
	}
	if !w.status.Attach || len(w.status.Hosts) != 2 {
		t.Errorf("attach %v, hosts %v", w.status.Attach, w.status.Hosts)
	}
	w.ticks(200) // However long that takes.
	if len(w.starts) != 2 || w.sawEvent(EventExecutorExited) {
		t.Errorf("started %v", w.starts)
	}
	x := w.exec(Key{appA, "1"})
	x.cpu, x.hidden, x.found = 1000, false, Found{Ceiling: 1.5, Unguarded: true}
	w.ticks(1)
	if !w.sawEvent(EventExecutorFound) {
		t.Errorf("events %v", w.e.Events())
	}
	w.ticks(2)
	for i, want := range []api.ExecutorState{api.ExecutorRunning, api.ExecutorStarting} {
		if got := w.status.Executors[i].State; got != want {
			t.Errorf("executor %d is %s, want %s", i+1, got, want)
		}
	}
	if s := w.status.Executors[0]; s.Ceiling != 1.5 || !s.Unguarded {
		t.Errorf("status %+v", s)
	}
	// What it used before is nobody's work.
	if d := w.e.roster.index[Key{appA, "1"}].seen.delta; d > 1 {
		t.Errorf("%v core-seconds in a tick", d)
	}
	// The Plan drops both: they are let go, and nobody starts them again.
	w.apply(plan(2))
	w.ticks(30)
	if len(w.stops) < 2 || len(w.e.roster.execs) != 0 || len(w.starts) != 2 {
		t.Errorf("let go %v, %d are left", w.stops, len(w.e.roster.execs))
	}
}

func TestWhatItsManagerWritesIsNoConflict(t *testing.T) {
	w, x := held(t, Found{Ceiling: 3})
	if x.quota.IsUnlimited() {
		t.Fatal("it has no quota")
	}
	x.found.Ceiling, x.quota, x.writer = 0.5, units.Unlimited, "java (process 7)"
	w.ticks(1)
	if w.sawEvent(EventQuotaConflict) || w.e.Counters().Conflicts > 0 {
		t.Errorf("events %v", w.e.Events())
	}
	w.ticks(2)
	if c := w.e.roster.index[x.key].ctl; c.request > 0.5 || !x.quota.IsUnlimited() && x.quota > 0.5 {
		t.Errorf("request %v, quota %v, of a ceiling of 0.5", c.request, x.quota)
	}
	x.found.Ceiling = 2
	w.ticks(4)
	if x.quota.IsUnlimited() || x.quota < 0.5 || w.status.Executors[0].Ceiling != 2 {
		t.Errorf("quota %v, status %+v", x.quota, w.status.Executors[0])
	}
}

func TestWhatCannotBeBoundedIsObserved(t *testing.T) {
	w, x := held(t, Found{Unpaced: "its pod has CPUs of its own"})
	if w.writes > 0 || !x.quota.IsUnlimited() {
		t.Errorf("%d writes, quota %v", w.writes, x.quota)
	}
	if s := w.status.Executors[0]; s.Unpaced == "" || s.State != api.ExecutorRunning {
		t.Errorf("status %+v", s)
	}
}

func TestARefusedPageIsToldAndTheCapHolds(t *testing.T) {
	w := newWorld(t, attaching(4))
	a := attachedApp(appA, 4, ids("1"))
	a.Cap = 0.5
	w.ready(1, a)
	x := w.exec(Key{appA, "1"})
	x.hidden, x.frozen, x.found = false, true, Found{Ceiling: 3, Page: "it is a link"}
	w.ticks(3)
	if s := w.status.Executors[0]; s.Unpaced != "it is a link" || x.quota != 0.5 {
		t.Errorf("status %+v, quota %v", s, x.quota)
	}
}

func TestARestartSeeksAnewAndGoesOn(t *testing.T) {
	w, x := held(t, Found{Ceiling: 3})
	quota, writes := x.quota, w.writes
	w.add(Key{appA, "2"}, 4).hidden = true
	w.apply(plan(3, attachedApp(appA, 4, ids("1", "2"), target(0, "1", 60, 60, 60*time.Second, 1))))
	w.ticks(1)
	w.starts = nil
	w.restart(attaching(4))
	w.ticks(1)
	if x.quota < quota-0.1 || x.quota > quota+0.1 || w.writes > writes+2 {
		t.Errorf("quota %v, before %v", x.quota, quota)
	}
	if len(w.starts) != 1 || w.starts[0].ID != "2" {
		t.Errorf("sought %v", w.starts)
	}
	if w.sawEvent(EventExecutorExited) {
		t.Errorf("events %v", w.e.Events())
	}
}

// Whatever happens: each quota lies between floor and ceiling, no weight is written, an executor is
// let go only where the Plan drops it, and what was found is in force when the node controller ends.
func TestAttachedExecutorsAreBoundedAndNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := attaching(units.Cores(rapid.SampledFrom([]float64{1, 2, 8}).Draw(t, "cores")))
		cfg.Controller.Law = rapid.SampledFrom(controller.Laws()).Draw(t, "law")
		cfg.Supervisor.Strategy = rapid.SampledFrom(supervisor.Strategies()).Draw(t, "strategy")
		cfg.Supervisor.Gamma = rapid.SampledFrom([]float64{0, 1}).Draw(t, "gamma")
		e, err := New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{tb: t, plant: &plant{cores: float64(cfg.Total), now: units.Instant(time.Second)}, e: e}
		w.do(t, e.Step(w.now, w.sample()))
		check := func(actions []Action) {
			for _, a := range actions {
				x := w.exec(a.Key)
				switch a.Kind {
				case ActSetWeight:
					t.Fatalf("weight of %s", a.Key)
				case ActSetQuota:
					if a.Cores.IsUnlimited() {
						continue
					}
					least := min(cfg.Floor, units.Cores(max(1, len(x.running))))
					if most := x.found.Ceiling; most > 0 {
						least = min(least, most)
						if a.Cores > most {
							t.Fatalf("quota %v of a ceiling of %v", a.Cores, most)
						}
					}
					if a.Cores < least-cfg.Quantum-1e-9 || x.found.Unpaced != "" {
						t.Fatalf("quota %v, floor %v, found %+v", a.Cores, least, x.found)
					}
				case ActStop:
					for _, app := range w.e.roster.apps {
						for _, y := range app.executors {
							if y.key == a.Key && app.plan.ID == a.Key.App {
								t.Fatalf("%s is let go, and the Plan has it", a.Key)
							}
						}
					}
				}
			}
		}
		epoch, stage := uint64(0), 0
		var apps []api.PlanApp
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			for _, x := range w.execs {
				x.hidden = x.hidden && rapid.Bool().Draw(t, "still sought")
			}
			switch rapid.IntRange(0, 8).Draw(t, "what") {
			case 0, 1, 2, 3:
				epoch++
				apps = drawApps(t, w, apps, &stage)
				for i := range apps {
					apps[i].Launch.Attach = &api.Attach{Manager: api.ManagerYARN, App: "a"}
				}
				check(w.apply(plan(epoch, apps...)))
			case 4:
				for _, x := range w.execs {
					if rapid.Bool().Draw(t, "resized") {
						x.found.Ceiling = units.Cores(rapid.SampledFrom([]float64{0, 0.2, 1, 4}).Draw(t, "ceiling"))
						x.quota = units.Unlimited
					}
				}
			case 5:
				w.refuse = !w.refuse
			case 6:
				for _, x := range w.execs {
					x.frozen = rapid.Bool().Draw(t, "frozen")
					x.exited = x.exited || rapid.IntRange(0, 9).Draw(t, "exits") == 0
				}
			case 7:
				if w.saved != nil {
					w.restart(cfg)
				}
			case 8:
				w.others = rapid.Float64Range(0, float64(cfg.Total)).Draw(t, "others")
			}
			for range rapid.IntRange(1, 4).Draw(t, "ticks") {
				check(w.tick(t, w.e))
			}
		}
		w.refuse = false
		w.tick(t, w.e)
		w.do(t, w.e.Shutdown(w.now, Leave))
		for _, x := range w.execs {
			if !x.hidden && !x.exited && !x.quota.IsUnlimited() {
				t.Fatalf("%s has a quota of %v in the end", x.key, x.quota)
			}
		}
	})
}

// Between two node controllers a guard lets it go: what it is counted by then begins anew.
func TestAnExecutorThatIsFoundAgainIsCountedAnew(t *testing.T) {
	w, x := held(t, Found{Ceiling: 3})
	x.cpu = 0.5
	w.restart(attaching(4))
	w.ticks(3)
	if w.sawEvent(EventSampleRefused) || w.e.Counters().SamplesRefused > 0 {
		t.Errorf("events %v", w.e.Events())
	}
	if s := w.status.Executors[0]; s.CPU < 0.5 || s.CPU > 8 {
		t.Errorf("it has used %v", s.CPU)
	}
}
