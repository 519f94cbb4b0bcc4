package profiles_test

import (
	"fmt"
	"testing"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/profiles"
)

// crowd is a run of equal queries, of a scan and what reads it each, one after the other. One before place
// inserted is of another shape.
func crowd(queries, inserted int) (stages []api.ProfileStage) {
	add := func(job int, shape string, nth, exchange int, parents ...int) {
		stages = append(stages, api.ProfileStage{ID: len(stages), Job: job, Signature: fmt.Sprint(shape, exchange),
			Lineage: fmt.Sprint(shape, exchange), Query: &api.QueryStage{Shape: shape, Nth: nth, Exchange: exchange},
			Parents: parents, Tasks: 2, Duration: 1, Records: 10, Bytes: 100, CoreSeconds: 1, NominalRate: 10})
	}
	for n := range queries {
		if n == inserted {
			add(2*n, "other", 0, -1)
		}
		add(2*n, "equal", n, 0)
		add(2*n+1, "equal", n, -1, len(stages)-1)
	}
	return stages
}

// Of hundreds of equal queries each is the one at its place, and one of another shape between them moves none.
func TestEqualQueriesByTheHundred(t *testing.T) {
	known, seen := crowd(300, -1), crowd(320, 150)
	a := profiles.Align(known, seen)
	if len(a.Pairs) != len(known) || len(a.New) != len(seen)-len(known) || len(a.Gone) != 0 {
		t.Fatalf("%d pairs of %d, %d are new, %d are gone", len(a.Pairs), len(known), len(a.New), len(a.Gone))
	}
	for _, p := range a.Pairs {
		if k, s := known[p.Known].Query, seen[p.Seen].Query; *k != *s {
			t.Errorf("%+v is taken for %+v", *s, *k)
		}
	}
}

// A query that never says that it has ended holds none of those that come after it up.
func TestAQueryWithoutAnEnd(t *testing.T) {
	p := api.Profile{Schema: api.ProfileSchema, Name: "crowd", Runs: 1, Cores: 2, Stages: crowd(100, -1)}
	m := profiles.NewMatcher(p)
	for i, s := range p.Stages {
		q := *s.Query
		q.Execution = int64(q.Nth + 1)
		ready := api.StageReady{StageKey: api.StageKey{Stage: i}, Job: s.Job, Signature: s.Signature, Lineage: s.Lineage,
			Query: &q, Parents: s.Parents, Tasks: s.Tasks, Records: s.Records, Bytes: s.Bytes}
		if i == 1 { // Of the first query nothing more comes, and nobody says so.
			continue
		}
		if f, is := m.Match(ready); !is || f.Annotation.ID != s.ID {
			t.Fatalf("stage %d is taken for %+v, %t", i, f, is)
		}
	}
	if rest := m.Remaining(); len(rest) > 1 {
		t.Errorf("%v remain", rest)
	}
}
