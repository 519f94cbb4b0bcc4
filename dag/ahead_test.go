package dag_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	_ "github.com/sparkpacer/pacer/test/draws"
)

// Whatever a graph is, one in which a job goes ahead divides the time as one that was recorded in that order.
func TestAJobThatGoesAheadCountsAsOneThatWasRecordedThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		p.Runs = 0 // What ran beside what is known of the recorded order only.
		g := mustNew(t, p)
		s := p.Stages[rapid.IntRange(0, len(p.Stages)-1).Draw(t, "that begins")]
		coming := map[int]bool{}
		for _, o := range p.Stages {
			// What reads from a stage that is still to come is still to come.
			coming[o.ID] = rapid.Bool().Draw(t, "comes") || slices.ContainsFunc(o.Parents, func(id int) bool { return coming[id] })
		}
		moved := g.Ahead(s.ID, func(id int) bool { return coming[id] })
		at := func(id int) int {
			return slices.IndexFunc(moved.Stages(), func(s api.ProfileStage) bool { return s.ID == id })
		}
		for _, o := range p.Stages {
			if behind := at(o.ID) > at(s.ID); o.Job < s.Job && behind != coming[o.ID] || o.Job > s.Job && !behind {
				t.Fatalf("stage %d is behind %d: %v", o.ID, s.ID, behind)
			}
		}
		want, ids := inOrder(p, moved.Stages())
		made := mustNew(t, want)
		for _, a := range p.Stages {
			for _, b := range p.Stages {
				if got, want := moved.Precedes(a.ID, b.ID), made.Precedes(ids[a.ID], ids[b.ID]); got != want {
					t.Errorf("%d comes before %d: %v, want %v", a.ID, b.ID, got, want)
				}
			}
		}
		m, n := dag.Moment{Deadline: 500, Stage: s.ID}, dag.Moment{Deadline: 500, Stage: ids[s.ID]}
		for _, o := range moved.Stages()[at(s.ID)+1:] {
			m.Unsubmitted, n.Unsubmitted = append(m.Unsubmitted, o.ID), append(n.Unsubmitted, ids[o.ID])
		}
		params := dag.Default()
		if got, want := moved.StageDeadline(params, m), made.StageDeadline(params, n); math.Abs(float64(got-want)) > 1e-6 {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// What comes first anyway stays where it is, and a stage that nobody knows moves nothing.
func TestNothingGoesAheadOfNothing(t *testing.T) {
	g := mustNew(t, profile(1, 1, stage(0, 0, 4, 5, 2, 0, 1), stage(1, 1, 4, 5, 2, 0, 1), stage(2, 2, 4, 5, 2, 0, 1)))
	all := func(int) bool { return true }
	if g.Ahead(0, all) != g || g.Ahead(9, all) != g || g.Ahead(2, func(int) bool { return false }) != g {
		t.Error("the graph is another one")
	}
	ahead := g.Ahead(2, all)
	if !ahead.Precedes(2, 0) || !ahead.Precedes(0, 1) || g.Precedes(2, 0) {
		t.Error("job 2 does not go ahead, or the graph that it was in has changed")
	}
	if one, two := g.Forecast(dag.Default(), 100, dag.Supply{Cores: 2}, 0), ahead.Forecast(dag.Default(), 100, dag.Supply{Cores: 2}, 0); math.Abs(float64(one.FullCores-two.FullCores)) > 1e-6 {
		t.Errorf("it ends after %v, after %v in the other order", one.FullCores, two.FullCores)
	}
}
