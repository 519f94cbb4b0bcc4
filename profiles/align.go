package profiles

import (
	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// By says what a stage was recognised by.
type By string

// Grounds by which a stage is recognised, the surest first.
const (
	// ByQuery: its place in a SQL query (api.QueryStage).
	ByQuery By = "query"
	// BySignature and ByLineage: api.StageReady has both.
	BySignature By = "signature"
	ByLineage   By = "lineage"
	// ByPlace: its code is another, but it reads what the annotation reads, and about as much.
	ByPlace By = "place"
)

// Pair is a stage of a run and the annotation that is its own, both by their places.
type Pair struct {
	Seen, Known int
	// Sure is how likely that is, beside the other annotations that it could have and beside none.
	Sure units.Fraction
	By   By
}

// Alignment says who is whom: each stage of a run is in Pairs or in New, each annotation in Pairs or
// in Gone.
type Alignment struct {
	// Pairs are in order of Seen.
	Pairs []Pair
	// New are the places of the stages of the run that the profile does not know, Gone those of
	// the annotations that no stage of the run has. Both ascend.
	New, Gone []int
}

// Align aligns the stages of a run that is over, in order of submission, with those of a profile.
// Parents are ids of the same sequence. Each stage has the likeliest annotation, as a Matcher finds it while the run
// goes on, but knows from the first stage on how much the run reads. Stages and annotations that are left on both sides
// are looked at once more when all else is known. It is a pure function, and its work grows with the number of stages
// only.
func Align(known, seen []api.ProfileStage) Alignment {
	return align(&api.Profile{Stages: known}, &api.Profile{Stages: seen})
}

func align(old, run *api.Profile) Alignment {
	x, known, seen := newIndex(old), old.Stages, run.Stages
	first := newAligner(x)
	first.filling.seen = run.Folds
	for k := range seen {
		first.match(&seen[k])
	}
	a := newAligner(x)
	a.come.scale, a.filling.seen = first.come.scale, run.Folds
	for k := range seen {
		a.match(&seen[k])
	}
	for k := range seen {
		if m, is := a.matched[seen[k].ID]; is {
			a.come.front = m.place
			continue
		}
		a.settle(&seen[k])
	}
	var out Alignment
	for k := range seen {
		if m, is := a.matched[seen[k].ID]; is {
			out.Pairs = append(out.Pairs, Pair{Seen: k, Known: m.place, Sure: m.sure, By: m.by})
		} else {
			out.New = append(out.New, k)
		}
	}
	for i := range known {
		if !a.taken(i) {
			out.Gone = append(out.Gone, i)
		}
	}
	return out
}
