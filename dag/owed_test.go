package dag_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/dag"
	"github.com/sparkpacer/pacer/units"
)

// drawJobs is a profile of one stage a job, each of which takes about what its work takes on eight cores.
func drawJobs(t *rapid.T) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "jobs", Runs: 1, Cores: 8, Head: 1, Tail: 0.5, Exit: 0.5}
	for i := range rapid.IntRange(1, 8).Draw(t, "jobs") {
		took := rapid.Float64Range(1, 40).Draw(t, "took")
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Name: "s", Signature: string(rune('a' + i)), Tasks: 64,
			Records: 1000, CoreSeconds: units.Work(8 * took), Duration: units.Seconds(took), NominalRate: units.Rate(1000 / (8 * took)),
			LongestTask: units.Seconds(took / 8), Gap: units.Seconds(rapid.Float64Range(0, 1).Draw(t, "gap"))})
	}
	return p
}

// In whatever order the jobs of a profile come, a stage gets no more time than what is owed leaves when that has all
// cores; and what is owed besides, or kept for what nobody foresees, never gives it more.
func TestNoStageGetsMoreTimeThanWhatIsOwedLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawJobs(t)
		g, err := dag.New(p)
		if err != nil {
			t.Fatal(err)
		}
		q := dag.Default()
		q.Split = dag.SplitCriticalPath
		kept, keep := q, units.Seconds(rapid.Float64Range(0, 20).Draw(t, "reserve"))
		ids := make([]int, len(p.Stages))
		all := p.Head + p.Tail + p.Exit
		for i, s := range p.Stages {
			ids[i] = i
			all += s.Gap + s.Duration
		}
		deadline := all * units.Seconds(rapid.Float64Range(1, 3).Draw(t, "slack"))
		spent, coming := p.Head, slices.Clone(ids)
		for _, id := range rapid.Permutation(ids).Draw(t, "order") {
			g = g.Ahead(id, func(id int) bool { return slices.Contains(coming, id) })
			coming = slices.DeleteFunc(coming, func(other int) bool { return other == id })
			spent += p.Stages[id].Gap
			m := dag.Moment{Deadline: deadline, Spent: spent, Stage: id, Unsubmitted: coming}
			got, own := g.StageDeadline(q, m), p.Stages[id]
			for at := range kept.Reserve {
				kept.Reserve[at] = keep * (1 - units.Seconds(at)/8)
			}
			if less := g.StageDeadline(kept, m); less > got+1e-9 {
				t.Fatalf("stage %d has %v s, and %v with a reserve", id, got, less)
			}
			left := deadline - spent - p.Tail - p.Exit
			for _, other := range coming {
				left -= p.Stages[other].Gap + p.Stages[other].Duration
			}
			if got > max(left, own.Duration)+1e-6 {
				t.Fatalf("stage %d has %v s, and what is owed leaves %v", id, got, left)
			}
			if len(coming) > 0 {
				m.Unsubmitted = coming[:len(coming)-1]
				// A last stage that is not steered, or that others follow no more, is aimed otherwise.
				if fewer := g.StageDeadline(q, m); len(coming) > 1 && got > fewer*1.05+0.5 {
					t.Fatalf("stage %d has %v s, and %v with less owed", id, got, fewer)
				}
			}
			spent += max(own.Duration, got)
		}
		if spent+p.Tail+p.Exit > deadline+1e-6 {
			t.Fatalf("it ends at %v of %v", spent+p.Tail+p.Exit, deadline)
		}
	})
}
