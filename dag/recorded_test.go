package dag_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// spark runs tasks on the slots of one executor as Spark does, the stage submitted
// first before the others, and returns what a recorder would note: the independent
// oracle of a recorded run. A driver's gaps are those of the profile.
func spark(p api.Profile, slots int, tasks [][]float64) api.Profile {
	n := len(p.Stages)
	free := make([]float64, slots) // When each slot is next free.
	ready, end := make([]float64, n), make([]float64, n)
	next, last := make([]int, n), make([]float64, n)
	for i := range n {
		ready[i], end[i] = math.Inf(1), math.Inf(1)
	}
	for {
		for i, s := range p.Stages {
			at := float64(p.Head)
			for j := range n {
				if depends(p, j, i) {
					at = max(at, end[j])
				}
			}
			ready[i] = at + float64(s.Gap)
		}
		k, stage, at := 0, -1, math.Inf(1)
		for slot, from := range free {
			for i := range n {
				if next[i] < len(tasks[i]) && max(from, ready[i]) < at {
					k, stage, at = slot, i, max(from, ready[i])
				}
			}
		}
		if stage < 0 {
			break
		}
		free[k] = at + tasks[stage][next[stage]]
		last[stage] = max(last[stage], free[k])
		if next[stage]++; next[stage] == len(tasks[stage]) {
			end[stage] = last[stage]
		}
	}
	p.Duration = p.Tail
	for i := range n {
		p.Stages[i].Duration = units.Seconds(end[i] - ready[i])
		p.Duration = max(p.Duration, units.Seconds(end[i])+p.Tail)
	}
	return p
}

// A forecast of the recorded shape gives the recorded time, whatever tails, waits and
// stages side by side the run had.
func TestForecastOfTheRecordedShapeIsTheRecordedTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		p.Runs, p.Cores = 1, units.Cores(rapid.IntRange(1, 4).Draw(t, "cores"))
		tasks := make([][]float64, len(p.Stages))
		for i := range p.Stages {
			s := &p.Stages[i]
			s.Tasks, s.LongestTask = rapid.IntRange(1, 12).Draw(t, "tasks"), 0
			cpu := 0.0
			for range s.Tasks {
				took := rapid.Float64Range(0.2, 2).Draw(t, "task")
				tasks[i] = append(tasks[i], took)
				// Tasks wait for their input, too.
				cpu += took * rapid.Float64Range(0.7, 1).Draw(t, "computing")
				s.LongestTask = max(s.LongestTask, units.Seconds(took*0.7))
			}
			s.CoreSeconds, s.Records, s.NominalRate = units.Work(cpu), int64(100*cpu)+1, units.Rate((100*cpu+1)/cpu)
		}
		p = spark(p, int(p.Cores), tasks)
		f := mustNew(t, p).Forecast(criticalPath(), 0, dag.Supply{Cores: p.Cores}, 0)
		if !near(float64(f.FullCores), float64(p.Duration), 0.03*float64(p.Duration)) {
			t.Fatalf("recorded %v, all cores would finish in %v", p.Duration, f.FullCores)
		}
	})
}

// What no run showed alone has no times to rely on: it is judged by its work.
func TestContendedRunsAndHandWrittenProfilesAreJudgedByTheirWork(t *testing.T) {
	p := profile(1, 1, stage(0, 0, 8, 20, 30, 0, 1))
	p.Runs, p.Cores = 1, 2
	full := func() units.Seconds {
		return mustNew(t, p).Forecast(criticalPath(), 0, dag.Supply{Cores: 2}, 0).FullCores
	}
	wantNear(t, "recorded", full(), 32)
	p.Contended = true
	wantNear(t, "contended", full(), 12)
	p.Contended, p.Runs = false, 0
	wantNear(t, "written by hand", full(), 12)
}

// Stages on executors of their own cost what these take to start and to warm up:
// four branches of 8 core-seconds on four cores are done in 8 s on one executor.
func TestAnotherExecutorHasItsPrice(t *testing.T) {
	p := profile(0, 0, stage(0, 0, 8, 8, 2, 0, 0), stage(1, 0, 8, 8, 4, 0, 0), stage(2, 0, 8, 8, 6, 0, 0), stage(3, 0, 8, 8, 8, 0, 0))
	p.Runs, p.Cores, p.ExecutorStart = 1, 4, 4
	for i := range p.Stages {
		p.Stages[i].Warmup = 2
	}
	g := mustNew(t, p)
	for executors, want := range map[int]units.Seconds{1: 8, 2: 8 + 1 + 0.5, 4: 8 + 3 + 1.5} {
		params := criticalPath()
		if executors < 4 {
			params.Executors = executors
		}
		f := g.Forecast(params, 1, dag.Supply{Cores: 4}, 0)
		wantNear(t, "recorded shape", f.FullCores, 8)
		last := slices.MaxFunc(f.Stages, func(x, y dag.StageForecast) int { return int(1e6 * (x.Start + x.Duration - y.Start - y.Duration)) })
		wantNear(t, "end", last.Start+last.Duration, want)
	}
}
