package node

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/controller"
	"github.com/sparkpacer/pacer/supervisor/sharing"
	"github.com/sparkpacer/pacer/units"
)

// rules are those by which the engines of these tests go.
var rules = sharing.Default()

const appA, appB = api.AppID("app-a"), api.AppID("app-b")

// Drivers on the machine of testConfig, and on another one.
const (
	driverHere      = "spark://CoarseGrainedScheduler@127.0.0.1:40123"
	driverElsewhere = "spark://CoarseGrainedScheduler@10.1.2.3:40123"
)

// tb is what the world needs of a test; a rapid check has it too.
type tb interface {
	Helper()
	Fatal(args ...any)
}

func mustJSON(t tb, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func testConfig(cores units.Cores) Config {
	cfg := Default()
	cfg.Node, cfg.Incarnation, cfg.Host = "n1", "i1", "127.0.0.1"
	cfg.Total, cfg.Offered = cores, cores
	cfg.Controller.Law = controller.LawPI
	return cfg
}

// target is a target of n tasks that take work core-seconds in d.
func target(stage int, executor api.ExecutorID, n int, work float64, d time.Duration, init units.Cores) api.StageTarget {
	return api.StageTarget{StageKey: api.StageKey{Stage: stage}, Executor: executor, Rev: 1, Remaining: units.FromDuration(d),
		Weight: float64(n), Tasks: n, Work: units.Work(work), Records: float64(1000 * n), InitCores: init}
}

func planApp(id api.AppID, slots int, executors []api.ExecutorID, targets ...api.StageTarget) api.PlanApp {
	return api.PlanApp{ID: id, HasDeadline: true, Remaining: 100, Launch: &api.Launch{Cores: slots}, Executors: executors, Stages: targets}
}

func plan(epoch uint64, apps ...api.PlanApp) api.Plan {
	return api.Plan{V: api.Version, Epoch: epoch, Node: "n1", Apps: apps}
}

func ids(s ...api.ExecutorID) []api.ExecutorID { return s }

// world is an engine with a plant around it.
type world struct {
	tb
	*plant
	e *Engine
}

func newWorld(t tb, cfg Config) *world {
	t.Helper()
	e, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t, &plant{cores: float64(cfg.Total), now: units.Instant(time.Second)}, e}
	w.do(t, e.Step(w.now, w.sample()))
	return w
}

// apply has the node take a Plan in which what it does not have is over and its driver exits,
// unless it says itself who is.
func (w *world) apply(p api.Plan) []Action {
	w.Helper()
	if p.Over == nil {
		p.Over = w.e.missing(&p)
		p.Exiting = p.Over
	}
	actions := w.e.Apply(w.now, p)
	w.do(w, actions)
	return actions
}

func (w *world) ticks(n int) {
	w.Helper()
	for range n {
		w.tick(w, w.e)
	}
}

// ready starts the executors of the applications and waits for their pages.
func (w *world) ready(epoch uint64, apps ...api.PlanApp) {
	w.Helper()
	w.apply(plan(epoch, apps...))
	w.ticks(2)
}

// restart replaces the engine by one that knows only what was saved.
func (w *world) restart(cfg Config) {
	w.Helper()
	var s State
	if err := json.Unmarshal(w.saved, &s); err != nil {
		w.Fatal(err)
	}
	e, err := New(cfg, &s)
	if err != nil {
		w.Fatal(err)
	}
	w.e = e
}

func (w *world) quota(app api.AppID, id api.ExecutorID) units.Cores {
	w.Helper()
	return w.exec(Key{app, id}).quota
}

func (w *world) sawEvent(kind EventKind) bool {
	for _, e := range w.e.Events() {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

func count(actions []Action, kind ActionKind) (n int) {
	for _, a := range actions {
		if a.Kind == kind {
			n++
		}
	}
	return n
}

// missing are the applications in force that p does not have.
func (e *Engine) missing(p *api.Plan) (ids []api.AppID) {
	for _, a := range e.roster.apps {
		if !slices.ContainsFunc(p.Apps, func(b api.PlanApp) bool { return b.ID == a.plan.ID }) {
			ids = append(ids, a.plan.ID)
		}
	}
	return ids
}
