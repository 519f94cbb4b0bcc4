package dag

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// anyGraph is that of a random profile of up to n stages.
func anyGraph(t *rapid.T, n int) *Graph {
	seconds := func(most float64, what string) units.Seconds {
		return units.Seconds(rapid.Float64Range(0, most).Draw(t, what))
	}
	p := api.Profile{Schema: api.ProfileSchema, Name: "any", Runs: rapid.IntRange(0, 1).Draw(t, "runs"), Cores: 4, Head: seconds(2, "head"), Tail: 1}
	job, fewest := 0, rapid.IntRange(1, 6).Draw(t, "edges are rare")
	for id := range rapid.IntRange(1, n).Draw(t, "stages") {
		job += rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1}).Draw(t, "job step")
		s := api.ProfileStage{ID: id, Job: job, Name: "s", Signature: fmt.Sprint(id), Parents: []int{}, Tasks: rapid.IntRange(1, 9).Draw(t, "tasks"),
			Duration: 0.1 + seconds(5, "duration"), Gap: seconds(1, "gap"), Records: 1 + rapid.Int64Range(1, 900).Draw(t, "records"), NominalRate: 100,
			CoreSeconds: 1, LongestTask: seconds(1, "longest")}
		for _, earlier := range p.Stages[max(0, id-8):] {
			if rapid.IntRange(0, fewest).Draw(t, "edge") == 0 {
				s.Parents = append(s.Parents, earlier.ID)
			}
		}
		p.Stages = append(p.Stages, s)
	}
	g, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// same says what differs between two backlogs that say the same by other ways, "" for nothing.
func same(a, b *backlog) string {
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x)) }
	x, y := a.all(), b.all()
	if !near(x.left, y.left) || !near(x.ahead, y.ahead) || !near(x.behind, y.behind) || x.gaps != y.gaps || a.unsubmitted != b.unsubmitted || a.last != b.last {
		return fmt.Sprintf("%+v of %d to %d, and %+v of %d to %d", x, a.unsubmitted, a.last, y, b.unsubmitted, b.last)
	}
	branch := map[int]int{shared: shared, noNode: noNode} // Of a's branches, which have other numbers, b's.
	for i := range a.left {
		if (a.left[i] == over) != (b.left[i] == over) || a.heads.has(i) != b.heads.has(i) || !near(a.left[i], b.left[i]) {
			return fmt.Sprintf("node %d: %v, and %v", i, a.left[i], b.left[i])
		}
		if a.left[i] == over || a.odd {
			continue // Where what others have read is done again, it depends on when they were looked at.
		}
		if x, y := a.owner[i], b.owner[i]; a.heads.has(i) {
			if branch[x] = y; !near(a.follows[x], b.follows[y]) {
				return fmt.Sprintf("node %d is followed by %v, and by %v", i, a.follows[x], b.follows[y])
			}
		} else if known, ok := branch[x]; x != noNode && y != noNode && (!ok || known != y) { // Of what is behind a cut one may know nothing.
			return fmt.Sprintf("node %d is of %d, and of %d", i, x, y)
		}
	}
	return ""
}

// What a walk keeps of what is left is at each start of a stage what is left then, and to divide the
// time changes nothing of it.
func TestAWalkKnowsWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t, 40)
		p := Default()
		p.Executors, p.Split = rapid.IntRange(0, 3).Draw(t, "executors"), SplitCriticalPath
		s := g.scene(p, Supply{Cores: 4, Slots: 8}, 0)
		w := s.walker(0, len(g.nodes), 0)
		w.deadline = units.Seconds(rapid.Float64Range(1, 200).Draw(t, "deadline"))
		var from Standing
		if ended := rapid.IntRange(0, len(g.profile.Stages)-1).Draw(t, "ended"); rapid.Bool().Draw(t, "under way") {
			from.Now = 10
			for i := range ended {
				if rapid.IntRange(0, 9).Draw(t, "again") > 0 { // What has been lost is written again.
					from.Ended = append(from.Ended, Ended{Stage: i, At: units.Seconds(i) / 10})
				}
			}
			from.Underway = []Underway{{Stage: ended, Left: 0.5, Aim: 12, Waits: rapid.Bool().Draw(t, "waits")}}
		}
		done := w.resume(from)
		w.split = func(p Params, b *backlog, m situation) units.Seconds {
			fresh := newBacklog(g, p)
			for i, submitted := range w.submitted {
				if !submitted && g.nodes[i].stage != nil {
					fresh.await(i)
				}
			}
			for _, r := range w.running {
				fresh.put(r.node, r.left/r.whole)
			}
			for _, i := range w.waiting {
				fresh.put(i, w.rest[i])
				fresh.wait(i, w.rest[i])
			}
			fresh.put(m.node, 1)
			fresh.settle()
			if differs := same(b, fresh); differs != "" {
				t.Fatalf("at %v, stage %d: %s", m.spent, m.node, differs)
			}
			fresh.follower = b.follower
			got := splitCriticalPath(p, b, m)
			if differs := same(b, fresh); differs != "" {
				t.Fatalf("once the time is divided, at %v, stage %d: %s", m.spent, m.node, differs)
			}
			want := splitCriticalPath(p, fresh, m)
			if math.IsNaN(float64(got)) || !b.odd && math.Abs(float64(got-want)) > 1e-9*float64(w.deadline) {
				t.Fatalf("at %v, stage %d: %v, and %v", m.spent, m.node, got, want)
			}
			return got
		}
		w.backlog = w.remaining()
		w.run(len(g.profile.Stages) - done)
		if left := w.backlog.all().left; left != 0 || w.backlog.unsubmitted != 0 {
			t.Fatalf("at the end %v is left", left)
		}
		if i := slices.IndexFunc(w.stages, func(s StageForecast) bool { return !(s.Duration >= 0) }); i >= 0 {
			t.Fatalf("stage %d takes %v", i, w.stages[i].Duration)
		}
	})
}
