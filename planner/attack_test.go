package planner_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// Each test here is a way in which mallory tries to spoil what planner and nodes say to each other, which speaks for
// ann's applications too.

var ann, mallory = submits("ann"), submits("mallory")

func submits(name string) api.Principal {
	return api.Principal{Kind: api.PrincipalUser, Name: name, Role: api.RoleSubmit}
}

// busPayload is what the bus takes of a message (bus.MaxPayload).
const busPayload = 8 << 20

func (w *world) asks(by api.Principal, verb api.Verb, q api.ControlRequest) api.ControlReply {
	w.Helper()
	q.V = api.Version
	return w.step(planner.Control{To: 1, By: by, Verb: verb, Request: q}).(api.ControlReply)
}

func (w *world) registers(by api.Principal, r api.RegisterRequest) api.RegisterReply {
	w.Helper()
	return w.step(planner.Register{To: 1, By: by, Request: r}).(api.RegisterReply)
}

// hers has ann's application run a stage by a target on the first node that w has.
func (w *world) hers() api.AppID {
	w.Helper()
	p := chain("hers")
	if r := w.asks(ann, api.VerbProfilePut, api.ControlRequest{Body: &p}); r.Error != nil {
		w.Fatalf("%v", r.Error)
	}
	r := registration("hers", 200)
	reply := w.registers(ann, r)
	if reply.Error != nil {
		w.Fatalf("ann: %v", reply.Error)
	}
	w.tell(reply.AppID, r.Submission, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}}, ready(1, 0, "read", 1000, "1"))
	return reply.AppID
}

// shares checks that nodes take their Plans as wholes, that ann's application is in them with its target, and that what is
// shown of all can be sent.
func (w *world) sharesNoFate(id api.AppID) {
	w.Helper()
	for node, p := range w.plans {
		body, err := json.Marshal(p)
		if err != nil || len(body) > busPayload {
			w.Errorf("the Plan of %s: %d bytes, %v", node, len(body), err)
		}
		var read api.Plan
		if err := json.Unmarshal(body, &read); err != nil {
			w.Errorf("the Plan of %s: %v", node, err)
		}
		if err := read.Validate(); err != nil {
			w.Errorf("node %s does not take its Plan: %.250v", node, err)
		}
	}
	for app, d := range w.directives {
		if body, err := json.Marshal(d); err != nil || len(body) > busPayload {
			w.Errorf("the Directive of %s: %d bytes, %v", app, len(body), err)
		}
	}
	if target := w.target(id, 0, "1"); target == nil || !(target.Work > 0) {
		w.Errorf("ann's stage has no target: %+v", target)
	}
	for _, verb := range []api.Verb{api.VerbApps, api.VerbNodes, api.VerbProfiles, api.VerbReport, api.VerbPolicy} {
		if _, err := json.Marshal(w.asks(ann, verb, api.ControlRequest{Query: &api.Query{}})); err != nil {
			w.Errorf("%s cannot be answered: %v", verb, err)
		}
	}
}

func TestAttackByAProfile(t *testing.T) {
	for name, spoil := range map[string]func(*api.ProfileStage){
		"a rate of 1e16":      func(s *api.ProfileStage) { s.NominalRate = 1e16 },
		"the greatest rate":   func(s *api.ProfileStage) { s.NominalRate = math.MaxFloat64 },
		"the least rate":      func(s *api.ProfileStage) { s.NominalRate = math.SmallestNonzeroFloat64 },
		"a rate at the bound": func(s *api.ProfileStage) { s.NominalRate = api.MostAmount },
		"next to no work":     func(s *api.ProfileStage) { s.CoreSeconds = math.SmallestNonzeroFloat64 },
		"all the work": func(s *api.ProfileStage) {
			s.CoreSeconds, s.Records, s.Duration = api.MostAmount, math.MaxInt64, api.MostAmount
		},
		"records without end":    func(s *api.ProfileStage) { s.Records, s.Bytes = math.MaxInt64, math.MaxInt64 },
		"wide and fixed tasks":   func(s *api.ProfileStage) { s.TaskCores, s.FixedPart, s.TaskCost = api.MostCores, 1, api.MostAmount },
		"tasks without number":   func(s *api.ProfileStage) { s.Tasks, s.LongestTask = api.MostCount, api.MostAmount },
		"gaps at the bound":      func(s *api.ProfileStage) { s.Gap, s.Duration = api.MostAmount, math.SmallestNonzeroFloat64 },
		"a warm-up at the bound": func(s *api.ProfileStage) { s.Warmup, s.Reading = api.MostAmount, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			id := w.hers()
			p := chain("etl")
			for i := range p.Stages {
				spoil(&p.Stages[i])
			}
			if r := w.asks(mallory, api.VerbProfilePut, api.ControlRequest{Body: &p}); r.Error == nil {
				r := registration("etl", 600)
				if reply := w.registers(mallory, r); reply.Error == nil {
					w.tell(reply.AppID, r.Submission, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}}, ready(1, 0, "read", 1000, "1"))
				}
			} else if api.KindOf(r.Error) != api.KindInvalid {
				t.Errorf("%v", r.Error)
			}
			w.pass(2 * time.Second)
			w.sharesNoFate(id)
		})
	}
}

func TestAttackByADeadline(t *testing.T) {
	moved := func(w *world, id api.AppID, by ...units.Seconds) {
		for _, by := range by {
			w.asks(mallory, api.VerbDeadline, api.ControlRequest{App: id, Extend: by})
		}
	}
	for name, attack := range map[string]func(*world){
		"moved twice": func(w *world) {
			moved(w, w.registers(mallory, registration("p", 1e15)).AppID, 1e15, 1e15)
		},
		"moved a hundred times": func(w *world) {
			moved(w, w.registers(mallory, registration("p", 10)).AppID, slices.Repeat([]units.Seconds{1e14}, 100)...)
		},
		"to and fro": func(w *world) {
			moved(w, w.registers(mallory, registration("p", 1e15)).AppID, -9e14, 1e15, -1e15, 1e15, 1e15)
		},
		"the next context's": func(w *world) {
			r := registration("p", 10)
			r.Submission, r.Shared = "s", true
			moved(w, w.registers(mallory, r).AppID, 9e14)
			r.Context, r.Deadline = 1, 9e14
			w.registers(mallory, r)
		},
		"of a context after many": func(w *world) {
			r := registration("p", 10)
			r.Submission, r.Shared = "s", true
			for i := range 5 {
				r.Context = i
				moved(w, w.registers(mallory, r).AppID, 9e14)
			}
		},
		"long passed": func(w *world) {
			r := registration("p", 1)
			r.Elapsed, r.Before = 1e15, 1e15
			w.registers(mallory, r)
		},
		"of a clock that leaps": func(w *world) {
			r := registration("p", 1e15)
			id := w.registers(mallory, r).AppID
			w.send(id, r.Submission, api.Event{At: 1e15, Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}})
		},
		"of the queue": func(w *world) {
			r := registration("p", 1e15)
			r.Launch.Heap = 12 * units.GiB
			w.registers(mallory, r)
			r.Name, r.Submission = "q", "q"
			moved(w, w.registers(mallory, r).AppID, 1e15, 1e15)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			id := w.hers()
			attack(w)
			w.pass(3 * time.Second)
			w.sharesNoFate(id)
		})
	}
}

// Bounds at the entrance are those of what comes of it, and what is refused is told with its field.
func TestAttackByARegistration(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*api.RegisterRequest)
		field string
	}{
		"tasks of a millionth of a core": {func(r *api.RegisterRequest) { r.Launch.TaskCPUs = 1e-6 }, "task_cpus"},
		"tasks of next to nothing":       {func(r *api.RegisterRequest) { r.Launch.TaskCPUs = 5e-324 }, "task_cpus"},
		"tasks of less than nothing":     {func(r *api.RegisterRequest) { r.Launch.TaskCPUs = -0.01 }, "task_cpus"},
		"a million slots":                {func(r *api.RegisterRequest) { r.Launch.Cores = 1 << 20 }, "cores"},
		"tasks at their least":           {func(r *api.RegisterRequest) { r.Launch.TaskCPUs, r.Launch.Cores = 0.01, api.MostSlots }, ""},
		"a name of what JSON escapes":    {func(r *api.RegisterRequest) { r.Name = strings.Repeat("\x01", api.MostName) }, ""},
		"a launch at its bound": {func(r *api.RegisterRequest) {
			r.Launch.JavaOptions = []string{strings.Repeat("<", api.MostLaunch-100)}
		}, ""},
		"all memory": {func(r *api.RegisterRequest) { r.Launch.Heap, r.Launch.Overhead = api.MostMemory, api.MostMemory }, "heap"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			id := w.hers()
			r := registration("etl", 600)
			c.spoil(&r)
			reply := w.registers(mallory, r)
			if refused := reply.Error != nil; refused != (c.field != "") || refused && !strings.Contains(reply.Error.Error(), c.field) {
				t.Errorf("%+v", reply.Error)
			}
			w.pass(2 * time.Second)
			w.sharesNoFate(id)
		})
	}
}

// attachedHers has ann's attached application run a stage on host-a.
func (w *world) attachedHers() api.AppID {
	w.Helper()
	p := chain("hers")
	w.asks(ann, api.VerbProfilePut, api.ControlRequest{Body: &p})
	r := attachedTo("hers", 200)
	r.Launch.Attach = &api.Attach{Manager: api.ManagerYARN, App: "application_1_0007"}
	reply := w.registers(ann, r)
	if reply.Error != nil {
		w.Fatalf("%v", reply.Error)
	}
	w.tell(reply.AppID, r.Submission, upOn("1", "host-a"), ready(1, 0, "read", 1000, "1"))
	return reply.AppID
}

func TestAttackByExecutorsOnOneHost(t *testing.T) {
	w := attachedWorld(t)
	w.standby = nil // It would take most of the time.
	id := w.attachedHers()
	r := attachedTo("chain", 100)
	r.Launch.Attach.Most = 0
	evil := w.registers(mallory, r).AppID
	for batch := range 3 {
		var events []api.Event
		for i := range 500 {
			events = append(events, upOn(api.ExecutorID(fmt.Sprint(1+500*batch+i)), "host-a"))
		}
		w.send(evil, r.Submission, events...)
	}
	if n := len(w.onNodes(evil)["a"]); n != api.MostOnHost {
		t.Errorf("node a is to hold %d of mallory's", n)
	}
	if d := w.app(evil); !strings.Contains(strings.Join(d.Notices, "\n"), "as many as it may") {
		t.Errorf("mallory is told %q", d.Notices)
	}
	if got := w.onNodes(id)["a"]; len(got) != 1 {
		t.Errorf("ann's are %v", got)
	}
	w.pass(3 * time.Second)
	w.sharesNoFate(id)
	// The bound is no end: where one of them goes another one has its place.
	w.send(evil, r.Submission, goneFrom("3"))
	w.send(evil, r.Submission, upOn("1400", "host-a"))
	if got := w.onNodes(evil)["a"]; len(got) != api.MostOnHost || slices.Contains(got, "3") {
		t.Errorf("%d executors", len(got))
	}
}

func TestAttackByManyTargets(t *testing.T) {
	w := attachedWorld(t)
	w.standby = nil
	id := w.attachedHers()
	p := chain("etl")
	one := p.Stages[0]
	p.Stages = nil
	for i := range 20 {
		one.ID, one.Parents = i, nil
		p.Stages = append(p.Stages, one)
	}
	w.asks(mallory, api.VerbProfilePut, api.ControlRequest{Body: &p})
	r := attachedTo("etl", 1e6)
	r.Launch.Attach.Most = 0
	evil := w.registers(mallory, r).AppID
	var up []api.Event
	var all []api.ExecutorID
	for i := range api.MostOnHost {
		x := api.ExecutorID(fmt.Sprint(1 + i))
		up, all = append(up, upOn(x, "host-a")), append(all, x)
	}
	w.send(evil, r.Submission, up...)
	for i := range 20 {
		e := ready(1, i, "read", 1000, all...)
		w.send(evil, r.Submission, e)
	}
	n := 0
	for _, a := range w.plans["a"].Apps {
		n += len(a.Stages)
	}
	if n > api.MostStageReports || n < api.MostStageReports/2 {
		t.Errorf("the Plan has %d targets", n)
	}
	w.sharesNoFate(id)
}

// What nobody starts an executor with takes no place in a Plan.
func TestAttackByLaunchesThatNobodyNeeds(t *testing.T) {
	w := attachedWorld(t)
	w.standby = nil
	id := w.attachedHers()
	for i := range 150 {
		r := attachedTo(fmt.Sprintf("p%d", i), 0)
		r.Launch.Attach.App = fmt.Sprintf("application_1_%04d", 100+i)
		r.Launch.Env = map[string]string{"A": strings.Repeat("<", 60<<10)}
		r.Launch.SparkHome, r.Launch.JavaHome = strings.Repeat("<", 1000), strings.Repeat("<", 1000)
		if reply := w.registers(mallory, r); reply.Error == nil {
			w.send(reply.AppID, r.Submission, upOn("1", "host-a"))
		}
	}
	if n := len(w.plans["a"].Apps); n < 100 {
		t.Errorf("the Plan has %d applications", n)
	}
	w.sharesNoFate(id)
}

func TestAttackByAStepAndACap(t *testing.T) {
	for name, q := range map[string]api.ControlRequest{
		"the greatest cap":  {Cap: api.MostCores},
		"the least cap":     {Cap: math.SmallestNonzeroFloat64},
		"a cap of none":     {Cap: units.Cores(math.NaN())},
		"a step of no end":  {Step: &api.Step{Low: 0.2, High: math.Inf(1), Each: 60}},
		"a step of nothing": {Step: &api.Step{Low: math.NaN(), High: 3, Each: 60}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			id := w.hers()
			q.App = w.registers(mallory, registration("hers", 300)).AppID
			verb := api.VerbCap
			if q.Step != nil {
				verb = api.VerbStep
			}
			w.asks(mallory, verb, q)
			w.pass(2 * time.Second)
			w.sharesNoFate(id)
		})
	}
}

// faultyStatus are ways in which what a node says of mallory's application may be faulty.
var faultyStatus = map[string]func(*api.NodeStatus, api.AppID){
	"an exit of 12 KiB":  func(s *api.NodeStatus, _ api.AppID) { s.Executors[0].Exit = strings.Repeat("x", 12<<10) },
	"CPU time below 0":   func(s *api.NodeStatus, _ api.AppID) { s.Executors[0].CPU = -1 },
	"a quota of 1e300":   func(s *api.NodeStatus, _ api.AppID) { s.Executors[0].Quota = 1e300 },
	"an id of two words": func(s *api.NodeStatus, _ api.AppID) { s.Executors[0].ID = "1 2" },
	"memory below 0":     func(s *api.NodeStatus, _ api.AppID) { s.Executors[0].Memory.Owed = -1 },
	"a ceiling of 1e300": func(s *api.NodeStatus, _ api.AppID) { s.Executors[0].Ceiling = 1e300 },
	"a long why":         func(s *api.NodeStatus, _ api.AppID) { s.Executors[0].Unpaced = strings.Repeat("x", 12<<10) },
	"stage -1": func(s *api.NodeStatus, a api.AppID) {
		s.Stages = append(s.Stages, api.StageStatus{App: a, Executor: "1", StageKey: api.StageKey{Stage: -1}})
	},
	"attempt 2^40": func(s *api.NodeStatus, a api.AppID) {
		s.Stages = append(s.Stages, api.StageStatus{App: a, Executor: "1", StageKey: api.StageKey{Attempt: 1 << 40}})
	},
	"finished 2^40": func(s *api.NodeStatus, a api.AppID) {
		s.Stages = append(s.Stages, api.StageStatus{App: a, Executor: "1", Finished: 1 << 40})
	},
	"nine ticks": func(s *api.NodeStatus, a api.AppID) {
		s.Stages = append(s.Stages, api.StageStatus{App: a, Executor: "1", Samples: make([]api.StageSample, 9)})
	},
	"a tick of 1e300": func(s *api.NodeStatus, a api.AppID) {
		s.Stages = append(s.Stages, api.StageStatus{App: a, Executor: "1", Samples: []api.StageSample{{Used: 1e300}}})
	},
	"a loss below 0":      func(s *api.NodeStatus, a api.AppID) { s.Losses = []api.Loss{{App: a, CoreSeconds: -1}} },
	"a shortage of 1e300": func(s *api.NodeStatus, a api.AppID) { s.Shortages = []api.Shortage{{App: a, Asked: 1e300}} },
	"an orphan of no token": func(s *api.NodeStatus, a api.AppID) {
		s.Orphans = []api.Orphan{{App: a, Owner: strings.Repeat("x", 200)}}
	},
	"a fault of two lines": func(s *api.NodeStatus, a api.AppID) { s.Faults = []api.AppFault{{App: a, Reason: "x\ny"}} },
	"more executors than there are": func(s *api.NodeStatus, _ api.AppID) {
		s.Executors = append(slices.Repeat(s.Executors[:1], api.MostExecutors), s.Executors[1])
	},
	"more stages than there are": func(s *api.NodeStatus, a api.AppID) {
		s.Stages = append(slices.Repeat([]api.StageStatus{{App: a, Executor: "1"}}, api.MostStageReports), s.Stages...)
	},
}

func TestAttackByAPartOfAStatus(t *testing.T) {
	for name, spoil := range faultyStatus {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			id := w.hers()
			evil := w.registers(mallory, registration("etl", 0)).AppID
			for i := range 10 {
				s := w.status("a")
				s.Executors = []api.ExecutorStatus{{App: evil, ID: "1", State: api.ExecutorRunning, Quota: api.Unknown},
					{App: id, ID: "1", State: api.ExecutorRunning, CPU: units.Work(1 + i), Quota: api.Unknown}}
				s.Stages = []api.StageStatus{{App: id, Executor: "1", CPU: units.Work(1 + i), Progress: units.Fraction(i) / 100}}
				spoil(&s, evil)
				if i == 5 { // Its connection came back.
					if reply := w.helloAs(s); reply.Error != nil {
						t.Errorf("its hello: %v", reply.Error)
					}
				} else {
					w.step(planner.Status{Status: &s})
				}
				w.pass(time.Second)
			}
			x := w.app(id).Executors[0]
			st := w.e.View().App(id).Stages[api.StageKey{}]
			if x.State != api.ExecutorRunning || st.CPU() < 5 || st.Progress() < 0.04 {
				t.Errorf("ann's executor: %+v, CPU time %v, progress %v", x, st.CPU(), st.Progress())
			}
			if n := w.e.View().Node("a"); !n.Here() || len(w.heard("node lost")) > 0 {
				t.Errorf("the node is lost: %v", w.said)
			}
			if said := w.heard("message refused"); len(said) != 1 || len(said[0].Text) > 1000 {
				t.Errorf("said %d times: %.500v", len(said), said)
			}
			w.sharesNoFate(id)
		})
	}
}

// A node whose status cannot be taken at all is told of once, and is back as soon as it can.
func TestAttackByANodeThatSaysNothingOfUse(t *testing.T) {
	w := newWorld(t, "a", "b")
	for range 20 {
		s := w.status("b")
		s.Total = -1
		w.step(planner.Status{Status: &s})
		w.step(planner.Status{Status: new(w.status("a"))})
		w.pass(time.Second)
	}
	if said := w.heard("message refused"); len(said) != 1 {
		t.Errorf("said %d times: %v", len(said), said)
	}
	w.step(planner.Status{Status: new(w.status("b"))})
	if !w.e.View().Node("a").Here() || !w.e.View().Node("b").Here() {
		t.Error("a node is lost")
	}
}

// The end of an application reaches its node, whatever else the Plan says of it or of others.
func TestAttackByOneThatHasEnded(t *testing.T) {
	w := newWorld(t, "a")
	id := w.hers()
	r := registration("p", 1e15)
	evil := w.registers(mallory, r).AppID
	w.asks(mallory, api.VerbDeadline, api.ControlRequest{App: evil, Extend: 1e15})
	other := registration("q", 1e15)
	second := w.registers(mallory, other).AppID
	w.asks(mallory, api.VerbDeadline, api.ControlRequest{App: second, Extend: 1e15})
	w.tell(evil, r.Submission, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}}, end(3))
	w.pass(time.Second)
	if p := w.plans["a"]; !slices.Contains(p.Over, evil) || len(w.planned("a", evil)) > 0 {
		t.Errorf("over are %v", p.Over)
	}
	w.sharesNoFate(id)
}

// An id that is no executor's, and looks like one's, is nobody's.
func TestAttackByIDsThatLookAlike(t *testing.T) {
	for _, x := range []api.ExecutorID{"01", "+1", "0", "-1", "1 ", "", "16385", "9223372036854775808"} {
		t.Run(fmt.Sprintf("executor %q", x), func(t *testing.T) {
			w := attachedWorld(t)
			id := w.attachedHers()
			r := attachedTo("chain", 100)
			evil := w.registers(mallory, r).AppID
			w.send(evil, r.Submission, upOn(x, "host-a"), ready(1, 0, "read", 1000, x), goneFrom(x))
			if got := w.onNodes(evil)["a"]; len(got) > 0 {
				t.Errorf("node a is to hold %v", got)
			}
			w.sharesNoFate(id)
		})
	}
}
