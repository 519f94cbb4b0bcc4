package node

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/node/meter"
	"github.com/sparkpacer/pacer/units"
)

// extreme draws a number at a bound, beyond it, or none.
func extreme(t *rapid.T, what string) float64 {
	return rapid.SampledFrom([]float64{0, -1, 1, 1e-9, 3, api.MostCount, api.MostCount + 1, api.MostCores, api.MostCores + 1, api.MostMoved, api.MostAmount,
		1.1 * api.MostAmount, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}).Draw(t, what)
}

// whole is extreme for whole numbers.
func whole(t *rapid.T, what string) int {
	return rapid.SampledFrom([]int{0, 1, -1, 7, api.MostCount, api.MostCount + 1, 1 << 40, api.MostMoved, api.MostMoved + 1, math.MaxInt64, math.MinInt64}).Draw(t, what)
}

// wide draws a text as what a user controls may have it.
func wide(t *rapid.T, what string) string {
	return strings.Repeat(rapid.SampledFrom([]string{"", "x", "\xff", "\u20ac", "\x00", "\x1b[2J", "<", "\n", "\u2028"}).Draw(t, what),
		rapid.SampledFrom([]int{1, 100, api.MostName, api.MostText, 64 << 10}).Draw(t, what+" length"))
}

// wildPage draws what user code in an executor may write.
func wildPage(t *rapid.T, p *meter.Page) {
	key := func() api.StageKey {
		return api.StageKey{Stage: whole(t, "stage"), Attempt: rapid.SampledFrom([]int{0, 0, -1, math.MaxInt64}).Draw(t, "attempt")}
	}
	if rapid.Bool().Draw(t, "the page's own stage") && len(p.Stages) > 0 {
		s := &p.Stages[0]
		switch field := rapid.IntRange(0, 9).Draw(t, "field"); field {
		case 0:
			s.Finished = whole(t, "finished")
		case 1:
			s.Failed = whole(t, "failed")
		case 2:
			s.Running = whole(t, "running")
		default:
			*[]*float64{&s.Weight, &s.Records, (*float64)(&s.CPU), &s.RunningRecords, (*float64)(&s.RunningCPU), &s.Heaviest, (*float64)(&s.LargeCPU)}[field-3] =
				extreme(t, "amount")
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "stages more") {
		p.Stages = append(p.Stages, meter.Stage{Key: key(), Finished: max(0, whole(t, "finished")), Running: max(0, whole(t, "running")),
			Weight: extreme(t, "weight"), LargeCPU: units.Work(extreme(t, "large")), LargeReading: units.Work(extreme(t, "reading"))})
	}
	if rapid.Bool().Draw(t, "a task") {
		p.Tasks = append(p.Tasks, meter.Task{Stage: key(), Partition: whole(t, "partition"), Weight: extreme(t, "task"), CPU: units.Work(extreme(t, "CPU of the task"))})
	}
	if rapid.Bool().Draw(t, "memory") {
		size := func(what string) units.Bytes { return units.Bytes(whole(t, what)) }
		p.Memory = meter.Memory{Known: true, Moves: rapid.Bool().Draw(t, "moves"), InForce: size("in force"), Storage: size("storage"), Execution: size("execution"),
			Owed: size("owed"), Spilled: size("spilled"), Evicted: size("evicted"), Heap: size("heap"), Met: whole(t, "met"), Moving: time.Duration(whole(t, "moving"))}
	}
}

// wildSample draws what a kernel, a runtime and user code may show of an executor.
func wildSample(t *rapid.T, s *ExecutorSample) {
	wildPage(t, &s.Page)
	switch rapid.IntRange(0, 6).Draw(t, "reading") {
	case 0:
		s.CPU = units.Work(extreme(t, "CPU"))
	case 1:
		s.Quota = units.Cores(extreme(t, "quota"))
	case 2:
		s.Throttled = time.Duration(whole(t, "throttled"))
	case 3:
		s.PID = whole(t, "pid")
	case 4:
		s.Memory = ExecutorMemory{Limit: units.Bytes(whole(t, "limit")), Resident: units.Bytes(whole(t, "resident")), Cache: units.Bytes(whole(t, "cache")),
			Wanted: units.Bytes(whole(t, "wanted")), Wish: uint64(max(0, whole(t, "wish")))}
	case 5:
		s.Found = Found{Ceiling: units.Cores(extreme(t, "ceiling")), Unpaced: wide(t, "unpaced"), Page: wide(t, "page"), Unguarded: true}
	default:
		s.Exited = rapid.IntRange(0, 4).Draw(t, "exited") == 0
		s.Exit, s.ExitCode, s.Refused = wide(t, "exit"), whole(t, "code"), rapid.Bool().Draw(t, "refused")
	}
}

// Whatever user code shows of an application, whatever its processes are, and whatever a planner says of it: what the node
// tells is taken as a whole, what it remembers can be stored, and all others go on as their Plan says.
func TestAttackByAnyApplicationOnANode(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		w := beside(t)
		if rapid.Bool().Draw(t, "the node attaches") {
			w = newWorld(t, attaching(4))
			w.ready(1, attachedApp(appA, 2, ids("1")), attachedApp(appB, 2, ids("1")))
			for _, x := range w.execs {
				x.hidden = false
			}
			w.ticks(2)
		}
		rev := uint64(1)
		for epoch := range uint64(rapid.IntRange(1, 6).Draw(t, "steps")) {
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				evil, good := planApp(appA, 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1)), planApp(appB, 2, ids("1"), target(0, "1", 40, 40, 40*time.Second, 1))
				faultyPart[rapid.SampledFrom(slices.Sorted(maps.Keys(faultyPart))).Draw(t, "fault")](&evil)
				rev++
				good.Stages[0].Rev = rev
				w.apply(plan(3+epoch, evil, good))
				if c := w.e.roster.index[Key{appB, "1"}].target(api.StageKey{}); w.e.roster.plan.Epoch != 3+epoch || c == nil || c.target.Rev != rev {
					t.Fatalf("the other application's part does not count: epoch %d", w.e.roster.plan.Epoch)
				}
			case 1:
				w.failed = append(w.failed, Failure{rapid.SampledFrom([]ActionKind{ActStart, ActStop, ActSetQuota, ActMeasure}).Draw(t, "failed"), Key{appA, "1"}, wide(t, "why")})
			}
			w.spoilt(rapid.IntRange(1, 3).Draw(t, "ticks"), func(s *ExecutorSample) { wildSample(t, s) })
			w.status = w.e.Status(w.now)
			if x, _ := told(t, w.travels(t), Key{appB, "1"}); x.State != api.ExecutorRunning || x.Stale || x.Exit != "" {
				t.Fatalf("the other application: %+v", x)
			}
			mustJSON(t, w.e.Events())
		}
		w.restart(w.e.roster.cfg)
	})
}
