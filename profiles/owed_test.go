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

// owedOracle is how likely each leg still comes after those that have come: all runs of both readings are written
// down with their likelihoods, and counted that begin as this one has. A run in order leaves each leg out with its
// share; one that was passed may have been moved behind instead, to any place there.
func owedOracle(orders [][]int, leftOut []float64, prior float64, came []int) []float64 {
	n := len(leftOut)
	begins := func(run []int) bool { return len(run) >= len(came) && slices.Equal(run[:len(came)], came) }
	var inOrder, anyhow float64
	later := make([]float64, n) // Where it has begun in order and comes behind.
	for _, run := range orders {
		if begins(run) {
			anyhow++
		}
	}
	anyhow *= prior / float64(len(orders))
	for out := range 1 << n {
		likely, run := 1-prior, []int{}
		for i := range n {
			if out>>i&1 == 1 {
				likely *= leftOut[i]
				continue
			}
			likely *= 1 - leftOut[i]
			run = append(run, i)
		}
		if begins(run) {
			inOrder += likely
			for _, i := range run {
				later[i] += likely
			}
		}
	}
	owed, behind := make([]float64, n), make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		if slices.Contains(came, i) {
			continue
		}
		still := later[i] / inOrder
		if len(came) > 0 && inOrder > 0 && i < slices.Max(came) {
			places, open := float64(n-1-i), 0.0 // Behind each leg that follows it, and of those what is to come.
			for _, share := range behind[i+1:] {
				open += share
			}
			still = prior * open / places / (prior*open/places + leftOut[i])
		}
		if inOrder == 0 {
			still = 0
		}
		behind[i] = still
		owed[i] = (anyhow + inOrder*still) / (anyhow + inOrder)
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
			shares = append(shares, min(max(share, leastLeftOut), mostShare))
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
			got, want := o.owed(x.legs), owedOracle(orders, shares, o.prior, all[:came])
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
	if x.legs[0] != (leg{leastLeftOut, true}) || x.legs[2].query || x.legs[3].leftOut != 0.4 {
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
