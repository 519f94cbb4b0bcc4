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

func inTurn(executors int) dag.Params {
	p := criticalPath()
	p.Executors = executors
	return p
}

// As TestCriticalPathBranchesShareTheTimeOfTheirPath, but with one executor: stages
// take turns in order of id, each with all of the one core.
func TestWithOneExecutorBranchesTakeTurns(t *testing.T) {
	g, p := twoBranches(t), inTurn(1)
	wantNear(t, "stage 0", g.StageDeadline(p, dag.Moment{Deadline: 120, Stage: 0, Unsubmitted: []int{1, 2, 3, 4}, Seated: []int{0}}), 10)
	// Stage 1 waits for the end of stage 0, and then comes before stage 2.
	wantNear(t, "stage 1 waits", g.StageDeadline(p, dag.Moment{Deadline: 120, Stage: 1, Unsubmitted: []int{2, 3, 4},
		Running: []dag.Rest{{Stage: 0, Left: 1}}, Seated: []int{0}}), 25)
	wantNear(t, "stage 1 runs", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 10, Stage: 1, Unsubmitted: []int{3, 4},
		Running: []dag.Rest{{Stage: 2, Left: 1}}, Seated: []int{1}}), 15)
	// The time that stage 0 has overrun is taken from all.
	wantNear(t, "stage 1 runs late", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 65, Stage: 1, Unsubmitted: []int{3, 4},
		Running: []dag.Rest{{Stage: 2, Left: 1}}, Seated: []int{1}}), 7.5)
	// Who has the executor keeps it, whatever the ids.
	wantNear(t, "stage 0 behind", g.StageDeadline(p, dag.Moment{Deadline: 120, Stage: 0, Unsubmitted: []int{2, 3, 4},
		Running: []dag.Rest{{Stage: 1, Left: 1}}, Seated: []int{1}}), 25)
	wantNear(t, "last", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 60, Stage: 4, Seated: []int{4}}), 60)
}

// With one executor a stage with few tasks leaves cores unused that no other has: it
// counts with the least time that it takes.
func TestWithOneExecutorTasksBoundABranch(t *testing.T) {
	g := mustNew(t, profile(0, 0, stage(0, 0, 9, 10, 5, 0, 0), stage(1, 0, 1, 10, 15, 0, 10), stage(2, 0, 9, 10, 5, 0, 0, 0, 1)))
	at := func(executors int, seated ...int) units.Seconds {
		return g.StageDeadline(inTurn(executors), dag.Moment{Deadline: 40, Stage: 0, Unsubmitted: []int{1, 2}, Seated: seated})
	}
	wantNear(t, "in turn", at(1, 0), 10)          // 10 of 10 + 20 + 10 core-seconds.
	wantNear(t, "together", at(2, 0), 40*2.0/3.0) // 20 of 30: both end at the join.
}

// turns is an independent oracle: the list schedule by small steps of work.
func turns(p api.Profile, executors, stage int) float64 {
	after, n := reaches(p), len(p.Stages)
	left, all := make([]float64, n), 0.0
	for i, s := range p.Stages {
		left[i] = float64(s.Records) / 100
		least, alone := max(float64(s.LongestTask), left[i]/float64(s.Tasks)), true
		for j := range n {
			alone = alone && (i == j || after[i][j] || after[j][i])
		}
		if alone {
			least = max(least, float64(s.Duration))
		}
		if alone || executors == 1 {
			left[i] = max(left[i], float64(p.Cores)*least)
		}
		all += left[i]
	}
	since, has := make([]int, n), make([]bool, n) // since: in which round it became ready.
	for round, step := 1, all/20000; ; round++ {
		for old := range 2 { // Those of earlier rounds first.
			for i := range n {
				blocked := left[i] <= 0 || has[i]
				for j := range n {
					blocked = blocked || after[j][i] && left[j] > 0
				}
				if blocked {
					continue
				}
				if since[i] == 0 {
					since[i] = round
				}
				busy := 0
				for j := range n {
					if has[j] && left[j] > 0 {
						busy++
					}
				}
				if busy < executors && (old == 1 || since[i] < round) {
					has[i] = true
				}
			}
		}
		// Who may start, with an executor or not, owns what only it leads to.
		branch, sum := make([]float64, n), 0.0
		begins := func(i int) bool {
			for j := range n {
				if after[j][i] && left[j] > 0 {
					return false
				}
			}
			return left[i] > 0
		}
		for i := range n {
			if !has[i] || left[i] <= 0 {
				continue
			}
			branch[i] = left[i]
			for k := range n {
				only := after[i][k] && left[k] > 0
				for o := range n {
					only = only && (o == i || !begins(o) || !after[o][k])
				}
				if only {
					branch[i] += left[k]
				}
			}
			sum += branch[i]
		}
		for i := range n {
			// What ends together ends in the same round.
			if left[i] -= step * branch[i] / sum; left[i] < 1e-6*step*branch[i]/sum {
				left[i] = 0
			}
		}
		if left[stage] <= 0 {
			return float64(round) * step / all
		}
	}
}

func TestTurnsAgreeWithASlowSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 7)
		for i := range p.Stages {
			p.Stages[i].Gap, p.Stages[i].Records = 0, max(50, p.Stages[i].Records)
		}
		p.Head, p.Tail = 0, 0
		g, executors := mustNew(t, p), rapid.IntRange(1, 3).Draw(t, "executors")
		place := rapid.IntRange(0, len(p.Stages)-1).Draw(t, "place")
		var others []int
		for i, s := range p.Stages {
			if i != place {
				others = append(others, s.ID)
			}
		}
		// Where the stage is not the first, this is when it will end.
		got := float64(g.StageDeadline(inTurn(executors), dag.Moment{Deadline: 1, Stage: p.Stages[place].ID, Unsubmitted: others}))
		if want := turns(p, executors, place); math.Abs(got-want) > 0.003 {
			t.Fatalf("stage %d of %+v with %d executors: %v, want %v", p.Stages[place].ID, p.Stages, executors, got, want)
		}
	})
}

// With as many executors as branches nobody waits: all is as with any number.
func TestEnoughExecutorsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		g := mustNew(t, p)
		deadline := p.Head + p.Tail + units.Seconds(rapid.Float64Range(1, 100).Draw(t, "time"))
		params := dag.Default()
		params.Split = rapid.SampledFrom(dag.Splits()).Draw(t, "split")
		free := g.Forecast(params, deadline, dag.Supply{Cores: 4, Slots: 4}, 0)
		params.Executors = g.Width() + rapid.IntRange(0, 1).Draw(t, "more")
		enough := g.Forecast(params, deadline, dag.Supply{Cores: 4, Slots: 4}, 0)
		if free.Finish != enough.Finish || free.FullCores != enough.FullCores || free.Verdict != enough.Verdict || !slices.Equal(free.Stages, enough.Stages) {
			// With one executor a chain's stages count alike, too.
			t.Fatalf("%+v, with executors for all %+v", free, enough)
		}
	})
}

// serial is an independent oracle: all stages at all cores on one executor, the
// lowest id that waits first.
func serial(p api.Profile, cores float64) (finish units.Seconds) {
	n := len(p.Stages)
	now, done, ends := p.Head, make([]bool, n), make([]units.Seconds, n)
	for range n {
		next, at := -1, units.Seconds(math.Inf(1))
		for i, s := range p.Stages {
			ready, open := p.Head, !done[i]
			for j := range n {
				if depends(p, j, i) {
					open = open && done[j]
					ready = max(ready, ends[j])
				}
			}
			if start := max(now, ready+s.Gap); open && start < at-1e-9 { // Ready together: the lowest id.
				next, at = i, start
			}
		}
		s := p.Stages[next]
		w := float64(s.Records) / float64(s.NominalRate)
		now = at + units.Seconds(max(w/min(cores, float64(s.Tasks)), float64(s.LongestTask)))
		done[next], ends[next] = true, now
		finish = max(finish, now)
	}
	return finish + p.Tail
}

func TestForecastWithOneExecutorIsASerialSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		for i := range p.Stages {
			p.Stages[i].Gap += 0.001 // What becomes ready by an end comes after who waits for it.
		}
		got := mustNew(t, p).Forecast(inTurn(1), 1e-9, dag.Supply{Cores: 4}, 0)
		if want := serial(p, 4); !near(float64(got.Finish), float64(want), 1e-6) {
			t.Fatalf("%+v: %v, want %v", p.Stages, got.Finish, want)
		}
	})
}

func TestForecastWithOneExecutorEndsWithTheDeadline(t *testing.T) {
	g := twoBranches(t)
	f := g.Forecast(inTurn(1), 120, dag.Supply{Cores: 8}, 0)
	wantNear(t, "finish", f.Finish, 120)
	for i, want := range []dag.StageForecast{
		{ID: 0, Start: 0, Deadline: 10, Duration: 10, Cores: 1}, {ID: 1, Start: 0, Deadline: 25, Duration: 25, Wait: 10, Cores: 1},
		{ID: 2, Start: 10, Deadline: 45, Duration: 45, Wait: 15, Cores: 1}, {ID: 3, Start: 25, Deadline: 35, Duration: 35, Wait: 30, Cores: 1},
		{ID: 4, Start: 60, Deadline: 60, Duration: 60, Cores: 1},
	} {
		got := f.Stages[i]
		if got.ID != want.ID || !near(float64(got.Start), float64(want.Start), 1e-6) || !near(float64(got.Deadline), float64(want.Deadline), 1e-6) ||
			!near(float64(got.Duration), float64(want.Duration), 1e-6) || !near(float64(got.Wait), float64(want.Wait), 1e-6) || !near(float64(got.Cores), 1, 1e-6) {
			t.Errorf("stage %d: %+v, want %+v", i, got, want)
		}
	}
}

// The shape is the cheapest one that keeps the deadline with room to spare; where
// none does, all stages share one executor and nothing is held back.
func TestChooseTheCheapestShapeThatKeepsTheDeadline(t *testing.T) {
	// Four branches of a task each that takes 10 s whatever the cores, and a join of 8 s.
	p := profile(0, 0, stage(0, 0, 1, 10, 10, 0, 10), stage(1, 0, 1, 10, 10, 0, 10), stage(2, 0, 1, 10, 10, 0, 10),
		stage(3, 0, 1, 10, 10, 0, 10), stage(4, 0, 8, 32, 8, 0, 0, 0, 1, 2, 3))
	p.Cores, p.ExecutorStart = 4, 4
	for i := range p.Stages {
		p.Stages[i].Warmup = 2
	}
	g := mustNew(t, p)
	params := dag.Default()
	params.Split = dag.SplitCriticalPath
	// In turn 48 s. On two executors 1 s for the start, 22 s for the branches, of which
	// one is the first on the second executor, and 8 s for the join. On four as many
	// starts and first stages: 3 s, 12 s and 8 s; on one without turns 18 s.
	for _, c := range []struct {
		deadline units.Seconds
		most     int
		want     int
		open     bool
	}{
		{200, 4, 1, false}, {51, 4, 1, false}, {50, 4, 2, false}, {34, 4, 2, false}, {32, 4, 0, false}, {25, 4, 0, false},
		{24, 4, 0, true}, {18, 4, 0, true}, {5, 4, 0, true},
		{32, 2, 0, true}, {20, 1, 1, false}, {0, 4, 0, false},
	} {
		got := g.Choose(params, c.most, c.deadline, dag.Supply{Cores: 4}, 0)
		if got.Executors != c.want || got.Open != c.open {
			t.Errorf("deadline %v, at most %d: %d executors, open %v, want %d and %v", c.deadline, c.most, got.Executors, got.Open, c.want, c.open)
		}
	}
	if got := g.Choose(params, 4, 200, dag.Supply{Cores: 0}, 0); got.Executors != 0 || got.Open {
		t.Errorf("without cores: %+v", got)
	}
}
