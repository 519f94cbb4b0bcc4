package api_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
)

func goodRegistration() api.RegisterRequest {
	return api.RegisterRequest{V: api.Version, Submission: "u 1", Name: "wordcount", Launch: api.Launch{SparkVersion: "4.3.0", DriverURL: "spark://CoarseGrainedScheduler@127.0.0.1:40123", Heap: 1 << 30}}
}

func goodStatus() api.NodeStatus {
	return api.NodeStatus{V: api.Version, Node: "n1", Incarnation: "i1", Host: "h", Offered: 2, Total: 2, Memory: 1 << 30,
		Executors: []api.ExecutorStatus{{App: "app-1", ID: "1", State: api.ExecutorRunning, Quota: api.Unknown}},
		Stages:    []api.StageStatus{{App: "app-1", Executor: "1", Samples: []api.StageSample{{Grant: api.Unknown}}}}}
}

func goodEvents() api.Events {
	bindings := []api.Binding{{Executor: "1", Weight: 8, Tasks: 8}}
	return api.Events{V: api.Version, AppID: "app-1", Submission: "u 1", Events: []api.Event{
		{Seq: 1, Type: api.EventExecutorUp, Executor: &api.ExecutorEvent{ID: "1"}},
		{Seq: 2, Type: api.EventStageReady, Stage: &api.StageReady{Tasks: 8, Records: api.Unknown, Bytes: api.Unknown, Bindings: bindings}},
		{Seq: 3, Type: api.EventStageBound, Bound: &api.StageBound{Bindings: bindings}},
		{Seq: 4, Type: api.EventStageDone, Done: &api.StageDone{Tasks: 8, TaskCost: -1e-17}},
	}}
}

func long(n int) string { return strings.Repeat("x", n+1) }

// What is beyond a bound is refused as invalid, with its name; the same within the bounds is
// taken.
func TestWhatComesInIsBounded(t *testing.T) {
	register := func(want string, change func(*api.RegisterRequest)) {
		r := goodRegistration()
		change(&r)
		refused(t, want, r.Validate())
	}
	status := func(want string, change func(*api.NodeStatus)) {
		s := goodStatus()
		change(&s)
		refused(t, want, s.Validate())
	}
	events := func(want string, change func(*api.Events)) {
		e := goodEvents()
		change(&e)
		refused(t, want, e.Validate())
	}
	s := goodStatus()
	for name, err := range map[string]error{"registration": goodRegistration().Validate(), "status": s.Validate(), "events": goodEvents().Validate()} {
		if err != nil {
			t.Errorf("a good %s: %v", name, err)
		}
	}

	register("submission", func(r *api.RegisterRequest) { r.Submission = long(api.MostToken) })
	register("name has", func(r *api.RegisterRequest) { r.Name = long(api.MostName) })
	register("profile has", func(r *api.RegisterRequest) { r.Profile = long(api.MostName) })
	register("user has", func(r *api.RegisterRequest) { r.User = long(api.MostName) })
	register("app_id", func(r *api.RegisterRequest) { r.AppID = "a b" })
	register("deadline_s", func(r *api.RegisterRequest) { r.Deadline = 1e300 })
	register("elapsed_s", func(r *api.RegisterRequest) { r.Elapsed = units.Seconds(math.NaN()) })
	register("certainty is 1", func(r *api.RegisterRequest) { r.Launch.Certainty = 1 })
	register("certainty is 0.4", func(r *api.RegisterRequest) { r.Launch.Certainty = 0.4 })
	register("utc_offset_s", func(r *api.RegisterRequest) { r.UTCOffset = math.MaxInt64 })
	register("mode", func(r *api.RegisterRequest) { r.Mode = api.Mode(long(1 << 20)) })
	register("class", func(r *api.RegisterRequest) { r.Class = api.Class(long(1 << 20)) })
	register("driver_url has", func(r *api.RegisterRequest) { r.Launch.DriverURL = long(api.MostName) })
	register("java_home has", func(r *api.RegisterRequest) { r.Launch.JavaHome = long(api.MostPath) })
	register("spark_home has", func(r *api.RegisterRequest) { r.Launch.SparkHome = long(api.MostPath) })
	register("image has", func(r *api.RegisterRequest) { r.Launch.Image = long(api.MostName) })
	register("cores", func(r *api.RegisterRequest) { r.Launch.Cores = api.MostCores + 1 })
	attach := func(want string, a api.Attach) { register(want, func(r *api.RegisterRequest) { r.Launch.Attach = &a }) }
	attach("attach.manager", api.Attach{Manager: "mesos", App: "application_1"})
	attach("attach.app is empty", api.Attach{Manager: api.ManagerYARN})
	attach("attach.app", api.Attach{Manager: api.ManagerYARN, App: "a b"})
	attach("attach.app", api.Attach{Manager: api.ManagerKubernetes, App: long(api.MostToken)})
	attach("attach.least", api.Attach{Manager: api.ManagerYARN, App: "a", Least: -1})
	attach("attach.most", api.Attach{Manager: api.ManagerYARN, App: "a", Most: api.MostExecutorID + 1})
	attach("attach.least is 3, more than attach.most, 2", api.Attach{Manager: api.ManagerYARN, App: "a", Least: 3, Most: 2})
	register("heap_bytes", func(r *api.RegisterRequest) { r.Launch.Heap = math.MaxInt64 })
	register("overhead_bytes", func(r *api.RegisterRequest) { r.Launch.Overhead = math.MaxInt64 })
	register("offheap_bytes", func(r *api.RegisterRequest) { r.Launch.OffHeap = -1 })
	register("together", func(r *api.RegisterRequest) {
		r.Launch.JavaOptions = slices.Repeat([]string{long(1 << 10)}, api.MostLaunch>>10)
	})
	register("together", func(r *api.RegisterRequest) { r.Launch.ClassPath = []string{long(api.MostLaunch)} })
	register("together", func(r *api.RegisterRequest) { r.Launch.Env = map[string]string{"A": long(api.MostLaunch)} })
	register("zero byte", func(r *api.RegisterRequest) { r.Launch.JavaOptions = []string{"-Da=b\x00c"} })
	register("zero byte", func(r *api.RegisterRequest) { r.Launch.Env = map[string]string{"A": "\x00"} })
	register("variable", func(r *api.RegisterRequest) { r.Launch.Env = map[string]string{"": "x"} })
	register("variable", func(r *api.RegisterRequest) { r.Launch.Env = map[string]string{"A=B": "x"} })

	status("epoch", func(s *api.NodeStatus) { s.Epoch = math.MaxUint64 })
	status("seq", func(s *api.NodeStatus) { s.Seq = math.MaxUint64 })
	status("node name", func(s *api.NodeStatus) { s.Node = long(1 << 20) })
	status("incarnation", func(s *api.NodeStatus) { s.Incarnation = long(api.MostToken) })
	status("host", func(s *api.NodeStatus) { s.Host = long(api.MostName) })
	status("release", func(s *api.NodeStatus) { s.Release = long(api.MostToken) })
	status("planner", func(s *api.NodeStatus) { s.Planner = long(api.MostToken) })
	status("offered_cores", func(s *api.NodeStatus) { s.Offered = 1e14 })
	status("total_cores", func(s *api.NodeStatus) { s.Total = 1e14 })
	status("others_cores", func(s *api.NodeStatus) { s.Others = -1 })
	status("memory_bytes", func(s *api.NodeStatus) { s.Memory = math.MaxInt64 })
	status("strategy", func(s *api.NodeStatus) { s.Division.Strategy = long(api.MostToken) })
	status("number of executors", func(s *api.NodeStatus) {
		s.Executors = slices.Repeat(s.Executors, api.MostExecutors+1)
	})
	status("executors[0]: executor id", func(s *api.NodeStatus) { s.Executors[0].ID = "\x1b[2J" })
	status("executors[0]: exit", func(s *api.NodeStatus) { s.Executors[0].Exit = long(api.MostText) })
	status("executors[0]: core_seconds", func(s *api.NodeStatus) { s.Executors[0].CPU = 1e300 })
	status("executors[0]: quota_cores", func(s *api.NodeStatus) { s.Executors[0].Quota = -2 })
	status("executors[0]: ceiling_cores", func(s *api.NodeStatus) { s.Executors[0].Ceiling = -1 })
	status("executors[0]: unpaced", func(s *api.NodeStatus) { s.Executors[0].Unpaced = long(api.MostText) })
	status("number of hosts", func(s *api.NodeStatus) { s.Hosts = slices.Repeat([]string{"h"}, api.MostHosts+1) })
	status("a host", func(s *api.NodeStatus) { s.Hosts = []string{long(api.MostName)} })
	status("number of stages", func(s *api.NodeStatus) { s.Stages = slices.Repeat(s.Stages, api.MostStageReports+1) })
	status("stages[0]: core_seconds", func(s *api.NodeStatus) { s.Stages[0].CPU = -1 })
	status("stages[0]: stage is", func(s *api.NodeStatus) { s.Stages[0].Stage = -1 })
	status("stages[0]: the number of samples", func(s *api.NodeStatus) {
		s.Stages[0].Samples = slices.Repeat(s.Stages[0].Samples, api.MostSamples+1)
	})
	status("stages[0]: an amount", func(s *api.NodeStatus) { s.Stages[0].Samples[0].Used = 1e300 })
	status("losses[0]", func(s *api.NodeStatus) { s.Losses = []api.Loss{{App: "a", CoreSeconds: -1}} })

	events("host has", func(e *api.Events) { e.Events[0].Executor.Host = long(api.MostName) })
	events("container has", func(e *api.Events) { e.Events[0].Executor.Container = long(api.MostName) })
	events("machine has", func(e *api.Events) { e.Events[0].Executor.Machine = long(api.MostName) })
	events("cores is", func(e *api.Events) { e.Events[0].Executor.Cores = -1 })
	events("memory_bytes", func(e *api.Events) { e.Events[0].Executor.Memory = -1 })
	events("number of events", func(e *api.Events) {
		e.Events = nil
		for i := range api.MostEvents + 1 {
			e.Events = append(e.Events, api.Event{Seq: uint64(i + 1), Type: api.EventEnd})
		}
	})
	events("events[0]: seq", func(e *api.Events) { e.Events = e.Events[:1]; e.Events[0].Seq = math.MaxUint64 })
	events("events[0]: executor id", func(e *api.Events) { e.Events[0].Executor.ID = api.ExecutorID(long(api.MostToken)) })
	events("events[0]: reason", func(e *api.Events) { e.Events[0].Executor.Reason = long(api.MostText) })
	events("events[1]: name", func(e *api.Events) { e.Events[1].Stage.Name = long(api.MostName) })
	events("events[1]: signature", func(e *api.Events) { e.Events[1].Stage.Signature = long(api.MostToken) })
	events("events[1]: the number of parents", func(e *api.Events) { e.Events[1].Stage.Parents = make([]int, api.MostParents+1) })
	events("events[1]: the number of bindings", func(e *api.Events) {
		e.Events[1].Stage.Bindings = slices.Repeat(e.Events[1].Stage.Bindings, api.MostBindings+1)
	})
	events("events[1]: records", func(e *api.Events) { e.Events[1].Stage.Records = -2 })
	events("events[2]: weight", func(e *api.Events) { e.Events[2].Bound.Bindings[0].Weight = 1e300 })
	events("events[2]: tasks", func(e *api.Events) { e.Events[2].Bound.Bindings[0].Tasks = -1 })
	events("events[3]: reason", func(e *api.Events) { e.Events[3].Done.Reason = long(api.MostText) })
	events("events[3]: task_cpu_s", func(e *api.Events) { e.Events[3].Done.TaskCPU = 1e300 })
	events("type", func(e *api.Events) { e.Events[3].Type = api.EventType(long(1 << 20)) })

	refused(t, "number of stages", manyStages(api.MostStages+1, 0).Validate())
	refused(t, "number of parents", manyStages(400, 400).Validate())
	if err := manyStages(api.MostStages, 10).Validate(); err != nil {
		t.Errorf("a profile at the bound: %v", err)
	}
	varied := func(n, stages int) api.Profile {
		p := goodProfile()
		for range n {
			p.Variants = append(p.Variants, manyStages(stages, 0))
		}
		return p
	}
	if err := varied(api.MostVariants-1, 3).Validate(); err != nil {
		t.Errorf("a profile of all its variants: %v", err)
	}
	refused(t, "number of variants", varied(api.MostVariants, 1).Validate())
	refused(t, "number of stages", varied(2, api.MostStages/2).Validate())
	nested := varied(2, 1)
	nested.Variants[1].Variants, nested.Variants[0].Schema, nested.Variants[1].Stages[0].Tasks = varied(1, 1).Variants, 2, 0
	for _, want := range []string{"variants[0]: schema", "variants[1]: it has variants", "tasks is 0"} {
		refused(t, want, nested.Validate())
	}
	plan := api.Plan{V: api.Version, Epoch: math.MaxUint64, Apps: []api.PlanApp{{ID: "a b"}}}
	refused(t, "epoch", plan.Validate())
	refused(t, "apps[0]: id", plan.Validate())
	refused(t, "profile has", (&api.ControlRequest{V: api.Version, Profile: long(api.MostName)}).Validate())
	refused(t, "extend_s", (&api.ControlRequest{V: api.Version, Extend: 1e300}).Validate())
	refused(t, "cores", (&api.PlanRequest{V: api.Version, Cores: 1e300}).Validate())
	refused(t, "offset", (&api.LogRequest{V: api.Version, Stream: "stdout", Offset: math.MaxInt64}).Validate())
}

// refused checks that err names what is wrong, and is itself no longer than a line may be.
func refused(t *testing.T, want string, err error) {
	t.Helper()
	if err == nil || api.KindOf(err) != api.KindInvalid || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want one that is invalid and names %q", err, want)
	} else if len(err.Error()) > 16<<10 {
		t.Errorf("the error about %s has %d bytes", want, len(err.Error()))
	}
}

// manyStages is a profile of n stages, each of which reads from up to parents before it.
func manyStages(n, parents int) api.Profile {
	p := goodProfile()
	one := p.Stages[0]
	p.Stages = nil
	for i := range n {
		one.ID, one.Parents = i, nil
		for k := max(0, i-parents); k < i; k++ {
			one.Parents = append(one.Parents, k)
		}
		p.Stages = append(p.Stages, one)
	}
	return p
}

// Many faults are counted, not listed.
func TestAListOfFaultsEnds(t *testing.T) {
	e := api.Events{V: api.Version, Events: make([]api.Event, api.MostEvents)}
	err := e.Validate()
	if err == nil || !strings.Contains(err.Error(), "more") || strings.Count(err.Error(), ";") > 21 {
		t.Errorf("%.4000v", err)
	}
}

// Size is not far below what an event takes: of a request that is filled by it the planner
// takes the bytes.
func TestAFullRequestIsTaken(t *testing.T) {
	most := api.Event{Seq: api.MostNumber, At: 123456.789012, Type: api.EventStageReady, Stage: &api.StageReady{
		StageKey: api.StageKey{Stage: math.MaxInt32, Attempt: 3}, Job: math.MaxInt32, Name: strings.Repeat("\x01", api.MostName), Signature: long(100),
		Parents: slices.Repeat([]int{math.MaxInt32}, api.MostParents), Tasks: math.MaxInt32, Records: math.MaxInt64, Bytes: math.MaxInt64,
		Bindings: slices.Repeat([]api.Binding{{Executor: "1234567890", Weight: 12345.678901234, Tasks: 1234567}}, api.MostBindings),
	}}
	for _, e := range []api.Event{most, {Seq: 1, Type: api.EventEnd, Reason: strings.Repeat("\x01", api.MostText)}} {
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if len(body) > api.MostEventBytes/2 && len(body) > 2*e.Size() || len(body) > api.MostEventBytes {
			t.Errorf("an event of %d bytes by its size has %d", e.Size(), len(body))
		}
		if fit := api.BatchBytes / e.Size(); fit*len(body) > api.MostEventBytes {
			t.Errorf("%d events of %d bytes go into a request, which may have %d", fit, len(body), api.MostEventBytes)
		}
	}
}

func TestClipKeepsWhatFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, most := rapid.String().Draw(t, "s"), rapid.IntRange(3, 40).Draw(t, "most")
		got := api.Clip(s, most)
		switch {
		case len(s) <= most && got != s:
			t.Fatalf("%q became %q", s, got)
		case len(got) > most || !utf8.ValidString(got):
			t.Fatalf("%q is not valid or longer than %d", got, most)
		case len(s) > most && !strings.HasPrefix(s, strings.TrimSuffix(got, "...")):
			t.Fatalf("%q is no beginning of %q", got, s)
		}
	})
}

// A status without a fault costs a planner no memory.
func TestAStatusIsCheckedWithoutGarbage(t *testing.T) {
	s := goodStatus()
	s.Executors, s.Stages = slices.Repeat(s.Executors, 64), slices.Repeat(s.Stages, 64)
	if n := testing.AllocsPerRun(10, func() {
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
