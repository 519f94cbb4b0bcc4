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

func criticalPath() dag.Params {
	p := dag.Default()
	p.Alpha, p.Aim, p.Split = 1, 0, dag.SplitCriticalPath
	return p
}

// With an aim a last stage that is too short to be steered will have all cores: it
// gets what it takes with them and a tenth, and the stages before it the rest of its part and of the
// reserve.
func TestCriticalPathLeavesAShortLastStageItsLeast(t *testing.T) {
	g := mustNew(t, profile(0, 0, stage(0, 0, 8, 40, 5, 0, 0), stage(1, 0, 8, 4, 0.5, 0, 0, 0)))
	p := criticalPath()
	first := func(spent units.Seconds) units.Seconds {
		return g.StageDeadline(p, dag.Moment{Deadline: 20, Spent: spent, Stage: 0, Unsubmitted: []int{1}})
	}
	wantNear(t, "without an aim", first(0), 20.0/1.1)
	p.Alpha, p.Aim, p.Margin = 0.97, 1, 0
	wantNear(t, "1.8 s are too few", first(0), 20-1.1*0.5)
	wantNear(t, "0.1 s less than it needs", first(15.6), (20-0.125-15.6)/1.1)
	wantNear(t, "2.4 s would do", g.StageDeadline(p, dag.Moment{Deadline: 27, Stage: 0, Unsubmitted: []int{1}}), (27-0.125)/1.1)
}

// A last stage that kept few of its cores busy has no use for all the time that its cores would have: its executors
// have a tenth of a core each in any case. The stages before it get the rest.
func TestCriticalPathLeavesALastStageWhatItsFloorCanUse(t *testing.T) {
	p := criticalPath()
	p.Alpha, p.Aim, p.Margin = 0.97, 1, 0
	for _, c := range []struct {
		what     string
		work     float64
		duration units.Seconds
		nodes    int
		first    units.Seconds
	}{
		{"ten times its work", 0.4, 2, 1, 60 - 4},
		{"five times on two nodes, less than it may take with all cores", 0.4, 2, 2, 60 - 2.2},
		{"too short to be steered", 0.1, 1.7, 1, 60 - 1.1*1.7},
		{"all of its part", 2, 2, 1, (60 - 0.25*2) / 1.1},
	} {
		g := mustNew(t, profile(0, 0, stage(0, 0, 8, 40, 20, 0, 0), stage(1, 0, 8, c.work, c.duration, 0, 0, 0)))
		p.Nodes = c.nodes
		wantNear(t, c.what, g.StageDeadline(p, dag.Moment{Deadline: 60, Stage: 0, Unsubmitted: []int{1}}), c.first)
	}
}

func TestCriticalPathDividesAChainByWork(t *testing.T) {
	g := mustNew(t, profile(0, 0, stage(0, 0, 9, 10, 1, 0, 0), stage(1, 0, 9, 30, 1, 0, 0, 0), stage(2, 0, 9, 20, 1, 0, 0, 1)))
	p := criticalPath()
	wantNear(t, "first", g.StageDeadline(p, dag.Moment{Deadline: 120, Stage: 0, Unsubmitted: []int{1, 2}}), 20)
	wantNear(t, "second", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 20, Stage: 1, Unsubmitted: []int{2}}), 60)
	wantNear(t, "second, late", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 70, Stage: 1, Unsubmitted: []int{2}}), 30)
	wantNear(t, "last", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 85, Stage: 2}), 35)
}

// twoBranches is 0 -> 2 -> 4 and 1 -> 3 -> 4: branches of 40 and 20 core-seconds
// before a stage of 60.
func twoBranches(t *testing.T) *dag.Graph {
	p := profile(0, 0, stage(0, 0, 9, 10, 10, 0, 0), stage(1, 0, 9, 15, 15, 0, 0),
		stage(2, 0, 9, 30, 30, 0, 0, 0), stage(3, 0, 9, 5, 5, 0, 0, 1), stage(4, 0, 9, 60, 60, 0, 0, 2, 3))
	p.Cores = 1
	return mustNew(t, p)
}

func TestCriticalPathBranchesShareTheTimeOfTheirPath(t *testing.T) {
	g, p := twoBranches(t), criticalPath()
	// 120 core-seconds in 120 s: one core at any time, 60 s for both branches.
	wantNear(t, "stage 0", g.StageDeadline(p, dag.Moment{Deadline: 120, Stage: 0, Unsubmitted: []int{1, 2, 3, 4}}), 15)
	wantNear(t, "stage 1", g.StageDeadline(p, dag.Moment{Deadline: 120, Stage: 1, Unsubmitted: []int{2, 3, 4}, Running: []dag.Rest{{Stage: 0, Left: 1}}}), 45)
	wantNear(t, "stage 2", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 15, Stage: 2, Unsubmitted: []int{3, 4}, Running: []dag.Rest{{Stage: 1, Left: 2.0 / 3}}}), 45)
	wantNear(t, "stage 3", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 45, Stage: 3, Unsubmitted: []int{4}, Running: []dag.Rest{{Stage: 2, Left: 1.0 / 3}}}), 15)
	wantNear(t, "stage 4", g.StageDeadline(p, dag.Moment{Deadline: 120, Spent: 60, Stage: 4}), 60)
	// Eq 1-3 ask for a core for each of stages 0 and 1.
	paper := p
	paper.Split, paper.Beta = dag.SplitPaper, 0
	f, steady := g.Forecast(paper, 120, dag.Supply{Cores: 8}, 0), g.Forecast(p, 120, dag.Supply{Cores: 8}, 0)
	if !near(float64(steady.Stages[0].Cores+steady.Stages[1].Cores), 1, 1e-6) || f.Stages[0].Cores+f.Stages[1].Cores < 1.9 {
		t.Errorf("cores side by side: %v and %v, by the paper %v and %v", steady.Stages[0].Cores, steady.Stages[1].Cores, f.Stages[0].Cores, f.Stages[1].Cores)
	}
	wantNear(t, "finish", steady.Finish, 120)
}

// Tasks bound how fast a stage can be: at 2 cores the middle stage of 10
// core-seconds takes 10 s, for its longest task is that long, for it has one task,
// or for they wait. It is stretched as the others are.
func TestCriticalPathStretchesAStageThatItsTasksBound(t *testing.T) {
	for what, middle := range map[string]api.ProfileStage{
		"longest task": stage(1, 0, 9, 10, 5, 0, 10, 0), "one task": stage(1, 0, 1, 10, 5, 0, 0, 0), "waiting": stage(1, 0, 9, 10, 10, 0, 0, 0)} {
		g := mustNew(t, profile(0, 0, stage(0, 0, 9, 20, 10, 0, 0), middle, stage(2, 0, 9, 20, 10, 0, 0, 1)))
		p := criticalPath()
		wantNear(t, what, g.StageDeadline(p, dag.Moment{Deadline: 36, Spent: 12, Stage: 1, Unsubmitted: []int{2}}), 12)
		wantNear(t, what+", the last", g.StageDeadline(p, dag.Moment{Deadline: 36, Spent: 24, Stage: 2}), 12)
	}
	// Beside another stage it leaves the cores to that.
	g := mustNew(t, profile(0, 0, stage(0, 0, 9, 10, 10, 0, 10), stage(1, 0, 9, 10, 10, 0, 0)))
	wantNear(t, "side by side", g.StageDeadline(criticalPath(), dag.Moment{Deadline: 20, Stage: 0, Unsubmitted: []int{1}}), 20)
}

func TestCriticalPathEndsWithTheDeadline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		for i := range p.Stages {
			p.Stages[i].Tasks, p.Stages[i].LongestTask, p.Stages[i].Gap, p.Stages[i].Duration = 1000, 0, 0, 1e-3
			p.Stages[i].Records = max(1, p.Stages[i].Records)
		}
		g, params := mustNew(t, p), criticalPath()
		deadline := p.Head + p.Tail + units.Seconds(rapid.Float64Range(1, 200).Draw(t, "time"))
		f := g.Forecast(params, deadline, dag.Supply{Cores: 1e9}, 0)
		if !near(float64(f.Finish), float64(deadline), 1e-6*float64(deadline)) {
			t.Fatalf("ends at %v of %v", f.Finish, deadline)
		}
		var all float64
		for _, s := range p.Stages {
			all += float64(s.Records) / 100
		}
		steady := all / float64(deadline-p.Head-p.Tail)
		for _, s := range f.Stages {
			if !(s.Deadline > 0) || s.Start+s.Deadline > deadline-p.Tail+1e-6 {
				t.Errorf("stage %d: %v from %v on", s.ID, s.Deadline, s.Start)
			}
			// Where branches fork and join inside branches the steps of the schedule are
			// not a stage's constant pace: 20,000 graphs showed 1.2 times at most.
			if float64(s.Cores) > 1.5*steady {
				t.Errorf("stage %d alone takes %v cores, %v would do for all", s.ID, s.Cores, steady)
			}
		}
	})
}

// steadily is an independent oracle: the schedule of criticalpath.go by small
// steps of work, with exclusive descendants found by their closure.
func steadily(p api.Profile, stage int) float64 {
	after, n := reaches(p), len(p.Stages)
	left := make([]float64, n)
	for i, s := range p.Stages {
		left[i] = float64(s.Records) / 100
		alone := true
		for j := range n {
			alone = alone && (i == j || after[i][j] || after[j][i])
		}
		if alone {
			// What all cores of the recorded run could do in the stage's least time.
			left[i] = max(left[i], float64(p.Cores)*max(float64(s.Duration), float64(s.LongestTask), left[i]/float64(s.Tasks)))
		}
	}
	all := 0.0
	for _, w := range left {
		all += w
	}
	for step, done := all/20000, 0.0; ; done += step {
		var active []int
		for i := range n {
			blocked := left[i] <= 0
			for j := range n {
				blocked = blocked || after[j][i] && left[j] > 0
			}
			if !blocked {
				active = append(active, i)
			}
		}
		if left[stage] <= 0 {
			return done / all
		}
		branch, sum := make([]float64, n), 0.0
		for _, i := range active {
			branch[i] = left[i]
			for k := range n {
				alone := after[i][k] && left[k] > 0
				for _, other := range active {
					alone = alone && (other == i || !after[other][k])
				}
				if alone {
					branch[i] += left[k]
				}
			}
			sum += branch[i]
		}
		for _, i := range active {
			left[i] -= step * branch[i] / sum
		}
	}
}

func TestCriticalPathAgreesWithASlowSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 6)
		for i := range p.Stages {
			p.Stages[i].Gap, p.Stages[i].Records = 0, max(50, p.Stages[i].Records)
		}
		p.Head, p.Tail = 0, 0
		g := mustNew(t, p)
		// Any stage that can be the first.
		place := slices.IndexFunc(p.Stages, func(s api.ProfileStage) bool { return len(s.Parents) == 0 })
		for i := range place {
			if depends(p, i, place) {
				return
			}
		}
		var others []int
		for i, s := range p.Stages {
			if i != place {
				others = append(others, s.ID)
			}
		}
		got := float64(g.StageDeadline(criticalPath(), dag.Moment{Deadline: 1, Stage: p.Stages[place].ID, Unsubmitted: others}))
		if want := steadily(p, place); math.Abs(got-want) > 0.003 {
			t.Fatalf("stage %d of %+v: %v, want %v", p.Stages[place].ID, p.Stages, got, want)
		}
	})
}
