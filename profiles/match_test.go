package profiles_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
	"github.com/sparkpacer/pacer/sim/nextrun"
)

func TestARunOfItsProfileMatchesItselfInWhateverOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		m := profiles.NewMatcher(p)
		var begun []api.StageReady
		matched, ended := make(map[int]int), make(map[int]bool)
		for _, e := range run(p) {
			if e.ready == nil {
				m.Ended(e.done.Stage)
				ended[matched[e.done.Stage]] = true
				continue
			}
			if rapid.Bool().Draw(t, "restart") {
				m = restart(p, m, begun, ended)
			}
			s, ok := m.Match(*e.ready)
			if !ok || s.Annotation.Signature != e.ready.Signature {
				t.Fatalf("%s matched %+v, %t", e.ready.Name, s, ok)
			}
			again := *e.ready
			again.Attempt = 1
			if repeated, ok := m.Match(again); !ok || repeated.Annotation.ID != s.Annotation.ID {
				t.Fatalf("its second attempt matched %d, not %d", repeated.Annotation.ID, s.Annotation.ID)
			}
			if s.Annotation.Name != e.ready.Name {
				t.Fatalf("%s matched %s", e.ready.Name, s.Annotation.Name)
			}
			begun, matched[e.ready.Stage] = append(begun, *e.ready), s.Annotation.ID
			if got, want := m.Remaining(), stillToCome(p, matched, ended); !slices.Equal(got, want) {
				t.Fatalf("%v remain, want %v", got, want)
			}
		}
	})
}

// stillToCome is the oracle of Remaining: what is not matched, of which nothing that comes after it
// is, and that follows what runs if a later job has begun.
func stillToCome(p api.Profile, matched map[int]int, ended map[int]bool) (ids []int) {
	begun, later, awaited := make([]bool, len(p.Stages)), make([]bool, len(p.Stages)), make([]bool, len(p.Stages))
	for _, id := range matched {
		begun[id], awaited[id] = true, !ended[id]
	}
	for i := len(p.Stages) - 1; i >= 0; i-- {
		for k := range i {
			begun[k] = begun[k] || begun[i] && slices.Contains(p.Stages[i].Parents, k)
			later[k] = later[k] || (later[i] || slices.Contains(slices.Collect(maps.Values(matched)), i)) && p.Stages[k].Job < p.Stages[i].Job
		}
	}
	for i := range p.Stages {
		follows := false
		for _, parent := range p.Stages[i].Parents {
			follows = follows || awaited[parent]
		}
		if !begun[i] && (!later[i] || follows) {
			ids, awaited[i] = append(ids, i), follows
		}
	}
	return ids
}

// Spark skips a stage whose shuffle output is there, and a driver that loops may end
// its loop: once what follows is ready, neither is waited for. If it comes after all,
// it has its annotation.
func TestWhatASkippedStageWouldHaveDoneIsNotAwaited(t *testing.T) {
	m := profiles.NewMatcher(api.Profile{Stages: []api.ProfileStage{{ID: 0, Signature: "map"}, {ID: 1, Signature: "sum", Parents: []int{0}},
		{ID: 2, Job: 1, Signature: "map"}, {ID: 3, Job: 1, Signature: "sort", Parents: []int{2}}, {ID: 4, Job: 2, Signature: "save"}}})
	for i, want := range [][]int{{1, 2, 3, 4}, {2, 3, 4}, {4}, nil} {
		m.Match(ready(10+i, 0, []string{"map", "sum", "sort", "save"}[i]))
		m.Ended(10 + i)
		if left := m.Remaining(); !slices.Equal(left, want) {
			t.Errorf("after %d stages %v remain, want %v", i+1, left, want)
		}
	}
	if s, ok := m.Match(ready(20, 0, "map")); !ok || s.Annotation.ID != 2 {
		t.Errorf("the stage that came after all is %d, %t", s.Annotation.ID, ok)
	}
}

// restart is what a ledger does that is made again from its store.
func restart(p api.Profile, m *profiles.Matcher, begun []api.StageReady, ended map[int]bool) *profiles.Matcher {
	back := profiles.NewMatcher(p)
	for _, ready := range begun {
		found, _ := m.Of(ready.Stage)
		back.Restore(ready, found.Annotation.ID)
		if ended[found.Annotation.ID] {
			back.Ended(ready.Stage)
		}
	}
	return back
}

func TestAnUnknownOrExhaustedSignatureIsAMismatch(t *testing.T) {
	p := api.Profile{Stages: []api.ProfileStage{{ID: 0, Signature: "map"}, {ID: 5, Signature: "map"}}}
	m := profiles.NewMatcher(p)
	if _, ok := m.Match(ready(1, 0, "sort")); ok {
		t.Error("an unknown signature matched")
	}
	for i, want := range []int{0, 5} {
		if s, ok := m.Match(ready(10+i, 0, "map")); !ok || s.Annotation.ID != want {
			t.Errorf("occurrence %d matched %d, %t, want %d", i, s.Annotation.ID, ok, want)
		}
	}
	if s, ok := m.Match(ready(12, 0, "map")); ok {
		t.Errorf("a third stage matched %d of two", s.Annotation.ID)
	}
	if left := m.Remaining(); len(left) != 0 {
		t.Errorf("%v remain", left)
	}
	if _, ok := m.Of(12); ok {
		t.Error("a stage without a match has an annotation")
	}
}

// PySpark tells the call site of one thread at a time: of two jobs that start at once either may
// have another signature than in the run before, and so has what reads their stages.
func TestAStageIsRecognisedByItsLineage(t *testing.T) {
	p := api.Profile{Stages: []api.ProfileStage{
		{ID: 0, Signature: "sum at app.py", Lineage: "python"},
		{ID: 1, Signature: "collect at PythonRDD.scala", Lineage: "python"},
		{ID: 2, Signature: "reads sum at app.py", Lineage: "reads python", Parents: []int{0}},
		{ID: 3, Signature: "recorded by a driver that does not say"},
	}}
	m := profiles.NewMatcher(p)
	match := func(stage int, signature, lineage string) (int, bool) {
		r := ready(stage, 0, signature)
		r.Lineage = lineage
		s, ok := m.Match(r)
		return s.Annotation.ID, ok
	}
	for stage, want := range []struct {
		signature, lineage string
		id                 int
	}{
		{"collect at PythonRDD.scala", "python", 1}, // A signature that is there comes first.
		{"collect at PythonRDD.scala", "python", 0},
		{"reads collect at PythonRDD.scala", "reads python", 2},
	} {
		if id, ok := match(stage, want.signature, want.lineage); !ok || id != want.id {
			t.Errorf("stage %d (%s) matched %d, %t, want %d", stage, want.signature, id, ok, want.id)
		}
	}
	if id, ok := match(8, "max at app.py", "python"); ok {
		t.Errorf("a third of two matched %d", id)
	}
	if id, ok := match(9, "another", ""); ok {
		t.Errorf("one of which nothing is known matched %d", id)
	}
}

func TestLeftoversAreSeenAtTheEnd(t *testing.T) {
	m := profiles.NewMatcher(api.Profile{Stages: []api.ProfileStage{{ID: 0, Signature: "map"}, {ID: 5, Signature: "sort"}}})
	m.Match(ready(1, 0, "map"))
	if left := m.Remaining(); len(left) != 1 || left[0] != 5 {
		t.Errorf("%v remain, want stage 5", left)
	}
}

// What a run has passed stays owed until little is left that it could come behind, which of six jobs is always much. Once a job has come after a later one all is owed that has not come.
func TestWhatIsLeftBehindByAJump(t *testing.T) {
	var p api.Profile
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Signature: name, Tasks: 4, Records: 100, CoreSeconds: 10, NominalRate: 10})
	}
	for run, want := range map[string]string{"a": "bcdef", "ad": "bcef", "adb": "cef", "ade": "bcf", "ac": "bdef", "acb": "def", "acd": "bef", "acdef": "b", "adef": "bc", "abcdf": "e", "bcdef": "a", "adbce": "f",
		"f": "abcde", "fe": "abcd", "fedcb": "a"} {
		m := profiles.NewMatcher(p)
		for i, c := range run {
			m.Match(api.StageReady{StageKey: api.StageKey{Stage: i}, Job: i, Signature: string(c), Tasks: 4, Records: 100})
			m.Ended(i)
		}
		left := ""
		for _, id := range m.Remaining() {
			left += p.Stages[id].Signature
		}
		if left != want {
			t.Errorf("after %s there are %s to come, want %s", run, left, want)
		}
	}
}

// A copy of a stage that is larger comes first, and is taken for it: the one itself turns up, and has what is
// its own.
func TestAStageTurnsOutToBeAnother(t *testing.T) {
	p := api.Profile{Stages: sequence(of("a", 100), of("py", 50), of("py", 900), of("z", 10))}
	m := profiles.NewMatcher(p)
	var changed []int
	for i, s := range sequence(of("a", 100), of("py", 420), of("py", 50), of("py", 900), of("z", 10)) {
		found, _ := m.Match(readyOf(&s))
		if changed = append(changed, found.Changed...); i == 1 && found.Sure > 0.9 {
			t.Errorf("of one that is like no other it is %.2f sure", found.Sure)
		}
	}
	for stage, want := range map[int]int{0: 0, 2: 1, 3: 2, 4: 3} {
		if found, is := m.Of(stage); !is || found.Annotation.ID != want {
			t.Errorf("stage %d is %d, %t, want %d", stage, found.Annotation.ID, is, want)
		}
	}
	if found, is := m.Of(1); is {
		t.Errorf("the copy is %d, and %v changed", found.Annotation.ID, changed)
	}
}

// Of two queries of a shape the second one comes alone: from its second stage on that is clear.
func TestAQueryTurnsOutToBeAnother(t *testing.T) {
	p := api.Profile{Stages: sequence(in("q", 0, 0, of("scan", 100)), in("q", 0, 1, of("dim", 10)),
		in("q", 0, -1, of("sum", 8, 0, 1)),
		in("q", 1, 0, of("scan", 104)), in("q", 1, 1, of("dim", 700)), in("q", 1, -1, of("sum", 90, 3, 4)))}
	m := profiles.NewMatcher(p)
	for _, s := range sequence(in("q", 0, 0, of("scan", 103)), in("q", 0, 1, of("dim", 700)),
		in("q", 0, -1, of("sum", 90, 0, 1))) {
		m.Match(readyOf(&s))
	}
	for stage, want := range []int{3, 4, 5} {
		if found, is := m.Of(stage); stage > 0 && (!is || found.Annotation.ID != want) || is && found.Annotation.ID != want {
			t.Errorf("stage %d is %d, %t, want %d", stage, found.Annotation.ID, is, want)
		}
	}
}

// A planner that is restarted in mid-run goes on as the one before would have.
func TestAlignmentGoesOnAfterARestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		runs := nextrun.Draw(r, rapid.IntRange(5, 40).Draw(t, "stages"))
		at := rapid.IntRange(0, len(runs.Next.Stages)).Draw(t, "restart")
		m := profiles.NewMatcher(runs.Known)
		for i := range runs.Next.Stages {
			if i == at {
				back := profiles.NewMatcher(runs.Known)
				for k := range i {
					if found, is := m.Of(k); is {
						back.Restore(runs.Ready(k), found.Annotation.ID)
					}
				}
				m = back
			}
			if found, is := m.Match(runs.Ready(i)); is && !runs.Right(i, found.Annotation.ID) {
				t.Fatalf("stage %d is %d, not %d", i, found.Annotation.ID, runs.Truth[i])
			}
		}
	})
}

func TestAQueryThatEndsAwaitsNothing(t *testing.T) {
	p := api.Profile{Stages: sequence(in("q", 0, 0, of("scan", 100)), in("q", 0, 1, of("dim", 10)),
		in("q", 0, -1, of("sum", 8, 0, 1)), of("z", 10))}
	m := profiles.NewMatcher(p)
	ready := readyOf(&p.Stages[0])
	ready.Query = &api.QueryStage{Execution: 7, Shape: "q", Exchange: 0}
	m.Match(ready)
	if m.Leaves(8) || !m.Leaves(7) {
		t.Errorf("of query 8 some may come: %v, of query 7: %v", m.Leaves(8), m.Leaves(7))
	}
	m.QueryEnded(8) // Another one, of which nothing is known.
	if left := m.Remaining(); !slices.Equal(left, []int{1, 2, 3}) {
		t.Errorf("%v remain", left)
	}
	m.QueryEnded(7)
	if left, gone := m.Remaining(), m.Gone(); !slices.Equal(left, []int{3}) || !slices.Equal(gone, []int{1, 2}) {
		t.Errorf("%v remain, %v are gone", left, gone)
	}
	if m.Leaves(7) {
		t.Error("it has ended, and leaves some again")
	}
}

// A job's leftovers are awaited while something that they read from runs, and no longer.
func TestWhatIsLeftOfAJobIsAwaitedWhileItRuns(t *testing.T) {
	p := api.Profile{Stages: sequence(of("map", 100), of("sum", 8, 0), of("next", 10))}
	m := profiles.NewMatcher(p)
	m.Match(readyOf(&p.Stages[0]))
	m.Match(readyOf(&p.Stages[2]))
	if left := m.Remaining(); !slices.Equal(left, []int{1}) {
		t.Errorf("%v remain while the map stage runs", left)
	}
	m.Ended(0)
	if left := m.Gone(); !slices.Equal(left, []int{1}) {
		t.Errorf("%v are gone after it", left)
	}
}

func TestACopyLearnsNothingOfWhatTheOtherLearns(t *testing.T) {
	p := api.Profile{Stages: sequence(of("a", 100), of("b", 8))}
	m := profiles.NewMatcher(p)
	m.Match(readyOf(&p.Stages[0]))
	c := m.Copy()
	m.Match(readyOf(&p.Stages[1]))
	m.Grow(api.ProfileStage{ID: 9, Name: "new"})
	m.Restore(api.StageReady{StageKey: api.StageKey{Stage: 5}}, 9)
	if left := c.Remaining(); !slices.Equal(left, []int{1}) {
		t.Errorf("%v remain in the copy", left)
	}
	if _, is := c.Of(5); is {
		t.Error("the copy has grown")
	}
	if found, is := m.Of(5); !is || found.Annotation.Name != "new" || len(m.Remaining()) != 0 || len(m.Gone()) != 0 {
		t.Errorf("%+v, %t; %v remain", found, is, m.Remaining())
	}
	again := api.StageReady{StageKey: api.StageKey{Stage: 5, Attempt: 1}}
	if found, is := m.Match(again); !is || found.Annotation.ID != 9 {
		t.Errorf("its second attempt is %d, %t", found.Annotation.ID, is)
	}
}
