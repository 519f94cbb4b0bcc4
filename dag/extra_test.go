package dag_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
)

// renumbered is p with x at a place, all in order of id and job, and the ids that stages have there.
func renumbered(p api.Profile, x dag.Extra, at, job int) (api.Profile, map[int]int) {
	s := x.Stage
	s.Job = job
	stages := slices.Insert(slices.Clone(p.Stages), at, s)
	for i := range stages {
		stages[i].Parents = slices.Clone(stages[i].Parents)
		if slices.Contains(x.Before, stages[i].ID) {
			stages[i].Parents = append(stages[i].Parents, s.ID)
		}
	}
	return inOrder(p, stages)
}

// inOrder is p with those stages, numbered as they stand, and their jobs likewise, and the ids that stages have there.
func inOrder(p api.Profile, stages []api.ProfileStage) (api.Profile, map[int]int) {
	ids, jobs := map[int]int{}, 0
	p.Stages = slices.Clone(stages)
	for i := range stages {
		ids[stages[i].ID] = i
		if i > 0 && stages[i].Job != stages[i-1].Job {
			jobs++
		}
		p.Stages[i].ID, p.Stages[i].Job, p.Stages[i].Parents = i, jobs, nil
		for _, parent := range stages[i].Parents {
			p.Stages[i].Parents = append(p.Stages[i].Parents, ids[parent])
		}
	}
	return p, ids
}

// Whatever a graph is, one that a stage is put into divides the time as one that was made with it.
func TestAnExtraStageCountsAsARecordedOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		g := mustNew(t, p)
		near := rapid.IntRange(-1, len(p.Stages)-1).Draw(t, "near")
		x := dag.Extra{Stage: stage(99, 0, 4, rapid.Float64Range(0.5, 8).Draw(t, "work"), 2, 0, 1), After: noSuchStage, Job: true}
		at, job := 0, noSuchStage
		if near >= 0 {
			x.After, x.Job = p.Stages[near].ID, rapid.Bool().Draw(t, "a job by itself")
			at = 1 + slices.IndexFunc(p.Stages, func(s api.ProfileStage) bool { return s.ID == x.After })
			for at < len(p.Stages) && p.Stages[at].Job == p.Stages[near].Job {
				at++
			}
		}
		if !x.Job {
			x.Beside, job = true, p.Stages[near].Job
			if last := p.Stages[at-1]; last.ID != x.After && rapid.Bool().Draw(t, "before the last") {
				x.Before, at = []int{last.ID}, at-1
			}
		}
		want, ids := renumbered(p, x, at, job)
		grown, made := x.Into(g), mustNew(t, want)
		var order []int
		for _, s := range grown.Stages() {
			order = append(order, ids[s.ID])
		}
		if !slices.IsSorted(order) {
			t.Fatalf("the stages are in the order %v", order)
		}
		m, n := dag.Moment{Deadline: 500}, dag.Moment{Deadline: 500}
		for i, s := range grown.Stages()[rapid.IntRange(0, len(order)-1).Draw(t, "first that is left"):] {
			if i == 0 {
				m.Stage, n.Stage = s.ID, ids[s.ID]
				continue
			}
			m.Unsubmitted, n.Unsubmitted = append(m.Unsubmitted, s.ID), append(n.Unsubmitted, ids[s.ID])
		}
		for _, split := range dag.Splits() {
			params := dag.Default()
			params.Split = split
			if got, want := grown.StageDeadline(params, m), made.StageDeadline(params, n); math.Abs(float64(got-want)) > 1e-6 {
				t.Errorf("%s: %v, want %v", split, got, want)
			}
		}
		if got, want := grown.Overhead(m.Unsubmitted), made.Overhead(n.Unsubmitted); got != want {
			t.Errorf("overhead %v, want %v", got, want)
		}
		for _, a := range grown.Stages() {
			for _, b := range grown.Stages() {
				if got, want := grown.Precedes(a.ID, b.ID), made.Precedes(ids[a.ID], ids[b.ID]); got != want {
					t.Errorf("%d comes before %d: %v, want %v", a.ID, b.ID, got, want)
				}
			}
		}
	})
}

// noSuchStage is no stage's id.
const noSuchStage = -1

// Parents that come later, and stages that nobody knows, are left out: a graph has no cycles.
func TestAnExtraStageMakesNoCycle(t *testing.T) {
	g := mustNew(t, profile(1, 1, stage(0, 0, 4, 5, 2, 0, 1), stage(1, 0, 4, 5, 2, 0, 1, 0), stage(2, 1, 4, 5, 2, 0, 1)))
	s := stage(3, 0, 4, 5, 2, 0, 1, 2, 7)
	grown := dag.Extra{Stage: s, After: 0, Before: []int{0, 8}}.Into(g)
	if x, ok := grown.Stage(3); !ok || len(x.Parents) > 0 || grown.Precedes(2, 3) || !grown.Precedes(3, 0) {
		t.Errorf("%+v", x)
	}
	if len(g.Stages()) != 3 || g.Precedes(3, 0) {
		t.Error("the graph that it was put into has changed")
	}
}

// What a hundred extra stages of a large profile cost, each by itself.
func BenchmarkExtra(b *testing.B) {
	for name, p := range shapes() {
		g := mustNew(b, p)
		b.Run(fmt.Sprint(name), func(b *testing.B) {
			for b.Loop() {
				grown := g
				for k := range 100 {
					s := stage(api.MostStages+k, 0, 8, 5, 2, 0.05, 0.5, p.Stages[k*len(p.Stages)/100].ID)
					grown = dag.Extra{Stage: s, After: s.Parents[0], Job: k%2 == 0, Beside: k%2 > 0}.Into(grown)
				}
			}
		})
	}
}
