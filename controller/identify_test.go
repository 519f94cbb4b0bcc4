package controller

import (
	"math"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/units"
)

// respond records a plant's response to steps between low and high cores.
func respond(pl *plant, low, high units.Cores, steps, each int) []Response {
	pl.start()
	pl.effective = float64(low)
	points := []Response{{}}
	for s := range steps {
		c := low
		if s%2 == 1 {
			c = high
		}
		for range each {
			pl.advance(c, q.Seconds())
			points = append(points, Response{At: units.Seconds(pl.now), Cores: c, Done: pl.seen()})
		}
	}
	return points
}

// Section 5: p and Kf by a step response, on the plant of Eq 8-10 itself.
func TestIdentifyFindsThePlant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, kf := rapid.Float64Range(0, 0.9).Draw(t, "p"), rapid.Float64Range(0.1, 20).Draw(t, "kf")
		pl := &plant{p: p, gain: 1, rate: kf, slots: 4, weight: 1e6}
		low := units.Cores(rapid.Float64Range(0.2, 1.5).Draw(t, "low"))
		got, err := Identify(respond(pl, low, 2*low, 2, 20), q)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.P-p) > 1e-3 || math.Abs(got.Gain/kf-1) > 1e-3 || got.Fit < 0.999 || got.Points != 40 {
			t.Fatalf("%+v, want p %v, Kf %v", got, p, kf)
		}
	})
}

// With tasks, noise of 15 % in the progress that is seen, and points that come
// unevenly, the gain is found to 5 % and the pole to 0.2.
func TestIdentifyWithNoise(t *testing.T) {
	for seed := range int64(30) {
		random := rand.New(rand.NewSource(seed))
		p, kf := 0.6*random.Float64(), 0.5+2*random.Float64()
		pl := &plant{p: p, gain: 1, rate: kf, slots: 4, tasks: evenTasks(4000), jump: 1}
		points := respond(pl, 1, 3, 6, 16)
		kept := points[:1]
		for i := 1; i < len(points)-1; i++ {
			points[i].Done += 0.15 * (points[i+1].Done - points[i].Done) * (2*random.Float64() - 1)
			if random.Intn(10) > 0 || points[i].Cores != points[i+1].Cores {
				kept = append(kept, points[i])
			}
		}
		got, err := Identify(kept, q)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.P-p) > 0.2 || math.Abs(got.Gain/kf-1) > 0.05 || got.Fit < 0.7 {
			t.Errorf("seed %d: %+v, want p %.3f, Kf %.3f", seed, got, p, kf)
		}
	}
}

func TestIdentifyRefusesWhatSaysNothing(t *testing.T) {
	good := func() []Response {
		return respond(&plant{p: 0.3, gain: 1, rate: 1, slots: 4, weight: 1e6}, 1, 2, 2, 10)
	}
	for name, spoil := range map[string]func([]Response) []Response{
		"no points":    func([]Response) []Response { return nil },
		"few":          func(r []Response) []Response { return r[:5] },
		"no step":      func(r []Response) []Response { return r[:10] },
		"NaN":          func(r []Response) []Response { r[3].Done = math.NaN(); return r },
		"no quota":     func(r []Response) []Response { r[3].Cores = units.Unlimited; return r },
		"negative":     func(r []Response) []Response { r[3].Cores = -1; return r },
		"time travel":  func(r []Response) []Response { r[3].At = 100; return r },
		"standing":     func(r []Response) []Response { return still(r) },
		"no more time": func(r []Response) []Response { return frozen(r) },
	} {
		if got, err := Identify(spoil(good()), q); err == nil || !cmp.Equal(got, Identified{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := Identify(good(), 0); err == nil {
		t.Error("an interval of 0 is taken")
	}
}

func still(r []Response) []Response {
	for i := range r {
		r[i].Done = 0
	}
	return r
}

func frozen(r []Response) []Response {
	for i := range r {
		r[i].At = 1
	}
	return r
}
