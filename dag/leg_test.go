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

// drawLegs is a profile some of whose stages are of queries.
func drawLegs(t *rapid.T) api.Profile {
	p := drawProfile(t, 9)
	for i := range p.Stages {
		if n := rapid.IntRange(0, 3).Draw(t, "query"); n > 0 {
			p.Stages[i].Query = &api.QueryStage{Shape: "shape", Nth: n / 2, Exchange: -1}
		}
	}
	return p
}

// legsOf is the oracle: by place the first place of the leg. Stages of a query, or of a job without one, are in one leg
// with all between them.
func legsOf(p api.Profile) []int {
	same := func(i, k int) bool {
		x, y := &p.Stages[i], &p.Stages[k]
		if x.Query == nil || y.Query == nil {
			return x.Query == y.Query && x.Job == y.Job
		}
		return *x.Query == *y.Query
	}
	of := make([]int, len(p.Stages))
	for i := range of {
		of[i] = i
	}
	for again := true; again; {
		again = false
		for i := range of {
			for k := range i {
				if !same(i, k) && of[i] != of[k] {
					continue
				}
				for between := k; between <= i; between++ {
					again = again || of[between] != min(of[between], of[k])
					of[between] = min(of[between], of[k])
				}
			}
		}
	}
	return of
}

// longestOf is how long the leg of those places takes at all cores, from when its first stage is ready.
func longestOf(p api.Profile, first int, of []int) (takes units.Seconds) {
	ends := make([]units.Seconds, len(of))
	for i, s := range p.Stages {
		if of[i] != first {
			continue
		}
		begins, gap := units.Seconds(0), max(0, s.Gap-p.Stages[first].Gap)
		for k := range i {
			if of[k] == first && depends(p, k, i) {
				begins, gap = max(begins, ends[k]), s.Gap
			}
		}
		ends[i] = begins + gap + s.Duration
		takes = max(takes, ends[i])
	}
	return takes
}

func TestLegsAreQueriesAndTheJobsOfNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawLegs(t)
		g, of, seen := mustNew(t, p), legsOf(p), map[int]int{}
		for i, s := range p.Stages {
			leg, takes, known := dag.LegOf(s.ID, g)
			if _, has := seen[of[i]]; !has {
				seen[of[i]] = len(seen)
			}
			if want := longestOf(p, of[i], of); !known || leg != seen[of[i]] || !near(float64(takes), float64(want), 1e-9) {
				t.Fatalf("stage at place %d: leg %d of %v s, want %d of %v", i, leg, takes, seen[of[i]], want)
			}
		}
	})
	if _, _, known := dag.LegOf(7, mustNew(t, profile(0, 0, stage(0, 0, 1, 1, 1, 0, 0)))); known {
		t.Error("a stage that is not there has a leg")
	}
}

// bounded are parameters by which legs have a bound, and its size for a leg that takes so long.
func bounded(t *rapid.T) (dag.Params, func(takes units.Seconds) units.Seconds) {
	p := criticalPath()
	p.Legs = dag.Bound{Most: units.Seconds(rapid.Float64Range(0.1, 60).Draw(t, "most")), Factor: rapid.Float64Range(1, 5).Draw(t, "factor")}
	switch rapid.IntRange(0, 2).Draw(t, "which") {
	case 0:
		p.Legs.Most = 0
	case 1:
		p.Legs.Factor = 0
	}
	return p, func(takes units.Seconds) units.Seconds {
		bound := units.Seconds(math.Inf(1))
		if p.Legs.Most > 0 {
			bound = p.Legs.Most
		}
		if p.Legs.Factor > 0 {
			bound = min(bound, units.Seconds(p.Legs.Factor)*takes)
		}
		return bound
	}
}

// No query and no job gets a horizon beyond its bound: whenever a stage is ready, what it may take ends before, and where
// all its stages take just what they may, so does it.
func TestNoJobGetsAHorizonBeyondItsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawLegs(t)
		g, of := mustNew(t, p), legsOf(p)
		q, bound := bounded(t)
		q.Executors = rapid.IntRange(0, 2).Draw(t, "executors")
		began, ends, short := map[int]units.Seconds{}, make([]units.Seconds, len(of)), map[int]bool{}
		for i, s := range p.Stages {
			ready := p.Head + s.Gap
			for k := range i {
				if depends(p, k, i) {
					ready = max(ready, ends[k]+s.Gap)
				}
			}
			if _, has := began[of[i]]; !has {
				began[of[i]] = ready
			}
			m := dag.Moment{Deadline: 1e6, Spent: ready, Stage: s.ID, Began: min(began[of[i]], ready)}
			may, limit := q.Within(g, m), began[of[i]]+bound(longestOf(p, of[i], of))
			if may > 0 && ready+may > limit+1e-9 {
				t.Fatalf("stage at place %d may take until %v, its leg until %v", i, ready+may, limit)
			}
			if q.Legs.Factor > 0 && may > units.Seconds(q.Legs.Factor)*s.Duration {
				t.Fatalf("stage at place %d may take %v of %v s", i, may, s.Duration)
			}
			short[of[i]] = short[of[i]] || may <= 0
			if ends[i] = ready + max(0, may); !short[of[i]] && ends[i] > limit+1e-9 {
				t.Fatalf("stage at place %d ends at %v, after %v", i, ends[i], limit)
			}
		}
	})
}

// A forecast knows the bound: its stages get no more time, it is in time as without one, and one that nothing reaches
// changes nothing.
func TestAForecastKeepsTheBoundOfLegs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawLegs(t)
		g, of := mustNew(t, p), legsOf(p)
		q, bound := bounded(t)
		f := g.Forecast(q, 500, dag.Supply{Cores: 8}, 0)
		starts := map[int]units.Seconds{}
		for i := range p.Stages {
			if at, has := starts[of[i]]; !has || f.Stages[i].Start < at {
				starts[of[i]] = f.Stages[i].Start
			}
		}
		for i, s := range f.Stages {
			limit := starts[of[i]] + bound(longestOf(p, of[i], of))
			if s.Deadline > 0 && s.Start+s.Deadline > limit+1e-6 {
				t.Fatalf("stage at place %d is due at %v, its leg at %v", i, s.Start+s.Deadline, limit)
			}
		}
		free := q
		free.Legs = dag.Bound{}
		if without := g.Forecast(free, 500, dag.Supply{Cores: 8}, 0); f.Finish > max(500, without.Finish)+1e-6 {
			t.Fatalf("with a bound it ends at %v, without one at %v", f.Finish, without.Finish)
		}
		free.Legs.Most = 1e9
		if wide, without := g.Forecast(free, 500, dag.Supply{Cores: 8}, 0), g.Forecast(criticalPath(), 500, dag.Supply{Cores: 8}, 0); !slices.Equal(wide.Stages, without.Stages) {
			t.Fatalf("a bound that nothing reaches changes the stages")
		}
	})
}

// A job of two stages that has begun 5 s ago: what is left of its 16 s, less the room before a bound, is divided by what
// its stages take; the source's equations would give each a quarter of an hour.
func TestABoundIsDividedAmongTheStagesOfItsJob(t *testing.T) {
	g := mustNew(t, profile(0, 0, stage(0, 0, 8, 8, 2, 0, 0), stage(1, 0, 8, 16, 4, 0.8, 0, 0), stage(2, 1, 8, 40, 10, 0, 0)))
	p := criticalPath()
	p.Legs.Most = 16
	within := func(m dag.Moment) units.Seconds { return p.Within(g, m) }
	wantNear(t, "the first stage", within(dag.Moment{Spent: 7, Began: 7, Stage: 0}), (16*0.8-0.8)/3)
	wantNear(t, "the second stage", within(dag.Moment{Spent: 12, Began: 7, Stage: 1}), 16*0.8-5)
	wantNear(t, "the next job", within(dag.Moment{Spent: 30, Began: 30, Stage: 2}), 16*0.8)
	p.Legs = dag.Bound{Factor: 2.5}
	wantNear(t, "a stage of a bounded job", within(dag.Moment{Spent: 7, Began: 7, Stage: 0}), 2*2)
	p.Legs = dag.Bound{Most: 3600}
	wantNear(t, "of an hour five seconds and a twentieth are left", within(dag.Moment{Spent: 30, Began: 30, Stage: 2}), 3600-5-180)
}
