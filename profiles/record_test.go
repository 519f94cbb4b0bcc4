package profiles_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/units"
)

// roughly compares times, work and rates within a millionth, and takes no list
// for an empty one.
var roughly = cmp.Options{closely[units.Seconds](), closely[units.Work](), closely[units.Rate](), cmpopts.EquateEmpty()}

func closely[T ~float64]() cmp.Option {
	return cmp.Comparer(func(a, b T) bool {
		return math.Abs(float64(a-b)) <= 1e-6*max(1, math.Abs(float64(a)), math.Abs(float64(b)))
	})
}

func ready(stage, job int, signature string, parents ...int) api.StageReady {
	return api.StageReady{StageKey: api.StageKey{Stage: stage}, Job: job, Name: signature, Signature: signature, Parents: parents,
		Tasks: 4, Records: api.Unknown, Bytes: api.Unknown}
}

func done(stage int) api.StageDone {
	return api.StageDone{StageKey: api.StageKey{Stage: stage}, Tasks: 4, TaskCPU: 2, LongestTask: 0.5}
}

// clean reports whether no stage of the run was tried again.
func clean(r *profiles.Recorder) bool { return len(r.Terms().Tried) == 0 }

func TestRecordingARunOfAProfileGivesThatProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawProfile(t, 8)
		r := record(want)
		if !clean(r) {
			t.Fatal("the run is not clean")
		}
		got, err := r.Finish(want.Duration, want.Cores)
		if err != nil {
			t.Fatal(err)
		}
		// Parallel stages may be submitted in another order than that of their
		// ids; stages have names of their own to find them by.
		names := make(map[string]int)
		var order []string
		for _, s := range got.Stages {
			order = append(order, s.Name)
			names[s.Name] = s.ID
		}
		slices.SortStableFunc(want.Stages, func(a, b api.ProfileStage) int {
			return slices.Index(order, a.Name) - slices.Index(order, b.Name)
		})
		old := make(map[int]int)
		for i, s := range want.Stages {
			old[s.ID] = i
		}
		for i := range want.Stages {
			s := &want.Stages[i]
			s.ID = i
			for k := range s.Parents {
				s.Parents[k] = old[s.Parents[k]]
			}
			slices.Sort(s.Parents)
		}
		for i, s := range got.Stages {
			// The threads of a stage that is recorded have done half of its work.
			if factor := got.Habit.Stages[i].Factor; (factor > 0) != (s.CoreSeconds >= 1) || factor > 0 && factor != 2 {
				t.Fatalf("stage %d of %v core-seconds has the factor %v", i, s.CoreSeconds, factor)
			}
		}
		got.Habit.Stages = nil
		if d := cmp.Diff(want, got, roughly); d != "" {
			t.Fatal(d)
		}
	})
}

func TestRecorderSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 5)
		before := record(p)
		body, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after profiles.Recorder
		if err := json.Unmarshal(body, &after); err != nil {
			t.Fatal(err)
		}
		a, errA := before.Finish(p.Duration, p.Cores)
		b, errB := after.Finish(p.Duration, p.Cores)
		if d := cmp.Diff(a, b); d != "" || errA != nil || errB != nil {
			t.Fatal(d, errA, errB)
		}
	})
}

func TestWhatCannotBeAProfileIsAnError(t *testing.T) {
	empty := profiles.NewRecorder("a")
	open := profiles.NewRecorder("a")
	open.Ready(1, ready(0, 0, "x"))
	nameless := profiles.NewRecorder("")
	nameless.Ready(1, ready(0, 0, "x"))
	nameless.Done(2, done(0))
	for name, r := range map[string]*profiles.Recorder{"no stage": empty, "open": open, "nameless": nameless} {
		if _, err := r.Finish(5, 2); err == nil || api.KindOf(err) != api.KindInvalid {
			t.Errorf("%s: %v, want an invalid error", name, err)
		}
	}
}

func TestNoteOfAnUnknownOrEndedAttemptChangesNothing(t *testing.T) {
	r := profiles.NewRecorder("a")
	r.Ready(1, ready(0, 0, "x"))
	r.Done(3, done(0))
	r.Work(api.StageKey{Stage: 0}, 5)
	want, err := r.Finish(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	r.Ready(2, ready(0, 0, "x"))
	r.Done(9, done(0))
	r.Done(9, done(8))
	r.Work(api.StageKey{Stage: 8}, 5)
	got, err := r.Finish(4, 2)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestAStageIsDescribedByItsWholeSuccessfulAttempt(t *testing.T) {
	attempt := func(n, tasks int) (api.StageReady, api.StageDone) {
		a, b := ready(0, 0, "x"), done(0)
		a.Attempt, b.Attempt, a.Tasks, b.Tasks = n, n, tasks, tasks
		return a, b
	}
	r := profiles.NewRecorder("a")
	a, b := attempt(0, 4) // Fails after 3 s.
	b.Failed = true
	r.Ready(1, a)
	r.Done(4, b)
	a, b = attempt(1, 4) // Completes in 2 s.
	r.Ready(5, a)
	r.Done(7, b)
	r.Work(api.StageKey{Stage: 0, Attempt: 1}, 6)
	r.Ready(7.5, ready(1, 0, "y", 0))
	a, b = attempt(2, 1) // Repeats one task that was lost.
	r.Ready(8, a)
	r.Done(8.5, b)
	r.Done(10, done(1))
	p, err := r.Finish(11, 2)
	if err != nil {
		t.Fatal(err)
	}
	if clean(r) {
		t.Error("a run with repeated attempts is called clean")
	}
	x := p.Stages[0]
	if x.Tasks != 4 || x.Duration != 2 || x.Gap != 0 || x.CoreSeconds != 6 {
		t.Errorf("stage: %+v", x)
	}
	if y := p.Stages[1]; y.Gap != 0.5 || y.Duration != 2.5 {
		t.Errorf("its child: %+v", y)
	}
	// Without the attempt that was lost: head 1, 2, gap 0.5, 2.5, tail 1.
	if math.Abs(float64(p.Duration-7)) > 1e-9 || p.Head != 1 || p.Tail != 1 {
		t.Errorf("duration %v, head %v, tail %v", p.Duration, p.Head, p.Tail)
	}
}

// An attempt that fails leaves what it has done, and the one that completes has the rest: the stage is
// both, not the rest alone. One that did nothing of it is no part of it.
func TestAnAttemptThatDidTheRestIsNotTheStage(t *testing.T) {
	r := profiles.NewRecorder("a")
	attempt := func(at, until units.Seconds, n, tasks int, work units.Work, fails bool) {
		a, b := ready(0, 0, "x"), done(0)
		a.Attempt, a.Tasks, a.Records, a.Bytes = n, tasks, int64(100*tasks), 0
		b.Attempt, b.Tasks, b.Failed, b.RecordsWritten, b.LongestTask = n, tasks, fails, 10, units.Seconds(n)
		r.Ready(at, a)
		r.Done(until, b)
		r.Work(a.StageKey, work)
	}
	attempt(1, 3, 0, 10, 2, true)
	attempt(4, 12, 1, 10, 16, true)   // 8 of its 10 tasks are done.
	attempt(15, 17, 2, 2, 4, false)   // The other two.
	attempt(17.5, 18, 3, 3, 6, false) // What was lost of it.
	r.Ready(18, ready(1, 0, "y", 0))
	r.Done(20, done(1))
	p, err := r.Finish(21, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Stages[0]
	if s.Tasks != 10 || s.Duration != 8+2 || s.CoreSeconds != 16+4 || s.Records != 1000 || s.RecordsWritten != 20 || s.LongestTask != 2 || s.Failed {
		t.Errorf("the stage is %+v", s)
	}
	if y := p.Stages[1]; y.Gap != 1 || p.Duration != 1+10+1+2+1 {
		t.Errorf("its child is %+v, the run takes %v", y, p.Duration)
	}
}

// A program that catches a failed job does so in each run: the stage is a part of it, with its
// work until it failed, once.
func TestAStageThatFailsIsAStage(t *testing.T) {
	night := func(fails bool, attempts int) (*profiles.Recorder, api.Profile) {
		r := profiles.NewRecorder("a")
		at := units.Seconds(1)
		for n := range attempts {
			a, b := ready(0, 0, "x"), done(0)
			a.Attempt, b.Attempt, b.Failed = n, n, fails
			r.Ready(at, a)
			r.Done(at+2, b)
			r.Work(a.StageKey, units.Work(4-n))
			at += 3
		}
		r.Ready(at, ready(1, 1, "y"))
		r.Done(at+5, done(1))
		p, err := r.Finish(at+6, 2)
		if err != nil {
			t.Fatal(err)
		}
		return r, p
	}
	r, p := night(true, 1)
	if s := p.Stages[0]; !clean(r) || len(p.Stages) != 2 || !s.Failed || s.Duration != 2 || s.CoreSeconds != 4 || p.Duration != 10 || p.Stages[1].Failed {
		t.Errorf("clean %v, %+v", clean(r), p)
	}
	if r, p := night(true, 2); clean(r) || len(p.Stages) != 2 || p.Stages[0].CoreSeconds != 4 {
		t.Errorf("of two failed attempts: clean %v, %+v", clean(r), p)
	}
	if merged := atAllCores(p, p); !merged.Stages[0].Failed || merged.Runs != 2 || profiles.Broken(p, p) != "" {
		t.Errorf("every night the same: %+v", merged)
	}
	_, whole := night(false, 1)
	if merged := atAllCores(p, whole); merged.Stages[0].Failed || merged.Stages[0].CoreSeconds != whole.Stages[0].CoreSeconds {
		t.Errorf("what a stage took until it failed counts for one that completes: %+v", merged.Stages[0])
	}
	if profiles.Broken(whole, p) == "" || profiles.Broken(p, whole) != "" {
		t.Error("broken is the run that fails where its profile does not")
	}
}

// A later job that needs what was lost has it written by a stage of its own: that is
// no stage of the profile, and what reads from it reads from the first.
func TestAStageThatRepeatsAnotherIsNoStageOfItsOwn(t *testing.T) {
	r := profiles.NewRecorder("a")
	record := func(at units.Seconds, stage, job, tasks int, repeats *int, parents ...int) {
		a := ready(stage, job, "x", parents...)
		a.Tasks, a.Repeats = tasks, repeats
		r.Ready(at, a)
		r.Done(at+1, done(stage))
	}
	record(1, 0, 0, 4, nil)
	record(2, 1, 0, 4, nil, 0)
	if !clean(r) {
		t.Error("a run without a repeated stage is not clean")
	}
	record(4, 3, 1, 1, new(0))
	record(5, 5, 1, 1, new(3))
	record(6, 4, 1, 4, nil, 5)
	p, err := r.Finish(8, 2)
	if err != nil {
		t.Fatal(err)
	}
	if clean(r) || len(p.Stages) != 3 || p.Stages[0].Tasks != 4 || !slices.Equal(p.Stages[2].Parents, []int{0}) {
		t.Errorf("clean: %v, stages %+v", clean(r), p.Stages)
	}
}

func TestJobsThatOverlapBecomeOne(t *testing.T) {
	r := profiles.NewRecorder("adaptive")
	// Two query stages of a join as two jobs, one of them followed by a third
	// while the other still runs, and the result as a job of its own.
	r.Ready(1, ready(0, 0, "left"))
	r.Ready(1.1, ready(1, 1, "right"))
	r.Done(3, done(0))
	r.Ready(3.5, ready(3, 2, "left again", 2)) // Stage 2 was skipped.
	r.Done(6, done(1))
	r.Done(7, done(3))
	r.Ready(7.25, ready(8, 3, "join", 6, 7))
	r.Done(9, done(8))
	p, err := r.Finish(10, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		job     int
		parents []int
		gap     units.Seconds
	}{{0, nil, 0}, {0, nil, 0.1}, {0, []int{0}, 0.5}, {1, nil, 0.25}} {
		s := p.Stages[i]
		if s.Job != want.job || !slices.Equal(s.Parents, want.parents) || math.Abs(float64(s.Gap-want.gap)) > 1e-9 {
			t.Errorf("stage %d: job %d, parents %v, gap %v, want %+v", i, s.Job, s.Parents, s.Gap, want)
		}
	}
}
