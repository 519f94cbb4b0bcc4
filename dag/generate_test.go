package dag_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// stage returns an annotation whose nominal rate is 100 records per core-second.
func stage(id, job, tasks int, coreSeconds float64, duration, gap, longest units.Seconds, parents ...int) api.ProfileStage {
	return api.ProfileStage{ID: id, Job: job, Name: fmt.Sprint("stage ", id), Signature: fmt.Sprint("s", id), Parents: parents,
		Tasks: tasks, Duration: duration, Gap: gap, Records: int64(math.Round(100 * coreSeconds)),
		CoreSeconds: units.Work(coreSeconds), NominalRate: 100, LongestTask: longest, Warmup: nothing}
}

// nothing is known to be the cost of another executor, where a test is not about that.
const nothing units.Work = 1e-15

func profile(head, tail units.Seconds, stages ...api.ProfileStage) api.Profile {
	return api.Profile{Schema: api.ProfileSchema, Name: "test", Cores: 2, ExecutorStart: nothing, Head: head, Tail: tail, Stages: stages}
}

func mustNew(t interface {
	Helper()
	Fatal(...any)
}, p api.Profile) *dag.Graph {
	t.Helper()
	g, err := dag.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

func wantNear[T ~float64](t *testing.T, what string, got, want T) {
	t.Helper()
	if !near(float64(got), float64(want), 1e-6) {
		t.Errorf("%s = %v, want %v", what, float64(got), float64(want))
	}
}

// drawProfile makes a random valid profile of up to n stages with ids that have
// holes and times of a few seconds.
func drawProfile(t *rapid.T, n int) api.Profile {
	seconds := func(max float64, what string) units.Seconds {
		return units.Seconds(rapid.Float64Range(0, max).Draw(t, what))
	}
	p := profile(seconds(3, "head"), seconds(2, "tail"))
	id, job := 0, 0
	for range rapid.IntRange(1, n).Draw(t, "stages") {
		id += rapid.IntRange(1, 3).Draw(t, "id step")
		job += rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "job step")
		s := stage(id, job, rapid.IntRange(1, 6).Draw(t, "tasks"), rapid.Float64Range(0.5, 8).Draw(t, "work"),
			0.1+seconds(5, "duration"), seconds(1, "gap"), seconds(2, "longest"))
		for _, earlier := range p.Stages {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				s.Parents = append(s.Parents, earlier.ID)
			}
		}
		p.Stages = append(p.Stages, s)
	}
	return p
}

// depends is the oracle's relation, by place: j waits for i, directly.
func depends(p api.Profile, i, j int) bool {
	return p.Stages[i].Job < p.Stages[j].Job || slices.Contains(p.Stages[j].Parents, p.Stages[i].ID)
}

// reaches is the closure of depends, by Warshall.
func reaches(p api.Profile) [][]bool {
	n := len(p.Stages)
	r := make([][]bool, n)
	for i := range r {
		r[i] = make([]bool, n)
		for j := range r[i] {
			r[i][j] = depends(p, i, j)
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
	return r
}

// gapChain is the largest sum of gaps of a chain of the given places, where
// after is reaches(p).
func gapChain(p api.Profile, after [][]bool, places []int) units.Seconds {
	var best units.Seconds
	for _, first := range places {
		var rest []int
		for _, next := range places {
			if after[first][next] {
				rest = append(rest, next)
			}
		}
		best = max(best, p.Stages[first].Gap+gapChain(p, after, rest))
	}
	return best
}

// Two jobs of a hundred stages side by side, on two executors.
func BenchmarkForecastTurns(b *testing.B) {
	p := profile(10, 1)
	for i := range 200 {
		p.Stages = append(p.Stages, stage(i, i/100, 8, 5, 2, 0.05, 0.5))
	}
	g, params := mustNew(b, p), inTurn(2)
	for b.Loop() {
		if f := g.Forecast(params, 1000, dag.Supply{Cores: 4, Slots: 4}, 0); f.Verdict == "" {
			b.Fatal("no verdict")
		}
	}
}

func BenchmarkForecast200Stages(b *testing.B) {
	p := profile(10, 1)
	for i := range 200 {
		s := stage(i, i/10, 8, 5, 2, 0.05, 0.5)
		if i%10 > 1 {
			s.Parents = []int{i - 2}
		}
		p.Stages = append(p.Stages, s)
	}
	g := mustNew(b, p)
	for _, split := range dag.Splits() {
		b.Run(split, func(b *testing.B) {
			params := dag.Default()
			params.Split = split
			for b.Loop() {
				if f := g.Forecast(params, 1000, dag.Supply{Cores: 4, Slots: 4}, 0); f.Verdict == "" {
					b.Fatal("no verdict")
				}
			}
		})
	}
}
