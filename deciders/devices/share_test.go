package devices

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	_ "github.com/sparkpacer/pacer/test/draws"
)

func TestMovesAreNeitherWhatIsCachedNorWhatIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		habit   api.StageHabit
		written int64
		folds   int
		want    Rates
		known   bool
	}{
		{api.StageHabit{}, 0, 1, Rates{}, false},
		{api.StageHabit{BytesRemote: new(int64(30))}, 5, 1, Rates{75, 30}, true},
		{api.StageHabit{BytesRemote: new(int64(0)), BytesCached: 100}, 0, 1, Rates{}, true},
		{api.StageHabit{BytesRemote: new(int64(80)), BytesCached: 40}, 0, 1, Rates{0, 80}, true},
		{api.StageHabit{BytesRemote: new(int64(10)), BytesCached: 5}, 0, 4, Rates{40, 40}, true},
	} {
		p := api.Profile{Stages: []api.ProfileStage{{ID: 3, Bytes: 100, BytesWritten: c.written}}, Folds: map[int]int{3: c.folds},
			Habit: api.ProfileHabit{Stages: map[int]api.StageHabit{3: c.habit}}}
		if got, known := Moves(&p, &p.Stages[0]); got != c.want || known != c.known {
			t.Errorf("%+v moves %v, known %v, want %v", c.habit, got, known, c.want)
		}
	}
}

// The rate that a device leaves, worked by hand: a stage that wants less than an equal part has that.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		wants []float64
		want  float64
	}{{nil, 100}, {[]float64{30}, 70}, {[]float64{100}, 50}, {[]float64{20, 100}, 40}, {[]float64{300, 300, 300}, 25}} {
		if got := Left(100, c.wants); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("beside %v: %g, want %g", c.wants, got, c.want)
		}
	}
}

// 100 bytes over 10 a second take 10 s alone. Beside another that wants all until 4 they have half until that has what
// it wants, which is twice as long.
func TestDrain(t *testing.T) {
	beside := []Span{{From: 0, To: 4, Rate: Rates{0, 10}}}
	for from, want := range map[float64]float64{0: 14, 2: 12, 4: 10, 9: 10} {
		if got := Drain(100, from, 10, Network, beside); math.Abs(got-want) > 1e-9 {
			t.Errorf("from %g: %g s, want %g", from, got, want)
		}
	}
	if got := Drain(100, 0, 10, Disk, beside); got != 10 {
		t.Errorf("another device: %g s", got)
	}
	if got := Drain(100, 0, 0, Disk, nil); got != 0 {
		t.Errorf("a device that is not known: %g s", got)
	}
}

// All get what they want or the same level, and nothing is left over: an oracle by bisection of the level.
func TestLeftIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.1, 100).Draw(t, "rate")
		wants := rapid.SliceOfN(rapid.Float64Range(0, 60), 0, 6).Draw(t, "wants")
		got := Left(rate, wants)
		given := got
		for _, w := range wants {
			given += min(w, got)
		}
		if math.Abs(given-rate) > 1e-6 {
			t.Fatalf("at the level %g %g of %g is given", got, given, rate)
		}
		more := slices.Clone(wants)
		if len(more) > 0 {
			more[0] += rapid.Float64Range(0, 50).Draw(t, "more")
		}
		if after := Left(rate, more); after > got+1e-9 {
			t.Fatalf("%g is left where another wants more, %g before", after, got)
		}
	})
}
