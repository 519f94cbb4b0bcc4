package supervisor

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/units"
)

// genShared is genApps with applications among them that share.
func genShared(t *rapid.T) []App {
	apps := genApps(t)
	for i := range apps {
		if apps[i].Shares = rapid.Bool().Draw(t, "shares"); apps[i].Shares {
			apps[i].Weight = rapid.SampledFrom([]float64{0, 0.25, 1, 4, -1, math.NaN(), math.Inf(1)}).Draw(t, "weight")
		}
	}
	return apps
}

// those are the applications that share, or the others.
func those(apps []App, share bool) (out []App) {
	for _, a := range apps {
		if a.Shares == share {
			out = append(out, a)
		}
	}
	return out
}

func sums(cfg Config, apps []App) (floor, want float64) {
	for _, a := range apps {
		for _, s := range a.Stages {
			f, w, _ := stageBounds(cfg, s)
			floor, want = floor+f, want+w
		}
	}
	return floor, want
}

// Those with a deadline that can be kept get what they would get alone on what is not kept
// for the others: the floors, and a share of the node as far as it can be used.
func TestThoseWhoShareTakeNothingButWhatIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps := genConfig(t), genShared(t)
		cfg.Gamma = 0
		cfg.FloorShare = units.Fraction(rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(t, "floor share"))
		capacity := rapid.Float64Range(0, 40).Draw(t, "capacity")
		first, rest := those(apps, false), those(apps, true)
		floors, wants := sums(cfg, first)
		restFloors, restWants := sums(cfg, rest)
		if floors+restFloors >= capacity && wants+restWants > capacity {
			t.Skip("the floors do not fit: covered by the invariants")
		}
		kept := math.Max(restFloors, math.Min(restWants, float64(cfg.FloorShare)*capacity))
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		want := s.Divide(units.Cores(math.Max(capacity-kept, floors)), first, nil)
		got := s.Divide(units.Cores(capacity), apps, nil)
		at, n := 0, 0
		for _, a := range apps {
			for range a.Stages {
				if !a.Shares {
					if math.Abs(float64(got[at]-want[n])) > tiny*(1+math.Abs(float64(want[n]))) {
						t.Fatalf("%s gets %v, alone %v", a.ID, got[at], want[n])
					}
					n++
				}
				at++
			}
		}
	})
}

// The oracle: a level is raised, of which each has its weight above its floor, until what
// the others leave is used up.
func TestWhatIsLeftIsSharedByWeight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps := genConfig(t), genShared(t)
		capacity := rapid.Float64Range(0, 40).Draw(t, "capacity")
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		grants := s.Divide(units.Cores(capacity), apps, nil)
		type share struct{ floor, want, weight, got float64 }
		var shares []share
		left, at, floors, wants := capacity, 0, 0.0, 0.0
		for _, a := range apps {
			f, w := sums(cfg, []App{a})
			floors, wants = floors+f, wants+w
			got := 0.0
			for range a.Stages {
				got += float64(grants[at])
				at++
			}
			switch {
			case !a.Shares:
				left -= got
			case a.Weight > 0 && !math.IsInf(a.Weight, 0):
				shares = append(shares, share{f, w, a.Weight, got})
			default:
				shares = append(shares, share{f, w, 1, got})
			}
		}
		if floors >= capacity && wants > capacity {
			t.Skip("the floors do not fit: covered by the invariants")
		}
		// What gamma gives away comes after them.
		if cfg.Gamma > 0 && (cfg.Strategy != EDFAll && cfg.Eq21 != Eq21Printed) {
			for _, x := range shares {
				left = math.Max(left, 0)
				if x.got < x.want-tiny && wants <= capacity {
					t.Fatalf("%+v is short although all requests fit", x)
				}
			}
			return
		}
		low, high := 0.0, 1e3
		for range 100 {
			level, sum := (low+high)/2, 0.0
			for _, x := range shares {
				sum += math.Min(x.want, x.floor+x.weight*level)
			}
			if sum > left {
				high = level
			} else {
				low = level
			}
		}
		for _, x := range shares {
			if want := math.Min(x.want, x.floor+x.weight*low); math.Abs(x.got-want) > 1e-6 {
				t.Fatalf("%+v, want %v of %v left: %v", x, want, left, shares)
			}
		}
	})
}

// What holds without applications that share holds with them: the sum, the floors, nobody
// above what it can use, more capacity takes from nobody, whatever the order.
func TestSharingKeepsTheInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps, capacity := genConfig(t), genShared(t), genCapacity(t)
		cfg.FloorShare = units.Fraction(rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(t, "floor share"))
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		grants := s.Divide(capacity, apps, nil)
		floors, _ := sums(cfg, apps)
		sum, at := 0.0, 0
		for _, a := range apps {
			for _, stage := range a.Stages {
				floor, _, use := stageBounds(cfg, stage)
				g := float64(grants[at])
				if !(g >= 0 && g <= use+tiny) || floors <= float64(capacity) && g < floor-tiny {
					t.Fatalf("%s gets %v, want %v to %v", a.ID, g, floor, use)
				}
				sum += g
				at++
			}
		}
		if sum > float64(capacity)+tiny*(1+sum) {
			t.Fatalf("grants sum up to %v of %v", sum, capacity)
		}
		if cfg.Gamma > 0 || cfg.Strategy == EDFAll || math.IsInf(float64(capacity), 1) {
			return
		}
		more := s.Divide(capacity+units.Cores(rapid.Float64Range(0, 5).Draw(t, "more")), apps, nil)
		for i := range grants {
			if more[i] < grants[i]-1e-9 {
				t.Fatalf("grant %d falls from %v to %v with more capacity", i, grants[i], more[i])
			}
		}
	})
}

// Who shares costs no garbage.
func TestSharingDoesNotAllocate(t *testing.T) {
	s, apps := supervisor(t, Default()), node256()
	for i := range apps {
		apps[i].Shares, apps[i].Weight = i%3 == 0, float64(1+i%2)
	}
	grants := s.Divide(64, apps, nil)
	if n := testing.AllocsPerRun(100, func() { grants = s.Divide(64, apps, grants[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Gamma gives away what is left when those who share have what they ask for.
func TestGammaComesAfterThoseWhoShare(t *testing.T) {
	for _, c := range []struct {
		capacity units.Cores
		want     []float64
	}{{16, []float64{10, 4}}, {8, []float64{4, 4}}, {6, []float64{4, 2}}} {
		s := supervisor(t, Config{Strategy: EDFPure, Gamma: 1})
		rest := App{ID: "rest", Shares: true, Stages: []Stage{{Request: 4, Runnable: 4}}}
		first := app("first", 4, 10)
		first.Stages[0].Runnable = 10
		compare(t, fmt.Sprint(c.capacity), s.Divide(c.capacity, []App{first, rest}, nil), c.want, 1e-9)
	}
}

// An application gets no more than its cap, in whatever band it is, and who is capped leaves
// the rest to the others.
func TestACapBoundsWhatAnApplicationGets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps, capacity := genConfig(t), genShared(t), genCapacity(t)
		for i := range apps {
			apps[i].Cap = units.Cores(rapid.SampledFrom([]float64{0, 0.05, 1, 2.5, math.NaN(), -1}).Draw(t, "cap"))
		}
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		grants := s.Divide(capacity, apps, nil)
		at, sum := 0, 0.0
		for _, a := range apps {
			got := 0.0
			for _, stage := range a.Stages {
				_, _, use := stageBounds(cfg, stage)
				if g := float64(grants[at]); !(g >= 0 && g <= use+tiny) {
					t.Fatalf("%s gets %v of %v", a.ID, g, use)
				}
				got += float64(grants[at])
				at++
			}
			if a.Cap > 0 && got > float64(a.Cap)+tiny {
				t.Fatalf("%s gets %v, its cap is %v", a.ID, got, a.Cap)
			}
			sum += got
		}
		if sum > float64(capacity)+tiny*(1+sum) {
			t.Fatalf("grants sum up to %v of %v", sum, capacity)
		}
	})
}
