package profiles

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

// chain is a profile of jobs of 8 core-seconds and a second on eight cores, without gaps.
func chain(names string) api.Profile {
	p := api.Profile{Schema: api.ProfileSchema, Name: "p", Runs: 1, Cores: 8, Head: 1}
	for i, name := range names {
		p.Stages = append(p.Stages, api.ProfileStage{ID: i, Job: i, Name: string(name), Signature: string(name), Tasks: 8,
			Duration: 1, Records: 100, CoreSeconds: 8, NominalRate: 12.5, Parents: []int{}})
	}
	return p
}

func TestWhatARunHadBesides(t *testing.T) {
	old := chain("abcdefgh")
	for _, c := range []struct {
		name string
		run  string
		want [api.ReservePlaces]units.Seconds
	}{
		{"nothing", "abcdefgh", [api.ReservePlaces]units.Seconds{}},
		{"less", "abdfgh", [api.ReservePlaces]units.Seconds{}},
		{"in another order", "hgfedcba", [api.ReservePlaces]units.Seconds{}},
		{"a stage at the end", "abcdefghx", [api.ReservePlaces]units.Seconds{1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"two before the fifth", "abcdxyefgh", [api.ReservePlaces]units.Seconds{2, 2, 2, 2, 2}},
		{"one at the start", "xabcdefgh", [api.ReservePlaces]units.Seconds{1}},
	} {
		run := chain(c.run)
		got := residual(old, run, Terms{}).Unforeseen
		for at := range got {
			if math.Abs(float64(got[at]-c.want[at])) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
	grown := chain("abcdefgh")
	for i := range grown.Stages {
		grown.Stages[i].CoreSeconds *= 1.5
	}
	if got := residual(old, grown, Terms{}).Unforeseen; got[0] != 4 || got[4] != 2 {
		t.Errorf("half as much more: %v", got)
	}
	if got := residual(old, chain("abcdefgh"), Terms{Tried: map[int]units.Work{7: 16}, End: 0.5}); got.Unforeseen[6] != 2 || got.End != 0.5 {
		t.Errorf("a further attempt: %v", got)
	}
}

// A job that never differs keeps 5 % before its first run, half of that after one, and next to nothing after twenty; a
// job that differed keeps what it differed by.
func TestAReserveFollowsTheRuns(t *testing.T) {
	p := chain("abcdefghij")
	for runs, most := range map[int]units.Seconds{0: 0.5, 1: 0.25, 4: 0.1, 20: 0.5 / 21} {
		q := p
		q.Residuals = make([]api.Residual, runs)
		got := Reserve(q, api.UsualCertainty, PriorReserve)
		if math.Abs(float64(got[0]-most)) > 1e-9 || got[8] != 0 || got[4] > got[0] {
			t.Errorf("after %d runs: %v, want %v at first", runs, got, most)
		}
	}
	p.Residuals = make([]api.Residual, api.MostResiduals)
	p.Residuals[3].Unforeseen[0] = 7
	if got := Reserve(p, api.UsualCertainty, PriorReserve)[0]; got != 7 {
		t.Errorf("one in twenty differed: %v", got)
	}
	if got := Reserve(p, 0.6, PriorReserve)[0]; got > 0.1 {
		t.Errorf("with less certainty: %v", got)
	}
}

// Where draws are exchangeable a run has more besides than is kept in no more of them than asked for.
func TestAReserveIsAsSureAsItIsAskedToBe(t *testing.T) {
	const draws = 4000
	for _, c := range []struct {
		runs      int
		certainty units.Fraction
	}{{3, 0.95}, {8, 0.95}, {20, 0.95}, {20, 0.9}, {20, 0.8}} {
		r := rand.New(rand.NewPCG(1, uint64(c.runs)))
		beyond := 0
		for range draws {
			p := chain("abcd")
			for range c.runs {
				p.Residuals = append(p.Residuals, api.Residual{Unforeseen: [api.ReservePlaces]units.Seconds{units.Seconds(r.ExpFloat64())}})
			}
			if units.Seconds(r.ExpFloat64()) > Reserve(p, c.certainty, 0)[0] {
				beyond++
			}
		}
		allowed := 1 - float64(c.certainty) + 1/float64(c.runs+1)
		if share := float64(beyond) / draws; share > allowed+3*math.Sqrt(allowed/draws) {
			t.Errorf("%d runs, certainty %v: %v had more, want %v", c.runs, float64(c.certainty), share, allowed)
		}
	}
}

// The margin is that of the runs that had an aim, and never nothing.
func TestAMargin(t *testing.T) {
	p := chain("a")
	if got := Margin(p, 0.6); got != 0.6 {
		t.Errorf("before any run: %v", got)
	}
	p.Residuals = []api.Residual{{End: -0.4}, {}, {End: 0.2}}
	if got := Margin(p, 0.6); math.Abs(float64(got-0.2)) > 1e-9 {
		t.Errorf("after two runs: %v", got)
	}
	p.Residuals = make([]api.Residual, 20)
	for i := range p.Residuals {
		p.Residuals[i].End = -0.3
	}
	if got := Margin(p, 0.6); got != leastMargin {
		t.Errorf("of a job that ends before its aim: %v", got)
	}
}

// quantile is the least value that has the share at or below it, found by looking at all.
func TestAQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values []weighted
		all := 0.0
		for range rapid.IntRange(1, 12).Draw(t, "values") {
			v := weighted{units.Seconds(rapid.IntRange(0, 6).Draw(t, "value")), float64(rapid.IntRange(1, 9).Draw(t, "weight"))}
			values, all = append(values, v), all+v.weight
		}
		share := units.Fraction(rapid.IntRange(1, 99).Draw(t, "share")) / 100
		best := units.Seconds(math.Inf(1))
		for _, v := range values {
			below := 0.0
			for _, w := range values {
				if w.value <= v.value {
					below += w.weight
				}
			}
			if below >= float64(share)*all-1e-9 {
				best = min(best, v.value)
			}
		}
		if got := quantile(values, share); got != best {
			t.Fatalf("%v, want %v", got, best)
		}
	})
}
