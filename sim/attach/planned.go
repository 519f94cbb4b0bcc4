package attach

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// planned has a planner's engine say how many executors there are, and what holds them back.
type planned struct {
	engine    *planner.Engine
	app       api.AppID
	seq       uint64
	directive api.Directive
	targets   map[api.ExecutorID]target
	told      uint64 // Statuses.
	events    []api.Event
	fault     error
}

// target is until when an executor is to have ended its share, in seconds.
type target struct {
	rev uint64
	due float64
}

const (
	began      = units.Instant(1_800_000_000_000_000_000)
	submission = "attach"
	perMachine = 64 // Cores.
)

func at(now float64) units.Instant { return began.Add(time.Duration(now * 1e9)) }

// plan has an engine take j in.
func plan(j *job) (*planned, error) {
	engine, err := planner.New(planner.Default(), nil)
	if err != nil {
		return nil, err
	}
	p := &planned{engine: engine, targets: map[api.ExecutorID]target{}}
	for i := range machines {
		p.do(0, planner.Hello{To: 1, Status: p.status(i)})
	}
	body := j.profile
	if r := p.do(0, planner.Control{To: 1, Verb: api.VerbProfilePut,
		Request: api.ControlRequest{V: api.Version, Body: &body}}).(api.ControlReply); r.Error != nil {
		return nil, r.Error
	}
	r := p.do(0, planner.Register{To: 1, Request: api.RegisterRequest{V: api.Version, Submission: submission,
		Name:     j.profile.Name,
		Deadline: units.Seconds(j.deadline), Launch: api.Launch{DriverURL: "spark://driver@h:1", SparkVersion: "4.3.0",
			Cores: j.cores, Heap: units.GiB, Attach: &api.Attach{Manager: api.ManagerYARN,
				App: "application_1", Least: 1, Most: most}}}}).(api.RegisterReply)
	if r.Error != nil {
		return nil, r.Error
	}
	p.app, p.directive = r.AppID, r.Directive
	return p, nil
}

func host(machine int) string { return fmt.Sprintf("host-%d", machine) }

// machineOf spreads executors over machines.
func machineOf(id int) int { return id % machines }

func id(x *executor) api.ExecutorID { return api.ExecutorID(strconv.Itoa(x.id)) }

func (p *planned) status(machine int) api.NodeStatus {
	p.told++
	name := fmt.Sprintf("node-%d", machine)
	return api.NodeStatus{V: api.Version, Node: name, Incarnation: name, Seq: p.told, Host: host(machine), Attach: true,
		Hosts: []string{host(machine)}, Machine: host(machine), Offered: perMachine, Total: perMachine, Memory: units.GiB,
		Division: api.Division{Strategy: "auto"}}
}

// do has the engine take an event, follows what it does and returns its reply.
func (p *planned) do(now float64, event planner.Event) (reply any) {
	for _, action := range p.engine.Step(at(now), event) {
		switch a := action.(type) {
		case planner.PublishPlan:
			p.follow(now, a.Plan)
		case planner.PublishDirective:
			p.directive = a.Directive
		case planner.Answer:
			reply = a.Work(p.engine.View().Snapshot(), nil)
		case planner.Reply:
			reply = a.Body
		}
	}
	return reply
}

// follow takes the targets of a node's Plan.
func (p *planned) follow(now float64, plan api.Plan) {
	for _, a := range plan.Apps {
		for _, x := range a.Executors {
			i := slices.IndexFunc(a.Stages, func(t api.StageTarget) bool { return t.Executor == x })
			if i < 0 {
				delete(p.targets, x)
			} else if t := a.Stages[i]; p.targets[x].rev != t.Rev {
				p.targets[x] = target{rev: t.Rev, due: now + float64(t.Remaining)}
			}
		}
	}
}

func (p *planned) wanted() int { return p.directive.Wanted }

func (p *planned) leaves(x *executor) bool {
	return slices.ContainsFunc(p.directive.Executors, func(d api.DirectiveExecutor) bool {
		return d.ID == id(x) && d.Leaving
	})
}

func (p *planned) cap(w *world, x *executor, left float64) float64 {
	t, held := p.targets[id(x)]
	if !held || t.due <= w.now {
		return float64(w.cores)
	}
	return heldTo(t.due-w.now, left, w.stages[w.at].task(), float64(w.cores))
}

// heldTo is how many of so many cores end work in time, in tasks of that size, of which the last ones are fewer and
// fewer: with q cores it takes work/q + task q/(2 cores).
func heldTo(time, work, task, cores float64) float64 {
	room := time*time - 2*work*task/cores
	if room <= 0 {
		return cores
	}
	return min(cores, (time-math.Sqrt(room))*cores/task)
}

func (p *planned) say(w *world, e api.Event) {
	p.seq++
	e.Seq, e.At = p.seq, units.Seconds(w.now)
	p.events = append(p.events, e)
}

func (p *planned) came(w *world, x *executor) {
	p.say(w, api.Event{Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: id(x),
		Host: host(machineOf(x.id)), Machine: host(machineOf(x.id)), Cores: w.cores}})
}

func (p *planned) went(w *world, x *executor) {
	p.say(w, api.Event{Type: api.EventExecutorGone, Executor: &api.ExecutorEvent{ID: id(x), Reason: "decommissioned"}})
}

func key(w *world) api.StageKey { return api.StageKey{Stage: w.at} }

func bindings(w *world) (all []api.Binding) {
	for _, x := range w.executors {
		if x.share > 0 {
			all = append(all, api.Binding{Executor: id(x), Weight: x.share, Tasks: max(1, int(x.share))})
		}
	}
	return all
}

func (p *planned) began(w *world) {
	s := &w.stages[w.at]
	parents := []int{}
	if w.at > 0 {
		parents = append(parents, w.at-1)
	}
	p.say(w, api.Event{Type: api.EventStageReady, Stage: &api.StageReady{StageKey: key(w), Job: w.at,
		Name:      fmt.Sprintf("stage %d", w.at),
		Signature: fmt.Sprintf("s%d", w.at), Parents: parents, Tasks: s.tasks, Records: s.records, Bytes: api.Unknown,
		Bindings: bindings(w)}})
}

func (p *planned) bound(w *world) {
	p.say(w, api.Event{Type: api.EventStageBound, Bound: &api.StageBound{StageKey: key(w), Bindings: bindings(w)}})
}

func (p *planned) ended(w *world) {
	s := &w.stages[w.at]
	p.say(w, api.Event{Type: api.EventStageDone, Done: &api.StageDone{StageKey: key(w), Tasks: s.tasks,
		RecordsRead:    s.records,
		RecordsWritten: s.records, BytesRead: api.Unknown, BytesWritten: api.Unknown, TaskCPU: units.Seconds(s.work),
		TaskTime: units.Seconds(s.work), LongestTask: units.Seconds(s.task()), LastFinish: units.Seconds(w.now)}})
}

// passed sends what there is to say, the nodes' statuses each second, and lets the engine tick.
func (p *planned) passed(w *world) {
	steps := int(w.now/step + 0.5)
	if len(p.events) > 0 || steps%4 == 0 {
		r, ok := p.do(w.now, planner.DriverEvents{To: 1, Batch: api.Events{V: api.Version, AppID: p.app,
			Submission: submission,
			Events:     p.events}}).(api.EventsReply)
		switch {
		case !ok:
			p.fault = fmt.Errorf("no reply at %.2f s", w.now)
		case r.Error != nil:
			p.fault = r.Error
		case r.Directive.Epoch > p.directive.Epoch:
			p.directive = r.Directive
		}
		p.events = nil
	}
	if steps%4 == 0 {
		for i := range machines {
			p.report(w, i)
		}
	}
	p.do(w.now, planner.Tick{})
}

// report is a machine's status.
func (p *planned) report(w *world, machine int) {
	s := p.status(machine)
	for _, x := range w.executors {
		if machineOf(x.id) != machine {
			continue
		}
		s.Executors = append(s.Executors, api.ExecutorStatus{App: p.app, ID: id(x), State: api.ExecutorRunning,
			CPU: units.Work(x.used), Quota: api.Unknown, Ceiling: units.Cores(w.cores)})
		if w.running && x.share > 0 {
			s.Stages = append(s.Stages, api.StageStatus{App: p.app, StageKey: key(w), Executor: id(x),
				CPU:      units.Work(x.done * w.stages[w.at].task()),
				Progress: units.Fraction(x.done / x.share), Finished: int(x.done),
				Samples: []api.StageSample{{Progress: units.Fraction(x.done / x.share), Request: units.Cores(x.rate),
					Grant: units.Cores(x.rate), Used: units.Cores(x.rate), Running: w.cores}}})
		}
	}
	p.do(w.now, planner.Status{Status: &s})
}
