package profiles_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

func TestTheKthOfASignatureMatchesTheKth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t, 8)
		m := profiles.NewMatcher(p)
		matched := make(map[string][]int) // by signature, in order
		for _, e := range run(p) {
			if e.ready == nil {
				continue
			}
			if rapid.Bool().Draw(t, "restart") {
				m = restart(m)
			}
			s, ok := m.Match(*e.ready)
			if !ok || s.Signature != e.ready.Signature {
				t.Fatalf("%s matched %+v, %t", e.ready.Name, s, ok)
			}
			again := *e.ready
			again.Attempt = 1
			if repeated, ok := m.Match(again); !ok || repeated.ID != s.ID {
				t.Fatalf("its second attempt matched %d, not %d", repeated.ID, s.ID)
			}
			if known, ok := m.Annotation(e.ready.Stage); !ok || known.ID != s.ID {
				t.Fatalf("its annotation is %d, not %d", known.ID, s.ID)
			}
			matched[s.Signature] = append(matched[s.Signature], s.ID)
			if got, want := m.Remaining(), stillToCome(p, m.Matched); !slices.Equal(got, want) {
				t.Fatalf("%v remain, want %v", got, want)
			}
		}
		for _, s := range p.Stages { // In order of id, k-th by k-th.
			ids := matched[s.Signature]
			if len(ids) == 0 || ids[0] != s.ID {
				t.Fatalf("signature %s matched %v, want %d next", s.Signature, ids, s.ID)
			}
			matched[s.Signature] = ids[1:]
		}
	})
}

// stillToCome is the oracle of Remaining: what is not matched, and of what nothing
// that comes after it is.
func stillToCome(p api.Profile, matched map[int]int) (ids []int) {
	begun := make([]bool, len(p.Stages)) // By id: matched, or before one that is.
	for _, id := range matched {
		begun[id] = true
	}
	for later := len(p.Stages) - 1; later >= 0; later-- {
		for earlier := range later {
			before := p.Stages[earlier].Job < p.Stages[later].Job || slices.Contains(p.Stages[later].Parents, earlier)
			begun[earlier] = begun[earlier] || begun[later] && before
		}
	}
	for id, begun := range begun {
		if !begun {
			ids = append(ids, id)
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
		if left := m.Remaining(); !slices.Equal(left, want) {
			t.Errorf("after %d stages %v remain, want %v", i+1, left, want)
		}
	}
	if s, ok := m.Match(ready(20, 0, "map")); !ok || s.ID != 2 {
		t.Errorf("the stage that came after all is %d, %t", s.ID, ok)
	}
}

// restart is what a ledger does that is made again from its store.
func restart(m *profiles.Matcher) *profiles.Matcher {
	back := profiles.NewMatcher(m.Profile)
	for stage, id := range m.Matched {
		back.Restore(stage, id)
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
		if s, ok := m.Match(ready(10+i, 0, "map")); !ok || s.ID != want {
			t.Errorf("occurrence %d matched %d, %t, want %d", i, s.ID, ok, want)
		}
	}
	if s, ok := m.Match(ready(12, 0, "map")); ok {
		t.Errorf("a third stage matched %d of two", s.ID)
	}
	if left := m.Remaining(); len(left) != 0 {
		t.Errorf("%v remain", left)
	}
	if _, ok := m.Annotation(12); ok {
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
		return s.ID, ok
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
	if id, ok := match(8, "sum at app.py", "python"); ok {
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
