package handover

import (
	"math"
	"testing"

	_ "github.com/sparkpacer/pacer/test/draws"
	"github.com/sparkpacer/pacer/units"
	"pgregory.net/rapid"
)

func sumOf(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func shared(parts []part, shares []float64) []part {
	out := make([]part, len(parts))
	for i, p := range parts {
		p.weight = shares[i]
		out[i] = p
	}
	return out
}

// What a slow executor cannot do in time goes to those that can.
func TestHandOverWorkedCases(t *testing.T) {
	for name, c := range map[string]struct {
		parts []part
		left  units.Seconds
		want  []float64
	}{
		"all in time":                          {[]part{{20, 10, 1, 1}, {20, 10, 1, 1}}, 12, nil},
		"one has lost half its capacity":       {[]part{{20, 10, 1, 0.5}, {20, 10, 1, 2}}, 10, []float64{15, 25}},
		"the free one can take a part only":    {[]part{{30, 10, 1, 0.5}, {20, 10, 1, 1.5}}, 10, []float64{17.5, 32.5}},
		"none is free: they end together":      {[]part{{40, 10, 1, 1}, {20, 10, 1, 1}}, 10, []float64{30, 30}},
		"the deadline has passed":              {[]part{{16, 10, 1, 1}, {12, 10, 1, 1}}, -5, []float64{14, 14}},
		"one stands still":                     {[]part{{20, 10, 2, 0}, {20, 10, 1, 2}}, 10, []float64{12, 28}},
		"all stand still":                      {[]part{{20, 10, 2, 0}, {20, 10, 1, 0}}, 10, nil},
		"late by less than the controllers do": {[]part{{20, 10, 1, 0.97}, {20, 10, 1, 2}}, 10, nil},
		"less than a task to move":             {[]part{{20, 17, 1, 0.25}, {20, 17, 1, 2}}, 10, nil},
		"all that is left is running":          {[]part{{20, 18, 2, 0.1}, {20, 17, 1, 2}}, 10, nil},
		"nothing is left on one":               {[]part{{20, 20, 0, 0}, {20, 5, 1, 1}, {20, 10, 1, 2}}, 10, []float64{20, 15, 25}},
	} {
		got := divide(c.parts, c.left)
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%s: %v, want %v", name, got, c.want)
				break
			}
		}
	}
}

// Whatever the speeds: the sum is kept, nobody gets less than what is done or
// running there, no small move is made, the stage ends no later than before, and
// with the same speeds nothing moves a second time.
func TestHandOverProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []part
		before := 0.0
		for range rapid.IntRange(1, 6).Draw(t, "executors") {
			p := part{weight: rapid.Float64Range(0.1, 500).Draw(t, "weight"), speed: rapid.Float64Range(0, 20).Draw(t, "speed")}
			p.done = p.weight * rapid.Float64Range(0, 1).Draw(t, "done")
			p.running = rapid.Float64Range(0, 8).Draw(t, "running")
			parts = append(parts, p)
			before += p.weight
		}
		left := units.Seconds(rapid.Float64Range(-20, 300).Draw(t, "left"))
		shares := divide(parts, left)
		if shares == nil {
			return
		}
		if sum := sumOf(shares); math.Abs(sum-before) > 1e-6*before {
			t.Fatalf("shares %v sum up to %v, want %v", shares, sum, before)
		}
		moves := 0.0
		for i, p := range parts {
			if fixed := min(p.weight, p.done+p.running); shares[i] < fixed-1e-9 {
				t.Fatalf("part %d gets %v, %v of it is done or running", i, shares[i], fixed)
			}
			moves += math.Abs(shares[i]-p.weight) / 2
		}
		if moves < max(params.LeastMove, params.LeastMoveShare*before)-1e-6 {
			t.Fatalf("a move of %v", moves)
		}
		after := shared(parts, shares)
		if was, is := worst(parts, left), worst(after, left); float64(is) > float64(was)+1e-6 {
			t.Fatalf("it ends %v late, was %v", is, was)
		}
		if again := divide(after, left); again != nil {
			t.Fatalf("%v moved again to %v", shares, again)
		}
	})
}

// A stage of which one task is left, and late, has nothing to move: its driver is told that once.
func TestALastTaskThatIsLateIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		parts      []part
		left       units.Seconds
		unfinished int
		want       bool
	}{
		"one task is left and stands still": {[]part{{20, 19, 1, 0}, {20, 20, 0, 1}}, 10, 1, true},
		"it is as fast as all, and in time": {[]part{{20, 19, 1, 1}, {20, 20, 0, 1}}, 10, 1, false},
		"it is slow, and there is time":     {[]part{{20, 19, 1, 0.2}, {20, 20, 0, 1}}, 10, 1, false},
		"its deadline has passed":           {[]part{{20, 19, 1, 0.9}, {20, 20, 0, 1}}, -1, 1, true},
		"another one has just ended":        {[]part{{20, 19, 1, 0}, {20, 20, 1, 1}}, 10, 1, true},
		"a heavy one":                       {[]part{{20, 11, 1, 0}, {20, 20, 0, 1}}, 10, 1, true},
		"it is the only executor's":         {[]part{{20, 19, 1, 0}}, 10, 1, true},
		"another one runs":                  {[]part{{20, 19, 1, 0}, {20, 19.5, 1, 1}}, 10, 2, false},
		"a copy of it runs":                 {[]part{{20, 19, 1, 0}, {21, 20.5, 1, 1}}, 10, 1, false},
		"two run there":                     {[]part{{20, 18, 2, 0}, {20, 20, 0, 1}}, 10, 2, false},
		"another one waits":                 {[]part{{20, 18, 1, 0}, {20, 20, 0, 1}}, 10, 2, false},
		"another one is said to be there":   {[]part{{20, 19, 1, 0}, {20, 20, 1, 1}}, 10, 2, true},
		"it is late by little":              {[]part{{20, 19, 1, 1}, {20, 20, 0, 1}}, 0.5, 1, false},
		"all has ended":                     {[]part{{20, 20, 0, 0}, {20, 20, 0, 1}}, -1, 0, false},
	} {
		if got := lone(c.parts, c.left, c.unfinished); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	older := []part{{3, 1, 1, 0.1}, {3, 2, 0, 1}} // The last but one has run elsewhere than its share says.
	if got := word(older, 10, 1, false); len(got) != 2 || got[0] != 3 || got[1] != 3 {
		t.Errorf("by older shares: %v", got)
	}
	if got := word(older, 10, 1, true); got != nil {
		t.Errorf("others have its cores: %v", got)
	}
	if got := word(older, 10, 2, false); len(got) != 2 || got[0] == 3 {
		t.Errorf("another task waits: %v", got)
	}
	if got := asTheyAre([]part{{20, 19, 1, 0}, {5, 5, 0, 1}}); len(got) != 2 || got[0] != 20 || got[1] != 5 {
		t.Errorf("the shares as they are: %v", got)
	}
}
