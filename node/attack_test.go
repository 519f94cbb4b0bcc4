package node

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// Each test here is a way in which one application tries to spoil what a node and its planner say to each other, which
// speaks for all that run there.

// busPayload is what the bus takes of a message (bus.MaxPayload).
const busPayload = 8 << 20

// travels returns the status as the planner reads it, and checks that it takes all of it.
func (w *world) travels(t tb) (s api.NodeStatus) {
	t.Helper()
	body := mustJSON(t, w.status)
	if len(body) > busPayload {
		t.Fatal(fmt.Sprintf("the status has %d bytes", len(body)))
	}
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(fmt.Sprintf("the planner refuses the status: %.300v", err))
	}
	return s
}

// told is what the status says of an executor and its stages.
func told(t tb, s api.NodeStatus, key Key) (x api.ExecutorStatus, stages []api.StageStatus) {
	t.Helper()
	i := slices.IndexFunc(s.Executors, func(x api.ExecutorStatus) bool { return x.App == key.App && x.ID == key.ID })
	if i < 0 {
		t.Fatal(fmt.Sprintf("the status does not tell of %s", key))
	}
	for _, x := range s.Stages {
		if x.App == key.App && x.Executor == key.ID {
			stages = append(stages, x)
		}
	}
	return s.Executors[i], stages
}

// beside is a world of two applications that have a stage under control for some seconds each.
func beside(t tb) *world {
	t.Helper()
	cfg := testConfig(4)
	cfg.Controller.Law = controller.LawPI
	w := newWorld(t, cfg)
	w.ready(1, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1")))
	for _, id := range []api.AppID{appA, appB} {
		w.exec(Key{id, "1"}).submit(0, 40, 1)
	}
	w.apply(plan(2, planApp(appA, 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1)),
		planApp(appB, 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1))))
	w.ticks(6)
	return w
}

// goesOn checks that appB's executor is told of as if it were alone.
func goesOn(t *testing.T, w *world) {
	t.Helper()
	x, stages := told(t, w.travels(t), Key{appB, "1"})
	if x.State != api.ExecutorRunning || x.Stale || len(stages) != 1 || stages[0].Progress <= 0 || stages[0].Finished == 0 {
		t.Errorf("the other application: %+v, %+v", x, stages)
	}
}

func TestAttackByThePage(t *testing.T) {
	stage := func(key api.StageKey, running int) func(*meter.Page) {
		return func(p *meter.Page) { p.Stages = append(p.Stages, meter.Stage{Key: key, Running: running}) }
	}
	for name, spoil := range map[string]func(*meter.Page){
		"stage -1":           stage(api.StageKey{Stage: -1}, 1),
		"stage 2^40":         stage(api.StageKey{Stage: 1 << 40}, 1),
		"attempt -1":         stage(api.StageKey{Attempt: -1}, 1),
		"attempt 2^31":       stage(api.StageKey{Attempt: 1 << 31}, 1),
		"another's running":  stage(api.StageKey{Stage: 7}, 1<<62),
		"finished 2^40":      func(p *meter.Page) { p.Stages[0].Finished = 1 << 40 },
		"failed 2^40":        func(p *meter.Page) { p.Stages[0].Failed = 1 << 40 },
		"running 2^40":       func(p *meter.Page) { p.Stages[0].Running = 1 << 40 },
		"weight 1e16":        func(p *meter.Page) { p.Stages[0].Weight = 1e16 },
		"records 1e300":      func(p *meter.Page) { p.Stages[0].Records = 1e300 },
		"CPU 1e16":           func(p *meter.Page) { p.Stages[0].CPU = 1e16 },
		"large CPU 1e16":     func(p *meter.Page) { p.Stages[0].LargeCPU = 1e16 },
		"large reading 1e16": func(p *meter.Page) { p.Stages[0].LargeReading = 1e16 },
		"running CPU 1e300":  func(p *meter.Page) { p.Stages[0].RunningCPU = 1e300 },
		"heaviest max":       func(p *meter.Page) { p.Stages[0].Heaviest = math.MaxFloat64 },
		"task of stage -1":   func(p *meter.Page) { p.Tasks = append(p.Tasks, meter.Task{Stage: api.StageKey{Stage: -1}}) },
		"task weighs 1e300":  func(p *meter.Page) { p.Tasks = append(p.Tasks, meter.Task{Weight: 1e300}) },
		"memory at the bound": func(p *meter.Page) {
			const most = api.MostMoved
			p.Memory = meter.Memory{Known: true, Moves: true, Spilled: most, Evicted: most, Storage: most, Execution: most, Owed: most,
				Heap: most, Moving: math.MaxInt64, Met: api.MostCount}
		},
		"memory beyond it": func(p *meter.Page) { p.Memory = meter.Memory{Known: true, Storage: 1 << 60, Execution: 1 << 60} },
		"seventeen stages": func(p *meter.Page) {
			for i := range 17 {
				stage(api.StageKey{Stage: math.MaxInt32 - i}, math.MaxInt32)(p)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := beside(t)
			events := w.spoilt(6, func(s *ExecutorSample) { spoil(&s.Page) })
			goesOn(t, w)
			if taken := name == "memory at the bound" || name == "seventeen stages"; heard(events, EventSampleRefused) == 0 != taken {
				t.Errorf("taken: want %v, events %v", taken, events)
			}
			var saved State
			if err := json.Unmarshal(w.saved, &saved); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAttackByAnExit(t *testing.T) {
	long := strings.Repeat("/a", 2000)
	for name, how := range map[string]string{
		"three long paths": "no Spark 4 in " + long + "; no Java in " + long + " (" + long,
		"a megabyte":       strings.Repeat("x", 1<<20),
		"no characters":    strings.Repeat("\xff", api.MostText),
		"half a character": strings.Repeat("x", api.MostText-2) + "\u20ac\u20ac",
		"a terminal's":     strings.Repeat("\x1b[2J", api.MostText/4),
	} {
		t.Run("it does not start for "+name, func(t *testing.T) {
			w := beside(t)
			w.e.Apply(w.now, plan(3, planApp(appA, 2, ids("1", "2")), planApp(appB, 2, ids("1"))))
			w.failed = []Failure{{ActStart, Key{appA, "2"}, how}}
			w.do(t, w.e.Observe(w.now, w.sample()))
			goesOn(t, w)
			if x, _ := told(t, w.travels(t), Key{appA, "2"}); x.State != api.ExecutorExited || !strings.HasPrefix(x.Exit, "start: ") {
				t.Errorf("%.200v", x)
			}
		})
		t.Run("it ends for "+name, func(t *testing.T) {
			w := beside(t)
			w.spoilt(1, func(s *ExecutorSample) { s.Exited, s.Exit, s.ExitCode, s.Refused = true, how, math.MaxInt64, true })
			goesOn(t, w)
			if x, _ := told(t, w.travels(t), Key{appA, "1"}); x.State != api.ExecutorExited || x.Exit == "" || !x.Refused {
				t.Errorf("%.200v", x)
			}
		})
	}
}

func TestAttackByAnExecutorThatIsFound(t *testing.T) {
	for name, f := range map[string]Found{
		"unpaced for a megabyte": {Unpaced: strings.Repeat("x", 1<<20)},
		"unpaced for no letters": {Unpaced: strings.Repeat("\xfe", api.MostText)},
		"a page of a megabyte":   {Page: strings.Repeat("x", 1<<20)},
		"a ceiling of 1e300":     {Ceiling: 1e300},
		"a ceiling below 0":      {Ceiling: -3},
		"a ceiling of no number": {Ceiling: units.Cores(math.NaN())},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, attaching(4))
			w.ready(1, attachedApp(appA, 2, ids("1")), attachedApp(appB, 2, ids("1")))
			w.exec(Key{appA, "1"}).found, w.exec(Key{appA, "1"}).hidden = f, false
			w.exec(Key{appB, "1"}).found, w.exec(Key{appB, "1"}).hidden = Found{Ceiling: 1.5}, false
			w.ticks(3)
			if x, _ := told(t, w.travels(t), Key{appB, "1"}); x.State != api.ExecutorRunning || x.Ceiling != 1.5 {
				t.Errorf("the other application: %+v", x)
			}
		})
	}
}

func TestAttackByReadingsOfAGroup(t *testing.T) {
	for name, spoil := range map[string]func(*ExecutorSample){
		"CPU 1e300":      func(s *ExecutorSample) { s.CPU = 1e300 },
		"CPU at its end": func(s *ExecutorSample) { s.CPU = api.MostAmount },
		"quota 1e300":    func(s *ExecutorSample) { s.Quota = 1e300 },
		"process -7":     func(s *ExecutorSample) { s.PID = -7 },
		"exit code 2^40": func(s *ExecutorSample) { s.Exited, s.ExitCode = true, 1<<40 },
		"throttled -1":   func(s *ExecutorSample) { s.Throttled = -1 },
		"resident below": func(s *ExecutorSample) {
			s.Memory.Resident, s.Memory.Cache, s.Page.Memory.Known = -1, math.MinInt64, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := beside(t)
			w.spoilt(6, spoil)
			goesOn(t, w)
		})
	}
}

// many is a status of executors that no node can tell of as a whole.
func many(t *testing.T, executors, stages, text int) api.NodeStatus {
	t.Helper()
	w := beside(t)
	s := w.e.Status(w.now)
	var more []api.ExecutorStatus
	for i := range executors {
		more = append(more, api.ExecutorStatus{App: "app-0", ID: api.ExecutorID(fmt.Sprint(i + 1)), State: api.ExecutorExited, Exit: strings.Repeat("\x01", text),
			Quota: api.Unknown})
	}
	s.Executors = append(more, s.Executors...)
	last := s.Stages[len(s.Stages)-1]
	var reports []api.StageStatus
	for i := range stages {
		x := last
		x.App, x.Stage, x.Samples = "app-0", i, slices.Repeat([]api.StageSample{{Age: 0.123456789123, Request: 1.23456789123456, Grant: -1}}, api.MostSamples)
		reports = append(reports, x)
	}
	s.Stages = append(reports, s.Stages...)
	s.Fit()
	w.status = s
	goesOn(t, w)
	return s
}

func TestAttackByNumbers(t *testing.T) {
	for name, c := range map[string]struct{ executors, stages, text int }{
		"more executors than a status has": {2 * api.MostExecutors, 0, 10},
		"more stages than a status has":    {1, 4 * api.MostStageReports, 10},
		"all texts are long":               {api.MostExecutors - 2, 0, api.MostText},
		"all at once":                      {2 * api.MostExecutors, 2 * api.MostStageReports, api.MostText},
	} {
		t.Run(name, func(t *testing.T) {
			if s := many(t, c.executors, c.stages, c.text); len(s.Executors) > api.MostExecutors || len(s.Stages) > api.MostStageReports {
				t.Errorf("%d executors, %d stages", len(s.Executors), len(s.Stages))
			}
		})
	}
}

// No application makes a node work longer for its tasks than they can be many.
func TestAttackByTaskCPUs(t *testing.T) {
	for name, cpus := range map[string]float64{"a thousandth": 1e-3, "a millionth": 1e-6, "next to none": 5e-324, "below 0": -1, "the least": 0.01} {
		t.Run(name, func(t *testing.T) {
			w := beside(t)
			a := planApp(appA, 2, ids("1"), target(0, "1", 4_000_000, 4_000_000, time.Hour, 1))
			a.Launch.TaskCPUs = cpus
			w.apply(plan(3, a, planApp(appB, 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1))))
			w.ticks(2)
			for _, x := range w.e.roster.execs {
				if n := x.room.atOnce; n < 1 || n > x.room.slots {
					t.Errorf("%s: %d tasks at once in %d slots", x.key, n, x.room.slots)
				}
				for _, c := range x.controls {
					if n := len(c.chains); n > x.room.slots {
						t.Errorf("%s: %d chains in %d slots", x.key, n, x.room.slots)
					}
				}
			}
			goesOn(t, w)
		})
	}
}

// faultyPart are ways in which an application's part of a Plan may be faulty.
var faultyPart = map[string]func(*api.PlanApp){
	"a rate of 1e16":        func(a *api.PlanApp) { a.NominalRate = 1e16 },
	"2e15 s left":           func(a *api.PlanApp) { a.Remaining = 2e15 },
	"a cap below 0":         func(a *api.PlanApp) { a.Cap = -1 },
	"a need of 1e300":       func(a *api.PlanApp) { a.Least = 1e300 },
	"too many executors":    func(a *api.PlanApp) { a.Executors = slices.Repeat(a.Executors, api.MostExecutors+1) },
	"too many targets":      func(a *api.PlanApp) { a.Stages = slices.Repeat(a.Stages, api.MostStageReports+1) },
	"an id of two words":    func(a *api.PlanApp) { a.Executors = ids("1", "2 3") },
	"a long band":           func(a *api.PlanApp) { a.Band = api.Band(strings.Repeat("x", api.MostToken+1)) },
	"a long name":           func(a *api.PlanApp) { a.Name = strings.Repeat("x", api.MostName+1) },
	"a launch without heap": func(a *api.PlanApp) { a.Launch = &api.Launch{Heap: -1} },
	"a launch with no end":  func(a *api.PlanApp) { a.Launch = &api.Launch{Cores: 1 << 20} },
	"tasks of next to no CPU": func(a *api.PlanApp) {
		a.Launch = &api.Launch{Cores: 2, TaskCPUs: 1e-6}
	},
}

func TestAttackByAPartOfAPlan(t *testing.T) {
	for name, spoil := range faultyPart {
		t.Run(name, func(t *testing.T) {
			w := beside(t)
			was := w.e.roster.index[Key{appA, "1"}]
			evil := planApp(appA, 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1))
			spoil(&evil)
			refused, next := 0, target(0, "1", 40, 40, 40*time.Second, 1)
			next.Rev = 7
			for epoch := range uint64(3) {
				w.apply(plan(3+epoch, evil, planApp(appB, 2, ids("1", "2"), next)))
				refused += heard(w.e.Events(), EventPartRefused)
			}
			if w.e.roster.plan.Epoch != 5 || refused != 1 {
				t.Errorf("epoch %d, said %d times", w.e.roster.plan.Epoch, refused)
			}
			if !slices.Contains(w.starts, Key{appB, "2"}) || w.e.roster.index[Key{appB, "1"}].target(api.StageKey{}).target.Rev != 7 {
				t.Errorf("the other application has not what its Plan says: %v", w.starts)
			}
			if w.e.roster.index[Key{appA, "1"}] != was || was.target(api.StageKey{}) == nil || len(w.stops) > 0 || len(w.e.roster.orphans) > 0 {
				t.Errorf("it does not go on as it was: stopped %v, orphans %v", w.stops, w.e.roster.orphans)
			}
			w.ticks(2)
			goesOn(t, w)
			// Its end reaches the node all the same.
			p := plan(6, evil, planApp(appB, 2, ids("1", "2"), next))
			p.Over = []api.AppID{appA}
			w.apply(p)
			w.ticks(1)
			if !slices.Contains(w.stops, Key{appA, "1"}) {
				t.Errorf("it is over, and stopped are %v", w.stops)
			}
		})
		t.Run(name+" of one that is new", func(t *testing.T) {
			w := beside(t)
			evil := planApp("app-c", 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1))
			spoil(&evil)
			p := plan(3, planApp(appB, 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1)), evil)
			p.Over = []api.AppID{appA, "no id"}
			w.apply(p)
			w.ticks(1)
			if !slices.Contains(w.stops, Key{appA, "1"}) || w.exec(Key{"app-c", "1"}) != nil {
				t.Errorf("stopped %v, started %v", w.stops, w.starts)
			}
			goesOn(t, w)
		})
	}
}

// A Plan that lacks how one application is started is followed for all others.
func TestAttackByALaunchThatIsMissing(t *testing.T) {
	w := beside(t)
	evil := planApp("app-c", 2, ids("1"))
	evil.Launch = nil
	w.apply(plan(3, planApp(appA, 2, ids("1")), planApp(appB, 2, ids("1", "2")), evil))
	if w.e.roster.plan.Epoch != 3 || heard(w.e.Events(), EventPartRefused) != 1 || !slices.Contains(w.starts, Key{appB, "2"}) {
		t.Errorf("epoch %d, events %v, started %v", w.e.roster.plan.Epoch, w.e.Events(), w.starts)
	}
}

// What cannot be followed as a whole is told once for as long as it lasts.
func TestAttackByAPlanThatComesAgain(t *testing.T) {
	w, said := beside(t), 0
	p := plan(9)
	p.V = 99
	for range 5 {
		w.apply(p)
		said += heard(w.e.Events(), EventPlanRefused)
	}
	if said != 1 || w.e.Counters().Refused != 5 {
		t.Errorf("said %d times, counted %d", said, w.e.Counters().Refused)
	}
	goesOn(t, w)
}
