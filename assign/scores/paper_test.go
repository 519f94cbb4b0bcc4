package scores

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

func near(t interface{ Errorf(string, ...any) }, what string, want, have float64) {
	if !(math.Abs(want-have) <= 1e-9) {
		t.Errorf("%s: %v, want %v", what, have, want)
	}
}

// Section 5.4.1: what Jain's index is of three cases.
func TestJain(t *testing.T) {
	for _, c := range []struct {
		f    []float64
		want float64
	}{
		{[]float64{.5, .5, .5, 0}, .75},
		{[]float64{1, 1, .25}, 2.25 * 2.25 / (3 * 2.0625)}, // 0.8182
		{[]float64{.5, .5, 1}, 8. / 9},                     // 0.8889
	} {
		var fair, equal []Share
		for i, f := range c.f {
			demand := float64(2 + i)
			has := f * demand
			if f == 1 {
				has *= 3 // More than is asked for counts as all.
			}
			fair = append(fair, Share{demand, has})
			equal = append(equal, Share{4, 4 * f})
		}
		index, ok := Fairness(append(fair, Share{0, 5}))
		near(t, "fairness", c.want, index)
		same, also := Equality(append(equal, Share{0, 5}))
		near(t, "equality", c.want, same)
		if !ok || !also {
			t.Error("there is something to say")
		}
	}
}

// Classes of equal demand count by their sizes, and one in which none has anything not at all.
func TestEqualityOfClasses(t *testing.T) {
	index, _ := Equality([]Share{{4, 4}, {4, 0}, {2, 1}, {2, 1}, {2, 1}, {2, 1}, {8, 0}})
	near(t, "equality", (2*.5+4*1)/6, index)
}

// Sections 5.4.2 and 5.4.3: four runs, of which one met, one was late, one was killed half way, one never started.
func TestDeadlines(t *testing.T) {
	d, ok := Of([]Run{{true, 100, 100}, {false, 50, 60}, {false, 200, 100}, {false, 50, 0}})
	near(t, "SDR", .25, d.SDR)
	near(t, "PTR", .25, d.PTR)
	near(t, "WTR", .4, d.WTR)
	near(t, "WTR printed", .75, d.WTRPrinted)
	if !ok {
		t.Error("there is something to say")
	}
}

func TestNothingToSay(t *testing.T) {
	_, runs := Of([]Run{{true, 0, 0}})
	_, fair := Fairness([]Share{{1, 0}, {0, 1}})
	_, equal := Equality([]Share{{1, 0}})
	if _, none := Of(nil); none || runs || fair || equal {
		t.Error(none, runs, fair, equal)
	}
}

// The indices are from 1/n to 1, neither order nor unit matters, and PTR and WTR as printed are 1 together.
func TestScoresAreRatios(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shares := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Share {
			return Share{float64(rapid.IntRange(1, 4).Draw(t, "demand")), float64(rapid.IntRange(0, 5).Draw(t, "has"))}
		}), 1, 12).Draw(t, "shares")
		runs := make([]Run, len(shares))
		other := make([]Share, len(shares))
		for i, k := range rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "shuffle"), 1)).Perm(len(shares)) {
			other[k] = Share{2 * shares[i].Demand, 2 * shares[i].Has}
			runs[i] = Run{shares[i].Has > 2, 1 + 1, 0}
		}
		for name, index := range map[string]func([]Share) (float64, bool){"fairness": Fairness, "equality": Equality} {
			v, ok := index(shares)
			if ok && !(v >= 1/float64(len(shares))-1e-9 && v <= 1+1e-9) {
				t.Errorf("%s: %v", name, v)
			}
			also, _ := index(other)
			near(t, name+" otherwise", v, also)
		}
		d, _ := Of(runs)
		near(t, "PTR + WTR printed", 1, d.PTR+d.WTRPrinted)
		near(t, "SDR of equal runs", d.PTR, d.SDR)
	})
}
