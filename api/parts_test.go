package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// crowd is a good status with n executors and stages of another application before its own.
func crowd(n int) api.NodeStatus {
	s := goodStatus()
	for i := range n {
		id := api.ExecutorID(fmt.Sprint(i))
		s.Executors = append(s.Executors, api.ExecutorStatus{App: "app-0", ID: id, State: api.ExecutorRunning, Quota: api.Unknown})
		s.Stages = append(s.Stages, api.StageStatus{App: "app-0", Executor: id, Samples: make([]api.StageSample, api.MostSamples)})
	}
	slices.Reverse(s.Executors)
	slices.Reverse(s.Stages)
	return s
}

// A sender's status is one that a receiver takes, and what was within the bounds has not changed.
func TestAStatusIsFitted(t *testing.T) {
	nan := math.NaN()
	s := goodStatus()
	bad := api.ExecutorStatus{App: "app-2", ID: "1", State: api.ExecutorState(long(api.MostToken)), Exit: strings.Repeat("\xff", 10<<10), ExitCode: math.MinInt64, PID: -1,
		CPU: units.Work(nan), Quota: units.Cores(math.Inf(1)), Throttled: -1, Ceiling: 1e300, Unpaced: long(api.MostText),
		Memory: api.ExecutorMemory{Heap: -1, Spilled: math.MaxInt64, Moves: math.MaxInt64, Moving: units.Seconds(nan)}}
	s.Executors = append(s.Executors, bad, api.ExecutorStatus{App: "a b", ID: "1"})
	s.Stages = append(s.Stages, api.StageStatus{App: "app-2", Executor: "1", CPU: -1, Progress: units.Fraction(nan), Finished: math.MaxInt64, QuotaChanges: -1,
		Samples: slices.Repeat([]api.StageSample{{Age: 1e300, SetPoint: units.Fraction(nan), Grant: -2, Running: -1}}, 9)},
		api.StageStatus{App: "app-2", StageKey: api.StageKey{Stage: -1}})
	s.Losses = []api.Loss{{App: "app-2", CoreSeconds: units.Work(math.Inf(1))}}
	s.Shortages = []api.Shortage{{App: "app-2", Asked: -1, Had: units.Cores(nan)}}
	s.Orphans = []api.Orphan{{App: "app-2", Owner: long(api.MostToken)}}
	s.Faults = []api.AppFault{{App: "app-2", Reason: "a\nb"}, {App: "app-2"}}
	s.Others = units.Cores(nan)
	s.Fit()
	body, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var read api.NodeStatus
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatal(err)
	}
	if err := read.Validate(); err != nil {
		t.Error(err)
	}
	good := goodStatus()
	if len(s.Executors) != 2 || s.Executors[0] != good.Executors[0] || len(s.Stages) != 2 || s.Faults[0].Reason != "a b" || len(s.Faults) != 1 ||
		s.Executors[1].PID != 0 || s.Executors[1].Quota != api.MostCores || s.Executors[1].ExitCode != -api.MostCount || len(s.Stages[1].Samples) != api.MostSamples {
		t.Errorf("%+v", s)
	}
}

// Of too many parts each application has as many as the others, and who has few has all.
func TestSharesAreCutFromTheLongest(t *testing.T) {
	s := crowd(3 * api.MostStageReports)
	s.Fit()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	last, lastStage := s.Executors[len(s.Executors)-1], s.Stages[len(s.Stages)-1]
	if last.App != "app-1" || lastStage.App != "app-1" || len(lastStage.Samples) != 1 || len(s.Executors) != api.MostExecutors || len(s.Stages) != api.MostStageReports {
		t.Errorf("%d executors, %d stages, the last %+v", len(s.Executors), len(s.Stages), last)
	}
	if n := len(s.Stages[0].Samples); n != 1 {
		t.Errorf("a stage of the many has %d ticks", n)
	}
}

// A receiver takes a message but for what is faulty, and is told of which applications that is.
func TestPartsAreSifted(t *testing.T) {
	s := crowd(2)
	s.Executors[0].CPU, s.Stages[0].Stage = -1, -1
	faults, err := s.Sift()
	if err != nil || len(faults) != 2 || faults[0].App != "app-0" || !strings.Contains(faults[0].Fault, "executors: core_seconds is -1") ||
		!strings.Contains(faults[1].Fault, "stages: stage is negative") {
		t.Errorf("%v, %v", faults, err)
	}
	if err := s.Validate(); err != nil || len(s.Executors) != 2 || len(s.Stages) != 2 {
		t.Errorf("%v: %+v", err, s)
	}
	s.Total = -1
	if _, err := s.Sift(); api.KindOf(err) != api.KindInvalid {
		t.Errorf("a node of no cores: %v", err)
	}
	s.V = 2
	if _, err := s.Sift(); api.KindOf(err) != api.KindVersion {
		t.Errorf("another version: %v", err)
	}
	p := api.Plan{V: api.Version, Apps: []api.PlanApp{{ID: "app-1"}, {ID: "app-2", Remaining: 2e15}, {ID: "app-3"}}, Over: make([]api.AppID, 2*api.MostExecutors)}
	p.Over[7] = "a b"
	faults, err = p.Sift()
	if err != nil || len(faults) != 2 || faults[1].App != "app-2" || len(p.Apps) != 2 || len(p.Over) != 2*api.MostExecutors-1 {
		t.Errorf("%v, %v: %+v", faults, err, p.Apps)
	}
	p.Epoch = math.MaxUint64
	if _, err := p.Sift(); api.KindOf(err) != api.KindInvalid {
		t.Errorf("an epoch beyond all reason: %v", err)
	}
}

// A Plan that is fitted has all its applications, and those that have few targets have all.
func TestAPlanIsFitted(t *testing.T) {
	few, all := make([]api.StageTarget, 3), make([]api.StageTarget, 4*api.MostStageReports)
	p := api.Plan{V: api.Version, Apps: []api.PlanApp{{ID: "app-1", Stages: few, Remaining: 5}, {ID: "app-2", Name: long(api.MostName), Remaining: -2e15, Least: units.Cores(math.NaN()),
		Cap: -1, NominalRate: units.Rate(math.Inf(1)), Launch: &api.Launch{TaskCPUs: 1e-6, Cores: 1 << 20}, Executors: make([]api.ExecutorID, api.MostExecutors+1), Stages: all}}}
	p.Fit()
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	if a, b := p.Apps[0], p.Apps[1]; len(a.Stages) != 3 || a.Remaining != 5 || len(b.Stages) != api.MostStageReports-3 || b.Remaining != -api.MostAmount ||
		b.Launch.TaskCPUs != api.LeastTaskCPUs || b.Launch.Cores != api.MostSlots {
		t.Errorf("%d and %d targets, %+v", len(a.Stages), len(b.Stages), b.Launch)
	}
}

// No more tasks run at once than there are slots, whatever they say that they use.
func TestTasksAtOnceAreNoMoreThanSlots(t *testing.T) {
	for cpus, want := range map[float64]int{0: 8, 1e-300: 8, 0.5: 8, 1: 8, 2: 4, 3: 2, 9: 1, 1e300: 1, -1: 8} {
		if got := (&api.Launch{TaskCPUs: cpus}).AtOnce(8); got != want {
			t.Errorf("tasks of %v cores: %d at once, want %d", cpus, got, want)
		}
	}
}

// A Plan names no more executors than a node tells of, and applications with few keep theirs.
func TestAttackAPlanOfExecutorsWithoutEnd(t *testing.T) {
	var p api.Plan
	for i := range 20 {
		a := api.PlanApp{ID: api.AppID(fmt.Sprint("app-", i))}
		for n := range map[bool]int{true: 10, false: 512}[i == 7] {
			a.Executors = append(a.Executors, api.ExecutorID(fmt.Sprint(n+1)))
		}
		p.Apps = append(p.Apps, a)
	}
	p.Fit()
	all := 0
	for _, a := range p.Apps {
		all += len(a.Executors)
	}
	if all > api.MostExecutors || all < api.MostExecutors-20 || len(p.Apps[7].Executors) != 10 || len(p.Apps[0].Executors) != (api.MostExecutors-10)/19 {
		t.Errorf("%d executors, %d and %d of applications", all, len(p.Apps[7].Executors), len(p.Apps[0].Executors))
	}
}
