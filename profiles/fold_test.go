package profiles_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// search is a run of n jobs of those shapes in turn, each a list of signatures of stages that read from each other: each
// stage takes a second at all cores and two core-seconds, and 0.1 s pass before each job.
func search(r *profiles.Recorder, from, n int, shapes ...[]string) (end units.Seconds) {
	longest := 0
	for _, shape := range shapes {
		longest = max(longest, len(shape))
	}
	for job := from; job < n; job++ {
		shape, at := shapes[job%len(shapes)], 10+units.Seconds(job)*(units.Seconds(longest)+0.1)
		var parents []int
		for i, signature := range shape {
			stage := longest*job + i
			s := ready(stage, job, signature, parents...)
			s.Records, parents = 1000, []int{stage}
			r.Ready(at, s)
			at++
			r.Done(at, done(stage))
			r.Work(s.StageKey, 2)
		}
		end = at
	}
	return end
}

func finish(t interface {
	Helper()
	Fatal(args ...any)
}, r *profiles.Recorder, duration units.Seconds) api.Profile {
	t.Helper()
	p, err := r.Finish(duration, 2)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// counted is for how many stages those of p stand.
func counted(p api.Profile) (n int) {
	for _, s := range p.Stages {
		n += p.Count(s.ID)
	}
	return n
}

// Of 3,000 jobs that look alike a profile has as many as are asked for, one after the other, and takes as long.
func TestJobsThatLookAlikeAreFolded(t *testing.T) {
	r := profiles.NewRecorder("search")
	end := search(r, 0, 3000, []string{"fit"})
	if _, err := r.Finish(end+1, 2); err == nil {
		t.Fatal("3,000 stages fit into a profile")
	}
	r.Fold(500)
	p := finish(t, r, end+1)
	if len(p.Stages) != 500 || counted(p) != 3000 {
		t.Fatalf("%d stages that stand for %d", len(p.Stages), counted(p))
	}
	for i, s := range p.Stages {
		if p.Folds[i] != 6 || s.Duration < 5.99 || s.Duration > 6.01 || s.CoreSeconds != 12 || s.Records != 6000 || s.Tasks != 4 ||
			s.LongestTask != 0.5 || i > 0 && !slices.Equal(s.Parents, []int{i - 1}) {
			t.Fatalf("stage %+v", s)
		}
	}
	if math.Abs(float64(p.Duration-end-1)) > 1e-6 {
		t.Errorf("the run took %v s, its profile takes %v s", end+1, p.Duration)
	}
}

// Jobs of several shapes, among others, keep their part each; others stay what they are.
func TestOtherJobsAreNotFolded(t *testing.T) {
	r := profiles.NewRecorder("search")
	first := ready(100_000, -1, "load")
	r.Ready(1, first)
	r.Done(9, done(100_000))
	end := search(r, 0, 2000, []string{"fit"}, []string{"split", "score"})
	failed := ready(100_001, 100_000, "fit")
	r.Ready(end, failed)
	broken := done(100_001)
	broken.Failed = true
	r.Done(end+1, broken)
	again := failed
	again.Attempt = 1
	r.Ready(end+2, again)
	r.Done(end+3, api.StageDone{StageKey: again.StageKey, Tasks: 4})
	r.Fold(300)
	p := finish(t, r, end+4)
	count, blocks := map[string]int{}, map[string]int{}
	for _, s := range p.Stages {
		count[s.Signature] += p.Count(s.ID)
		blocks[s.Signature]++
	}
	if len(p.Stages) > 303 || count["load"] != 1 || count["fit"] != 1001 || count["split"] != 1000 || count["score"] != 1000 ||
		blocks["score"] != blocks["split"] || blocks["fit"] != blocks["split"]+1 {
		t.Errorf("%v in %v", count, blocks)
	}
	if last := p.Stages[len(p.Stages)-1]; p.Count(last.ID) != 1 || last.Failed {
		t.Errorf("what was tried again is %+v", last)
	}
}

// What four threads do side by side is four lanes of jobs, which take as long as the run took.
func TestThreadsAreLanes(t *testing.T) {
	r := profiles.NewRecorder("search")
	for job := range 4000 {
		at := 10 + units.Seconds(job/4)*2 + units.Seconds(job%4)/8
		s := ready(job, job, "fit")
		r.Ready(at, s)
		r.Done(at+1.9, done(job))
		r.Work(s.StageKey, 2)
	}
	r.Fold(400)
	p := finish(t, r, 2020)
	beside, edges := map[int]int{}, 0
	for _, s := range p.Stages {
		edges += len(s.Parents)
		for _, parent := range s.Parents {
			beside[parent]++
		}
	}
	if counted(p) != 4000 || len(p.Stages) != 400 || edges > 5*400 {
		t.Fatalf("%d stages that stand for %d, %d edges", len(p.Stages), counted(p), edges)
	}
	if p.Duration < 1700 || p.Duration > 2300 {
		t.Errorf("the run took 2020 s, its profile takes %v s", p.Duration)
	}
}

// Of jobs of threads that are not folded each follows those that ended last, and not all that had ended: their edges
// fit into a profile.
func TestThreadsHaveFewEdges(t *testing.T) {
	r := profiles.NewRecorder("threads")
	for job := range 1500 {
		at := 10 + units.Seconds(job/4)*2 + units.Seconds(job%4)/8
		r.Ready(at, ready(job, job, fmt.Sprint("step ", job)))
		r.Done(at+1.9, done(job))
	}
	p, edges := finish(t, r, 800), 0
	for i, s := range p.Stages {
		edges += len(s.Parents)
		if i >= 4 && len(s.Parents) == 0 {
			t.Fatalf("stage %d follows nothing", i)
		}
	}
	if edges > 5*1500 {
		t.Errorf("%d edges", edges)
	}
}

// Stages of a run that look like folded ones have the first of these that has room, and each is filled before the next.
func TestFoldedJobsAreFilledInOrder(t *testing.T) {
	r := profiles.NewRecorder("search")
	end := search(r, 0, 600, []string{"fit"}, []string{"score"})
	r.Fold(100)
	m := profiles.NewMatcher(finish(t, r, end))
	came := map[string]int{}
	for job := range 700 {
		signature := []string{"fit", "score"}[job%2]
		s := ready(job, job, signature)
		s.Records = 1000
		found, known := m.Match(s)
		if known != (job < 600) {
			t.Fatalf("job %d is known: %v", job, known)
		}
		if !known {
			continue
		}
		a := found.Annotation
		if want := 2*(came[signature]/6) + job%2; a.ID != want || a.Signature != signature || found.Sure < 0.9 {
			t.Fatalf("job %d, %s, is %d, not %d: %+v", job, signature, a.ID, want, found)
		}
		if came[signature]++; m.Filling()[a.ID] != (600-came[signature])%6 {
			t.Fatalf("%d are left of %d", m.Filling()[a.ID], a.ID)
		}
		m.Ended(job)
	}
	if rest := m.Remaining(); len(rest) > 0 {
		t.Errorf("%v are still to come", rest)
	}
}

// Runs with more and with fewer jobs are runs of the same profile, whose stages stand for as many as the run had.
func TestFoldedRunsMerge(t *testing.T) {
	run := func(n int) api.Profile {
		r := profiles.NewRecorder("search")
		end := search(r, 0, n, []string{"fit"})
		r.Fold(500)
		return finish(t, r, end)
	}
	p := run(3000)
	for _, n := range []int{3100, 2800} {
		learnt, founded, err := profiles.Learn(p, run(n), profiles.Terms{})
		if err != nil || founded {
			t.Fatalf("%d jobs after 3000: another variant %v, %v", n, founded, err)
		}
		if counted(learnt) != n || math.Abs(float64(learnt.Work())-2*float64(n)) > 1 || learnt.Validate() != nil {
			t.Errorf("%d jobs are %d of %v core-seconds: %v", n, counted(learnt), learnt.Work(), learnt.Validate())
		}
	}
	if _, founded, err := profiles.Learn(p, run(200), profiles.Terms{}); err != nil || !founded {
		t.Errorf("200 jobs are a run of 3000: %v", err)
	}
}

// However often a run is folded while it goes on, what it takes in all is the same.
func TestFoldingKeepsTheWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var shapes [][]string
		for i := range rapid.IntRange(1, 4).Draw(t, "shapes") {
			var shape []string
			for k := range rapid.IntRange(1, 3).Draw(t, "stages") {
				shape = append(shape, fmt.Sprint(i, k))
			}
			shapes = append(shapes, shape)
		}
		n, most := rapid.IntRange(1, 300).Draw(t, "jobs"), rapid.IntRange(1, 100).Draw(t, "most")
		whole, parts := profiles.NewRecorder("search"), profiles.NewRecorder("search")
		end := search(whole, 0, n, shapes...)
		for at := 0; at < n; {
			to := min(n, at+rapid.IntRange(1, 150).Draw(t, "until"))
			search(parts, at, to, shapes...)
			parts.Fold(most)
			if len(parts.Attempts) > most+3*len(shapes) {
				t.Fatalf("%d attempts are left of %d", len(parts.Attempts), most)
			}
			at = to
		}
		want, got := finish(t, whole, end), finish(t, parts, end)
		var records, folded int64
		for _, s := range want.Stages {
			records += s.Records
		}
		for _, s := range got.Stages {
			folded += s.Records
		}
		if counted(got) != counted(want) || records != folded || math.Abs(float64(got.Work()-want.Work())) > 1e-6*float64(want.Work()) ||
			math.Abs(float64(got.Duration-want.Duration)) > 1e-6*float64(want.Duration) {
			t.Fatalf("%d stages of %v core-seconds in %v s, %d records; folded %d of %v in %v, %d records", counted(want), want.Work(), want.Duration,
				records, counted(got), got.Work(), got.Duration, folded)
		}
	})
}
