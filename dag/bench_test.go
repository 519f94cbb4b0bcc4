package dag_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
)

// shapes are profiles of as many stages as one may have.
func shapes() map[string]api.Profile {
	random := rand.New(rand.NewPCG(1, 2))
	shape := func(job func(i int) int, parents func(i int) []int) api.Profile {
		p := profile(10, 1)
		p.Runs, p.Cores = 1, 4
		for i := range api.MostStages {
			s := stage(i, job(i), 8, 5, 2, 0.05, 0.5, parents(i)...)
			s.Duration += 2 // It waits, too.
			s.Records += random.Int64N(200)
			p.Stages = append(p.Stages, s)
		}
		return p
	}
	one := func(int) int { return 0 }
	before := func(k int) func(i int) []int {
		return func(i int) []int {
			if i < k {
				return nil
			}
			return []int{i - k}
		}
	}
	return map[string]api.Profile{
		"jobs":     shape(func(i int) int { return i }, before(api.MostStages)),
		"diamonds": shape(func(i int) int { return i / 4 }, func(i int) []int { return [][]int{nil, {i - 1}, {i - 2}, {i - 2, i - 1}}[i%4] }),
		"wide":     shape(one, before(api.MostStages)),
		"join":     shape(one, func(i int) []int { return map[bool][]int{true: places(i)}[i == api.MostStages-1] }),
		"halves":   shape(func(i int) int { return 2 * i / api.MostStages }, before(api.MostStages)),
		"chains":   shape(one, before(2)),
		"any": shape(one, func(i int) (parents []int) {
			for range min(i, 30) {
				parents = append(parents, random.IntN(i))
			}
			return parents
		}),
	}
}

func places(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// What a registration of the largest profiles asks, and what it takes to keep one.
func BenchmarkLargest(b *testing.B) {
	for name, p := range shapes() {
		g := mustNew(b, p)
		supply, params := dag.Supply{Cores: 4, Slots: 4}, dag.Default()
		params.Split = dag.SplitCriticalPath
		full := g.Forecast(params, 0, supply, 0).FullCores
		b.Run(fmt.Sprint("new/", name), func(b *testing.B) {
			for b.Loop() {
				mustNew(b, p)
			}
		})
		b.Run(fmt.Sprint("register/", name), func(b *testing.B) {
			for b.Loop() {
				shape := g.Choose(params, 4, 1.2*full, supply, 0)
				g.Forecast(shape, 1.2*full, supply, 0)
			}
		})
	}
}
