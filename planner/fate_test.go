package planner_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
)

// amount draws a number at a bound, beyond it, or one that is usual.
func amount[T ~float64](t *rapid.T, what string) T {
	return T(rapid.SampledFrom([]float64{0, 1, 10, 1000, -1, 1e-9, 1e9, 9e14, api.MostAmount, 1.1 * api.MostAmount, api.MostCores, 1e300, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.Inf(1), math.NaN()}).Draw(t, what))
}

func number(t *rapid.T, what string) int {
	return rapid.SampledFrom([]int{0, 1, 2, 4, 100, -1, api.MostExecutorID, api.MostSlots, api.MostSlots + 1, api.MostCores, api.MostCount, api.MostCount + 1}).Draw(t, what)
}

func wide(t *rapid.T, what string) string {
	return strings.Repeat(rapid.SampledFrom([]string{"x", "\x01", "<", "\u20ac"}).Draw(t, what), rapid.SampledFrom([]int{1, 100, 300, api.MostName, api.MostText}).Draw(t, what+" length"))
}

// wildRegistration draws one of mallory's, most of whose fields are as usual.
func wildRegistration(t *rapid.T, nth int) api.RegisterRequest {
	name := fmt.Sprintf("p%d", nth%3)
	r := registration(name, rapid.SampledFrom([]units.Seconds{0, 100, 600}).Draw(t, "deadline"))
	r.Submission = fmt.Sprintf("s%d", nth%4)
	r.Context, r.Shared = rapid.IntRange(0, 2).Draw(t, "context"), rapid.Bool().Draw(t, "shared")
	if rapid.Bool().Draw(t, "attached") {
		r.Launch.Attach = &api.Attach{Manager: api.ManagerYARN, App: fmt.Sprintf("application_1_%d", nth)}
	}
	for range rapid.IntRange(0, 2).Draw(t, "fields") {
		switch rapid.IntRange(0, 13).Draw(t, "field") {
		case 0:
			r.Deadline = amount[units.Seconds](t, "deadline_s")
		case 1:
			r.Elapsed = amount[units.Seconds](t, "elapsed_s")
		case 2:
			r.Before = amount[units.Seconds](t, "before_s")
		case 3:
			r.Launch.TaskCPUs = amount[float64](t, "task_cpus")
		case 4:
			r.Launch.Cores = number(t, "cores")
		case 5:
			r.Launch.Heap = units.Bytes(rapid.SampledFrom([]int64{1, 1 << 20, 4 << 30, 15 << 30, api.MostMemory, math.MaxInt64}).Draw(t, "heap"))
		case 6:
			r.Name = wide(t, "name")
		case 7:
			r.Launch.JavaOptions = []string{wide(t, "option")}
		case 8:
			r.Launch.Env = map[string]string{wide(t, "variable"): wide(t, "value")}
		case 9:
			r.Launch.OffHeap, r.Launch.OffHeapFixed = units.Bytes(number(t, "off the heap")), rapid.Bool().Draw(t, "fixed")
		case 10:
			r.Mode = rapid.SampledFrom([]api.Mode{api.ModeControl, api.ModeObserve, api.ModeOff, api.ModeEndless, "x"}).Draw(t, "mode")
		case 11:
			r.Class = rapid.SampledFrom(append(api.Classes(), "x")).Draw(t, "class")
		case 12:
			r.Nodes = &api.NodeRange{Least: number(t, "least"), Most: number(t, "most")}
		case 13:
			r.Launch.SparkHome, r.Launch.Image = wide(t, "home"), wide(t, "image")
		}
	}
	return r
}

// wildProfile draws one of mallory's.
func wildProfile(t *rapid.T, nth int) api.Profile {
	p := chain(fmt.Sprintf("p%d", nth%3))
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		s := &p.Stages[rapid.IntRange(0, len(p.Stages)-1).Draw(t, "stage")]
		switch rapid.IntRange(0, 9).Draw(t, "field") {
		case 0:
			s.NominalRate = amount[units.Rate](t, "nominal_rate")
		case 1:
			s.CoreSeconds = amount[units.Work](t, "core_seconds")
		case 2:
			s.Duration = amount[units.Seconds](t, "duration_s")
		case 3:
			s.Records = rapid.SampledFrom([]int64{1, math.MaxInt64, 0}).Draw(t, "records")
		case 4:
			s.LongestTask = amount[units.Seconds](t, "longest_task_s")
		case 5:
			s.TaskCores = amount[units.Cores](t, "task_cores")
		case 6:
			s.TaskCost, s.Warmup = amount[units.Work](t, "task cost"), amount[units.Work](t, "warm-up")
		case 7:
			s.FixedPart, s.Reading = amount[units.Fraction](t, "fixed"), amount[units.Fraction](t, "reading")
		case 8:
			s.Tasks = number(t, "tasks")
		case 9:
			p.Head, p.Tail, p.Exit, s.Gap = amount[units.Seconds](t, "head"), amount[units.Seconds](t, "tail"), amount[units.Seconds](t, "exit"), amount[units.Seconds](t, "gap")
		}
	}
	return p
}

// wildEvent draws what mallory's driver says.
func wildEvent(t *rapid.T) api.Event {
	at := rapid.SampledFrom([]units.Seconds{1, 5, 1e9, api.MostAmount, 1.1 * api.MostAmount}).Draw(t, "at")
	id := func() api.ExecutorID {
		return rapid.SampledFrom([]api.ExecutorID{"1", "2", "3", "16384", "16385", "01", "x", "1 2"}).Draw(t, "executor")
	}
	stage := rapid.SampledFrom([]int{0, 1, 2, -1, api.MostCount, 1 << 40}).Draw(t, "stage")
	switch rapid.IntRange(0, 4).Draw(t, "event") {
	case 0:
		e := upOn(id(), rapid.SampledFrom([]string{"host-a", "host-b", "nowhere", ""}).Draw(t, "host"))
		e.At, e.Executor.Cores = at, number(t, "cores")
		return e
	case 1:
		e := ready(at, stage, rapid.SampledFrom([]string{"read", "map", "join", "else"}).Draw(t, "signature"),
			rapid.SampledFrom([]int64{-1, 0, 1000, math.MaxInt64}).Draw(t, "records"), "1", "2")
		e.Stage.Tasks = number(t, "tasks")
		for i := range e.Stage.Bindings {
			e.Stage.Bindings[i].Weight, e.Stage.Bindings[i].Tasks = amount[float64](t, "weight"), number(t, "bound tasks")
		}
		return e
	case 2:
		e := done(at, stage, amount[units.Seconds](t, "first"))
		e.Done.TaskCPU, e.Done.LongestTask, e.Done.LastFinish = amount[units.Seconds](t, "CPU"), amount[units.Seconds](t, "longest"), amount[units.Seconds](t, "last")
		e.Done.RecordsRead, e.Done.FixedPart = int64(number(t, "read")), amount[units.Fraction](t, "fixed")
		return e
	case 3:
		e := goneFrom(id())
		e.Executor.Reason = wide(t, "reason")
		return e
	default:
		return end(at)
	}
}

// wildRequest draws what mallory asks of an application of hers.
func wildRequest(t *rapid.T, id api.AppID) (api.Verb, api.ControlRequest) {
	q := api.ControlRequest{App: id}
	switch verb := rapid.SampledFrom([]api.Verb{api.VerbDeadline, api.VerbDeadline, api.VerbCap, api.VerbStep, api.VerbKill, api.VerbRelease, api.VerbExit}).Draw(t, "verb"); verb {
	case api.VerbDeadline:
		if q.Extend = amount[units.Seconds](t, "extend"); rapid.Bool().Draw(t, "replace") {
			q.Extend, q.Deadline = 0, q.Extend
		}
		return verb, q
	case api.VerbCap:
		q.Cap = amount[units.Cores](t, "cap")
		return verb, q
	case api.VerbStep:
		q.Step = &api.Step{Stage: number(t, "of stage"), Low: amount[float64](t, "low"), High: amount[float64](t, "high"), Each: amount[units.Seconds](t, "each")}
		return verb, q
	case api.VerbExit:
		q.Submission, q.ExitCode, q.Elapsed = "s1", number(t, "code"), amount[units.Seconds](t, "elapsed")
		return verb, q
	default:
		return verb, q
	}
}

// Whatever mallory registers, puts, says and asks, and whatever a node says of what she runs: what is taken makes Plans that
// nodes take as wholes, and ann's application is in them with its target.
func TestAttackByAnyApplicationOnAPlanner(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		w := newWorld(t, "a", "b")
		w.standby = nil // It would take most of the time.
		w.hosts["c"] = []string{"host-a"}
		w.hello("c")
		id := w.hers()
		var evil []api.AppID
		submissions := map[api.AppID]string{}
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			one := api.AppID("")
			if len(evil) > 0 {
				one = rapid.SampledFrom(evil).Draw(t, "application")
			}
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				r := wildRegistration(t, i)
				if reply := w.registers(mallory, r); reply.Error == nil {
					evil, submissions[reply.AppID] = append(evil, reply.AppID), r.Submission
				}
			case 2:
				p := wildProfile(t, i)
				w.asks(mallory, api.VerbProfilePut, api.ControlRequest{Body: &p})
			case 3:
				if one != "" {
					w.send(one, submissions[one], wildEvent(t))
				}
			case 4:
				verb, q := wildRequest(t, one)
				w.asks(mallory, verb, q)
			case 5:
				if one == "" {
					break
				}
				s := w.status("a")
				s.Executors = []api.ExecutorStatus{{App: one, ID: "1", State: api.ExecutorRunning, Quota: api.Unknown},
					{App: id, ID: "1", State: api.ExecutorRunning, CPU: units.Work(i), Quota: api.Unknown}}
				faultyStatus[rapid.SampledFrom(slices.Sorted(maps.Keys(faultyStatus))).Draw(t, "fault")](&s, one)
				w.step(planner.Status{Status: &s})
				if x := w.e.View().App(id).Executor("1"); x.CPU != units.Work(i) {
					t.Fatalf("what is said of ann's executor is not taken: %v", x.CPU)
				}
			}
			w.pass(time.Duration(rapid.IntRange(0, 3).Draw(t, "seconds")) * time.Second)
			w.step(planner.Status{Status: new(w.status("b"))})
			w.step(planner.Status{Status: new(w.status("c"))})
			w.step(planner.Status{Status: new(w.status("a"))})
			w.resend(id, "submission of hers")
			w.sharesNoFate(id)
		}
		w.restart()
		w.pass(time.Second)
	})
}
