package profiles

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// ordersOf are all orders of 0 to n-1.
func ordersOf(n int) [][]int {
	all := [][]int{{}}
	for range n {
		var longer [][]int
		for _, order := range all {
			for i := range n {
				if !slices.Contains(order, i) {
					longer = append(longer, append(slices.Clone(order), i))
				}
			}
		}
		all = longer
	}
	return all
}

// owedOracle is how likely each leg still comes after those that have come. Of runs in any order all are written down,
// and counted that begin as this one has. Of each reading in order, one by one, all ways are in which the gaps came about:
// the legs of each were left out together, or moved behind one of those that followed, to any place there.
func owedOracle(orders [][]int, shares []float64, prior float64, came []int) []float64 {
	n, most := len(shares), -1
	owed := make([]float64, n)
	begins := func(run []int) bool { return slices.Equal(run[:len(came)], came) }
	all := 0.0
	for _, run := range orders {
		if begins(run) {
			all += prior / float64(len(orders))
		}
	}
	for i := range owed {
		if !slices.Contains(came, i) {
			owed[i] = all
		}
	}
	if len(came) > 0 {
		most = slices.Max(came)
	}
	if slices.IsSorted(came) {
		for _, least := range append([]float64{0}, shortened[:]...) {
			likely := (1 - prior) * params.Owed.Shortened / float64(len(shortened))
			if least == 0 {
				likely = (1 - prior) * (1 - params.Owed.Shortened)
			}
			out := func(i int) float64 { return max(least, shares[i]) }
			var gaps [][]int
			for i := range most + 1 {
				switch {
				case slices.Contains(came, i):
					likely *= 1 - out(i)
				case i > 0 && !slices.Contains(came, i-1):
					gaps[len(gaps)-1] = append(gaps[len(gaps)-1], i)
				default:
					gaps = append(gaps, []int{i})
				}
			}
			still := make([]float64, n)
			for i := most + 1; i < n; i++ {
				still[i] = 1 - out(i)
			}
			moved, gone := make([]float64, len(gaps)), make([]float64, len(gaps))
			for g := len(gaps) - 1; g >= 0; g-- { // The latest first: behind it all is known.
				gone[g] = 1
				for at, i := range gaps[g] {
					if at < len(gaps[g])-1 && least > 0 {
						gone[g] *= max(out(i), params.Owed.Section)
					} else {
						gone[g] *= out(i)
					}
				}
				behind := slices.Max(gaps[g]) + 1
				open := 1.0 // Behind what has come last.
				for _, s := range still[behind:] {
					open += s
				}
				moved[g] = prior * open / float64(n-behind)
				for _, i := range gaps[g] {
					still[i] = moved[g] / (moved[g] + gone[g])
				}
			}
			for way := range 1 << len(gaps) {
				of := likely
				for g := range gaps {
					if way>>g&1 == 1 {
						of *= moved[g]
					} else {
						of *= gone[g]
					}
				}
				all += of
				for g, gap := range gaps {
					for _, i := range gap {
						owed[i] += of * float64(way>>g&1)
					}
				}
				for i := most + 1; i < n; i++ {
					owed[i] += of * still[i]
				}
			}
		}
	}
	for i := range owed {
		owed[i] /= all
	}
	return owed
}

func TestWhatIsOwedIsThatOfAllRunsThatBeginAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "legs")
		p := api.Profile{Reordered: units.Fraction(rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "reordered"))}
		var shares []float64
		for i := range n {
			share := rapid.SampledFrom([]float64{0, 0, 0.1, 0.5, 1}).Draw(t, "left out")
			p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, LeftOut: units.Fraction(share)})
			shares = append(shares, min(max(share, params.Owed.LeftOut), params.Owed.Most))
		}
		x := newIndex(&p)
		o := newOrder(p, x)
		all := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})).Draw(t, "order")
		if rapid.Bool().Draw(t, "in order") {
			slices.Sort(all)
			all = slices.DeleteFunc(all, func(int) bool { return rapid.IntRange(0, 3).Draw(t, "out") == 0 })
		}
		orders := ordersOf(n)
		for came := range all {
			got, _ := o.owed(x.legs)
			want := owedOracle(orders, shares, o.prior, all[:came])
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-9 {
					t.Fatalf("after %v leg %d is owed with %v, want %v", all[:came], i, got[i], want[i])
				}
			}
			o.come(all[came], all[came])
		}
	})
}

// A query is one leg with all its jobs, and so are queries whose stages share a job.
func TestAQueryIsOneLeg(t *testing.T) {
	var p api.Profile
	for i, q := range []string{"a", "a", "b", "", "c", "d", "d"} {
		s := api.ProfileStage{ID: i, Job: i, LeftOut: units.Fraction(i) / 10}
		if q != "" {
			s.Query = &api.QueryStage{Shape: q}
		}
		p.Stages = append(p.Stages, s)
	}
	p.Stages[5].Job = 4
	x := newIndex(&p)
	if !slices.Equal(x.leg, []int{0, 0, 1, 2, 3, 3, 3}) {
		t.Errorf("legs %v", x.leg)
	}
	if x.legs[0] != (leg{params.Owed.LeftOut, true}) || x.legs[2].query || x.legs[3].leftOut != 0.4 {
		t.Errorf("%+v", x.legs)
	}
}

// Twenty-two queries as they come. Reversed, all that has not come is owed; those that are dropped go.
func TestTheReadingsOfTwentyTwoQueries(t *testing.T) {
	var p api.Profile
	for i := range 22 {
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Signature: string(rune('a' + i)), Tasks: 4, Records: 100,
			CoreSeconds: 10, NominalRate: 10, Query: &api.QueryStage{Shape: string(rune('a' + i))}})
	}
	follow := func(run []int) *Matcher {
		m := NewMatcher(p)
		for at, i := range run {
			m.Match(api.StageReady{StageKey: api.StageKey{Stage: at}, Job: at, Signature: p.Stages[i].Signature, Tasks: 4,
				Records: 100, Query: p.Stages[i].Query})
			m.Ended(at)
		}
		return m
	}
	if c := follow([]int{21, 20, 19}).Course(); c != (Course{Reordered: true, Of: 22, Coming: 19, Queries: true}) {
		t.Errorf("reversed: %+v", c)
	}
	if c := follow([]int{21}).Course(); c.Coming != 21 || !c.Reordered {
		t.Errorf("the last one first: %+v", c)
	}
	// The second half comes first: until its end the first one is still to come.
	for n := range 11 {
		half := follow([]int{11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}[:n+1]).Course()
		if half != (Course{Reordered: true, Of: 22, Coming: 21 - n, Queries: true}) {
			t.Errorf("%d of the second half: %+v", n+1, half)
		}
	}
	var fewer []int
	for i := range 22 {
		if i%4 != 2 {
			fewer = append(fewer, i)
		}
	}
	if c := follow(fewer[:4]).Course(); c.Reordered || c.Gone != 0 || c.Coming != 18 {
		t.Errorf("of fewer queries, soon: %+v", c)
	}
	if c := follow(fewer).Course(); c != (Course{Of: 22, Gone: 5, Queries: true}) {
		t.Errorf("of fewer queries, at the end: %+v", c)
	}
}

// A profile learns in which share of its runs a leg was left out, and in which the order changed.
func TestAProfileLearnsWhatIsLeftOutAndReordered(t *testing.T) {
	run := func(names string) api.Profile {
		p := api.Profile{Schema: api.ProfileSchema, Name: "p", Runs: 1, Cores: 2, Head: 1}
		for i, name := range names {
			p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Name: string(name), Signature: string(name), Tasks: 4,
				Duration: 5, Records: 100, CoreSeconds: 10, NominalRate: 10})
		}
		return p
	}
	p := Merge(run("abcdef"), run("abdef"), Terms{})
	if s := p.Stages[2]; s.LeftOut != 0.5 || p.Stages[0].LeftOut != 0 || p.Reordered != 0 {
		t.Errorf("%+v", p)
	}
	if p = Merge(p, run("fedcba"), Terms{}); math.Abs(float64(p.Reordered)-1/3.) > 1e-9 {
		t.Errorf("reordered %v", p.Reordered)
	}
	for range 30 {
		p = Merge(p, run("fedcba"), Terms{})
	}
	if p.Reordered != 0 || p.Stages[3].LeftOut != 0 {
		t.Errorf("after many runs alike: %+v", p)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

// A run has a query that its profile lacks, and that reads a table as one which comes much later does: it is not that
// one, and says nothing of the order. Without it the later query has what is its own.
func TestAQueryThatIsNotKnownSaysNothingOfTheOrder(t *testing.T) {
	stage := func(id, query int, signature string, exchange int) api.ProfileStage {
		shape := string(rune('a' + query))
		return api.ProfileStage{ID: id, Job: id, Signature: signature, Tasks: 4, Records: 100, CoreSeconds: 10, NominalRate: 10,
			Query: &api.QueryStage{Shape: shape, Exchange: exchange}}
	}
	var p api.Profile
	for q := range 8 {
		scan := "scan " + string(rune('a'+q))
		if q == 6 {
			scan = "scan of regions"
		}
		p.Stages = append(p.Stages, stage(2*q, q, scan, 0), stage(2*q+1, q, "sum "+string(rune('a'+q)), -1))
	}
	run := []api.ProfileStage{p.Stages[0], p.Stages[1], stage(0, 20, "scan of regions", 0), stage(0, 20, "another", -1)}
	run = append(run, p.Stages[2:]...)
	m := NewMatcher(p)
	for at, s := range run {
		found, is := m.Match(api.StageReady{StageKey: api.StageKey{Stage: at}, Job: at, Signature: s.Signature, Tasks: 4, Records: 100,
			Query: s.Query})
		if want := s.Query.Shape != string(rune('a'+20)); is != want || is && found.Annotation.ID != s.ID {
			t.Errorf("stage %d (%s): %d, %v, want %d, %v", at, s.Signature, found.Annotation.ID, is, s.ID, want)
		}
		if c := m.Course(); c.Reordered || c.Gone != 0 {
			t.Errorf("at stage %d: %+v", at, c)
		}
	}
}

// A stage is taken for another one until that turns up: what it has said of the order is taken back.
func TestWhatTurnsOutToBeAnotherHasNotChangedTheOrder(t *testing.T) {
	var p api.Profile
	for i := range 10 {
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Signature: string(rune('a' + i)), Tasks: 4, Records: 100, CoreSeconds: 10,
			NominalRate: 10})
	}
	m := NewMatcher(p)
	m.aligner.take(&api.ProfileStage{ID: 0, Signature: "i", Tasks: 4, Records: 100}, match{place: 8, sure: 0.8, by: BySignature, loss: 5})
	m.comeTo(8)
	for at := range 9 {
		s := p.Stages[at]
		m.Match(api.StageReady{StageKey: api.StageKey{Stage: at + 1}, Job: at + 1, Signature: s.Signature, Tasks: 4, Records: 100})
	}
	if c := m.Course(); c != (Course{Of: 10, Coming: 1}) {
		t.Errorf("%+v", c)
	}
}
