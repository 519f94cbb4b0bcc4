package node

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/supervisor"
	"github.com/sparkpacer/pacer/units"
)

// drama drives a world with random plans, failures, stale pages, exits, other
// load and restarts. It returns what was done, as text.
func drama(t *rapid.T, check func(w *world)) {
	cfg := testConfig(units.Cores(rapid.SampledFrom([]float64{1, 2, 3.5, 8}).Draw(t, "cores")))
	cfg.Controller.Law = rapid.SampledFrom(controller.Laws()).Draw(t, "law")
	cfg.Supervisor.Strategy = rapid.SampledFrom(supervisor.Strategies()).Draw(t, "strategy")
	cfg.Supervisor.Gamma = rapid.SampledFrom([]float64{0, 1}).Draw(t, "gamma")
	cfg.Meter.Progress = rapid.SampledFrom([]meter.Counted{meter.Tasks, meter.Work}).Draw(t, "progress")
	e, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{tb: t, plant: &plant{cores: float64(cfg.Total), now: units.Instant(time.Second)}, e: e}
	w.do(t, e.Step(w.now, w.sample()))
	epoch, stage := uint64(0), 0
	var apps []api.PlanApp
	for range rapid.IntRange(5, 40).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0, 1:
			epoch++
			apps = drawApps(t, w, apps, &stage)
			w.apply(plan(epoch, apps...))
		case 2:
			w.others = rapid.Float64Range(0, float64(cfg.Total)).Draw(t, "others")
		case 3:
			w.refuse = !w.refuse
		case 4:
			for _, x := range w.execs {
				x.frozen = rapid.Bool().Draw(t, "frozen")
			}
		case 5:
			for _, x := range w.execs {
				if len(x.running) > 0 && rapid.Bool().Draw(t, "fails") {
					x.lose()
				}
				x.exited = x.exited || rapid.IntRange(0, 9).Draw(t, "exits") == 0
			}
		case 6:
			if w.saved != nil {
				w.restart(cfg)
			}
		}
		for range rapid.IntRange(1, 4).Draw(t, "ticks") {
			if rapid.IntRange(0, 9).Draw(t, "late") == 0 {
				w.advance(time.Second)
			}
			w.ticks(1)
			check(w)
		}
	}
}

// drawApps changes the applications of a plan: executors and targets appear and
// go, with work for them.
func drawApps(t *rapid.T, w *world, apps []api.PlanApp, stage *int) []api.PlanApp {
	apps = append([]api.PlanApp(nil), apps...)
	if len(apps) < 3 && rapid.Bool().Draw(t, "more") {
		id := api.AppID("app-" + strconv.Itoa(*stage))
		apps = append(apps, planApp(id, rapid.IntRange(1, 4).Draw(t, "slots"), ids("1", "2")))
	}
	if len(apps) > 0 && rapid.IntRange(0, 4).Draw(t, "fewer") == 0 {
		apps = apps[1:]
	}
	for i := range apps {
		a := &apps[i]
		a.Stages = nil
		for _, id := range a.Executors {
			*stage++
			x := w.exec(Key{a.ID, id})
			if x == nil || rapid.Bool().Draw(t, "idle") {
				continue
			}
			n := rapid.IntRange(1, 30).Draw(t, "tasks")
			cpu := rapid.Float64Range(0.05, 3).Draw(t, "cpu")
			x.submit(*stage, n, cpu)
			d := time.Duration(rapid.Int64Range(-1e9, 30e9).Draw(t, "deadline"))
			target := target(*stage, id, n, float64(n)*cpu*rapid.Float64Range(0, 3).Draw(t, "error"), d,
				units.Cores(rapid.Float64Range(0, 4).Draw(t, "init")))
			a.Stages = append(a.Stages, target)
		}
	}
	return apps
}

func TestGrantsStayWithinTheCapacityAndAboveTheFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drama(t, func(w *world) {
			limit, _ := w.e.Capacity()
			if limit > w.e.roster.cfg.Offered || limit < w.e.roster.cfg.Offered*units.Cores(w.e.roster.cfg.LeastCapacity)-1e-9 {
				t.Fatalf("capacity %v of %v offered", limit, w.e.roster.cfg.Offered)
			}
			var grants, quotas, floors units.Cores
			n, free := 0, 0
			for _, g := range w.e.Grants(nil) {
				grants += g.Cores
				floors += g.Floor
			}
			for _, a := range w.e.roster.apps {
				for _, c := range a.controls {
					if c.active {
						n++
						held := min(c.x.quota, limit)
						if c.x.free {
							held = c.grant // It has what the others leave, which is at least that.
							free++
						}
						quotas += held
					}
				}
			}
			if grants > limit+1e-9 {
				t.Fatalf("%v granted of %v", float64(grants), float64(limit))
			}
			if quotas > limit+units.Cores(n)*1.5*w.e.roster.cfg.Quantum && !w.refuse {
				t.Fatalf("quotas of %v for %d stages on %v", float64(quotas), n, float64(limit))
			}
			if free > 1 && w.e.division.cfg.Gamma < 1 {
				t.Fatalf("%d stages have no quota", free)
			}
			for _, a := range w.e.roster.apps {
				for _, c := range a.controls {
					if c.active && floors <= limit && c.grant < min(w.e.roster.cfg.Floor, units.Cores(c.runnable()))-1e-9 {
						t.Fatalf("%s has %v of %v cores", c.x.key, float64(c.grant), float64(limit))
					}
					if c.active && c.grant > max(units.Cores(c.runnable())*max(1, c.width.Most), c.target.InitCores).CeilTo(1)+1e-9 {
						t.Fatalf("%s has %v cores for %d tasks", c.x.key, float64(c.grant), c.runnable())
					}
				}
			}
		})
	})
}

func TestWhatIsFinishedOrUnboundIsNotControlled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drama(t, func(w *world) {
			for _, x := range w.e.roster.execs {
				c := x.ctl
				if c != nil && c.active && c.runnable() == 0 {
					t.Fatalf("%s: stage %v is done and controlled", x.key, c.target.StageKey)
				}
				if x.alive() && (c == nil || !c.active) && !x.quota.IsUnlimited() {
					t.Fatalf("%s has a quota of %v without control", x.key, x.quota)
				}
				if x.life.state == api.ExecutorExited && len(x.controls) > 0 {
					t.Fatalf("%s is gone and has targets", x.key)
				}
			}
		})
	})
}

func TestEpochsAndSequencesOnlyGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var epoch, seq uint64
		var engine *Engine
		drama(t, func(w *world) {
			if w.e != engine {
				engine, seq = w.e, 0
			}
			if w.status.Epoch < epoch || (w.status.Seq < seq && seq > 0) {
				t.Fatalf("epoch %d after %d, seq %d after %d", w.status.Epoch, epoch, w.status.Seq, seq)
			}
			epoch = w.status.Epoch
			for _, s := range w.status.Stages {
				if s.CPU < 0 || math.IsNaN(float64(s.Progress)) || s.Progress < 0 || s.Progress > 1 {
					t.Fatalf("%+v", s)
				}
			}
			mustJSON(w, w.status)
		})
	})
}

// recorded is one call of an engine: what came in and what went out.
type recorded struct {
	now     units.Instant
	sample  *Sample
	plan    *api.Plan
	actions string
}

func describe(t tb, actions []Action, events []Event) string {
	s := ""
	for _, a := range actions {
		s += a.Kind.String() + " " + a.Key.String() + " " + strconv.FormatFloat(float64(a.Cores), 'g', -1, 64) + " " + a.Weight.String()
		if a.State != nil {
			s += string(mustJSON(t, a.State))
		}
		if a.Status != nil {
			s += string(mustJSON(t, a.Status))
		}
		s += "\n"
	}
	for _, e := range events {
		s += e.String() + "\n"
	}
	return s
}

func TestReplayingSamplesGivesTheSameActions(t *testing.T) {
	cfg := testConfig(2)
	w := newWorld(t, cfg)
	e, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.e = e
	var tape []recorded
	step := func() {
		s := w.sample()
		for i := range s.Executors {
			s.Executors[i].Page.Stages = append([]meter.Stage(nil), s.Executors[i].Page.Stages...)
			s.Executors[i].Page.Tasks = append([]meter.Task(nil), s.Executors[i].Page.Tasks...)
		}
		actions := e.Step(w.now, s)
		tape = append(tape, recorded{w.now, s, nil, describe(t, actions, e.Events())})
		w.do(t, actions)
		w.advance(cfg.Interval)
	}
	apply := func(p api.Plan) {
		actions := e.Apply(w.now, p)
		tape = append(tape, recorded{w.now, nil, &p, describe(t, actions, e.Events())})
		w.do(t, actions)
	}
	step()
	apply(plan(1, planApp(appA, 2, ids("1", "2")), planApp(appB, 2, ids("1"))))
	step()
	step()
	w.exec(Key{appA, "1"}).submit(0, 20, 1)
	w.exec(Key{appA, "2"}).submit(1, 10, 0.5)
	w.exec(Key{appB, "1"}).submit(0, 30, 0.3)
	apply(plan(2, planApp(appA, 2, ids("1", "2"), target(0, "1", 20, 20, 15*time.Second, 1.35), target(1, "2", 10, 5, 9*time.Second, 0.6)),
		planApp(appB, 2, ids("1"), target(0, "1", 30, 9, 12*time.Second, 0.75))))
	for range 30 {
		step()
	}
	apply(plan(3, planApp(appA, 2, ids("1", "2"))))
	step()

	for run := range 3 {
		again, err := New(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range tape {
			var actions []Action
			if r.plan != nil {
				actions = again.Apply(r.now, *r.plan)
			} else {
				actions = again.Step(r.now, r.sample)
			}
			if d := cmp.Diff(r.actions, describe(t, actions, again.Events())); d != "" {
				t.Fatalf("run %d, call %d: %s", run, i, d)
			}
		}
	}
}
