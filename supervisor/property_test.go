package supervisor

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/units"
)

const tiny = 1e-9

func genApps(t *rapid.T) []App {
	var apps []App
	for i := range rapid.IntRange(0, 6).Draw(t, "apps") {
		a := App{
			ID:          api.AppID(fmt.Sprintf("app-%d", i)),
			HasDeadline: rapid.Bool().Draw(t, "deadline"),
			TTC:         units.Seconds(rapid.IntRange(-2, 4).Draw(t, "ttc")), // many ties
			Rate:        units.Rate(rapid.SampledFrom([]float64{0, 1, 3, 1e5, math.NaN(), -1}).Draw(t, "rate")),
			Least:       units.Cores(rapid.SampledFrom([]float64{0, 0.5, 2, 6, 20, math.Inf(1), math.NaN(), -1}).Draw(t, "least")),
			Behind:      rapid.Bool().Draw(t, "behind"),
		}
		for range rapid.IntRange(0, 4).Draw(t, "stages") {
			request := rapid.OneOf(rapid.Float64Range(0, 9), rapid.SampledFrom([]float64{0, 1, math.Inf(1), math.NaN(), -1}))
			a.Stages = append(a.Stages, Stage{
				Key:      api.StageKey{Stage: len(a.Stages)},
				Request:  units.Cores(request.Draw(t, "request")),
				Runnable: rapid.IntRange(0, 6).Draw(t, "runnable"),
			})
		}
		apps = append(apps, a)
	}
	return apps
}

func genConfig(t *rapid.T) Config {
	return Config{
		Strategy: rapid.SampledFrom(Strategies()).Draw(t, "strategy"),
		Gamma:    rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "gamma"),
		Eq21:     rapid.SampledFrom(append(Eq21Readings(), "")).Draw(t, "eq21"),
		Floor:    units.Cores(rapid.SampledFrom([]float64{0, 0.1, 1.5}).Draw(t, "floor")),
	}
}

func genCapacity(t *rapid.T) units.Cores {
	return units.Cores(rapid.OneOf(rapid.Float64Range(0, 40), rapid.SampledFrom([]float64{0, 0.15, math.Inf(1)})).Draw(t, "capacity"))
}

// stageBounds is an independent reading of the package documentation.
func stageBounds(cfg Config, s Stage) (floor, want, use float64) {
	use = float64(s.Runnable)
	want = float64(s.Request)
	if math.IsNaN(want) || want < 0 {
		want = 0
	}
	if use > 0 && want < float64(cfg.Floor) {
		want = float64(cfg.Floor)
	}
	if want > use {
		want = use
	}
	floor = math.Min(float64(cfg.Floor), want)
	return floor, want, use
}

// The invariants: the sum stays within capacity, no stage gets more than it can
// use, the floors hold if they fit, requests that fit are granted, nothing is
// left over while a request is cut.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps, capacity := genConfig(t), genApps(t), genCapacity(t)
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		grants := s.Divide(capacity, apps, nil)
		var sum, floors, wants, uses float64
		i := 0
		timed := true
		for _, a := range apps {
			timed = timed && a.HasDeadline
			for _, stage := range a.Stages {
				g := float64(grants[i])
				_, _, use := stageBounds(cfg, stage)
				if !(g >= 0 && g <= use+tiny) {
					t.Fatalf("grant %v outside [0, %v]", g, use)
				}
				floor, want, _ := stageBounds(cfg, stage)
				sum, floors, wants, uses = sum+g, floors+floor, wants+want, uses+use
				i++
			}
		}
		if i != len(grants) {
			t.Fatalf("%d grants for %d stages", len(grants), i)
		}
		if sum > float64(capacity)+tiny {
			t.Fatalf("grants sum up to %v of %v cores", sum, capacity)
		}
		i = 0
		for _, a := range apps {
			for _, stage := range a.Stages {
				g := float64(grants[i])
				floor, want, _ := stageBounds(cfg, stage)
				if floors <= float64(capacity) && g < floor-tiny {
					t.Fatalf("grant %v below the floor %v", g, floor)
				}
				if wants <= float64(capacity) && g < want-tiny && (cfg.Strategy != EDFAll && cfg.Eq21 != Eq21Printed || cfg.Gamma == 0) {
					t.Fatalf("grant %v of a request %v that fits", g, want)
				}
				if cfg.Gamma == 0 && g > want+tiny && (cfg.Strategy != EDFAll || wants <= float64(capacity)) {
					t.Fatalf("grant %v above the request %v with gamma 0", g, want)
				}
				i++
			}
		}
		if wants > float64(capacity) && math.Abs(sum-float64(capacity)) > tiny*(1+sum) {
			t.Fatalf("%v of %v cores granted although %v are asked for", sum, capacity, wants)
		}
		// Who asks for nothing gets no surplus where that goes by requests.
		gives := cfg.Strategy != Proportional && (cfg.Eq21 != Eq21Printed || cfg.Strategy == EDFAll || cfg.Strategy == Speed) && (cfg.Strategy != EDFProp || timed)
		if cfg.Gamma == 1 && gives && math.Abs(sum-math.Min(uses, float64(capacity))) > tiny*(1+sum) && wants <= float64(capacity) {
			t.Fatalf("gamma 1: %v granted of %v usable, %v there", sum, uses, capacity)
		}
	})
}

// Grants do not depend on the order in which applications are listed, nor on
// what the supervisor divided before.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps, capacity := genConfig(t), genApps(t), genCapacity(t)
		s, _ := New(cfg)
		s.Divide(genCapacity(t), genApps(t), nil)
		byApp := func(apps []App) map[api.AppID][]units.Cores {
			got, m := s.Divide(capacity, apps, nil), map[api.AppID][]units.Cores{}
			for _, a := range apps {
				m[a.ID], got = got[:len(a.Stages)], got[len(a.Stages):]
			}
			return m
		}
		want := byApp(apps)
		mixed := slices.Clone(apps)
		rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		for id, got := range byApp(mixed) {
			for i := range got {
				if math.Abs(float64(got[i]-want[id][i])) > tiny {
					t.Fatalf("%s: grants %v, in another order %v", id, want[id], got)
				}
			}
		}
	})
}

// More capacity takes nothing from anybody; a larger request never lowers the
// grant of the stage that makes it (gamma 0). EDFAll keeps neither: at the edge of
// contention it goes from the requests to all for the first. Proportional keeps it while all can be
// in time, or cannot: who is due later asks for less where they can.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps := genConfig(t), genApps(t)
		cfg.Gamma = 0
		if cfg.Strategy == EDFAll {
			t.Skip("see above")
		}
		s, _ := New(cfg)
		capacity := rapid.Float64Range(0, 40).Draw(t, "capacity")
		before := s.Divide(units.Cores(capacity), apps, nil)
		larger := capacity + rapid.Float64Range(0, 5).Draw(t, "more")
		more := s.Divide(units.Cores(larger), apps, nil)
		fits := allInTime(cfg, capacity, apps)
		sameAnswer := func(capacity float64) bool {
			return cfg.Strategy != Proportional || allInTime(cfg, capacity, apps) == fits
		}
		for i := range before {
			if sameAnswer(larger) && more[i] < before[i]-tiny {
				t.Fatalf("grant %d falls from %v to %v with more capacity", i, before[i], more[i])
			}
		}
		at := 0
		for i := range apps {
			for j := range apps[i].Stages {
				old := apps[i].Stages[j].Request
				if !(old >= 0) || old.IsUnlimited() {
					at++
					continue
				}
				apps[i].Stages[j].Request = old + 1
				if got := s.Divide(units.Cores(capacity), apps, nil); sameAnswer(capacity) && got[at] < before[at]-tiny {
					t.Fatalf("grant %d falls from %v to %v with a larger request", at, before[at], got[at])
				}
				apps[i].Stages[j].Request = old
				at++
			}
		}
	})
}

// oracle is one application of TestAgainstOracle. weight is 0 where a strategy
// goes by order.
type oracle struct{ floor, want, use, got, sum, weight float64 }

// limit is the most that a strategy gives o.
func (o oracle) limit(strategy string, contention bool) float64 {
	if strategy == EDFAll && contention {
		return o.use
	}
	return o.want
}

// need is what an application needs above its floors to be in time, 0 where that is not known.
func need(a App, o oracle) float64 {
	least := float64(a.Least)
	if !(least > 0) || math.IsInf(least, 1) {
		return 0
	}
	return math.Max(least-o.floor, leastNeed)
}

// inTime reports whether by each deadline the applications due by then need no more than what is
// left above the floors gives until then, with a tenth to spare.
func inTime(left float64, apps []App, o []oracle) bool {
	for _, by := range apps {
		needs := 0.0
		for i, a := range apps {
			if a.HasDeadline && a.TTC <= by.TTC {
				needs += math.Min(need(a, o[i]), o[i].want-o[i].floor) * math.Max(0, float64(a.TTC))
			}
		}
		if by.HasDeadline && needs*1.1 > left*float64(by.TTC) {
			return false
		}
	}
	return true
}

// allInTime is inTime on a node of that capacity.
func allInTime(cfg Config, capacity float64, apps []App) bool {
	o := make([]oracle, len(apps))
	for i, a := range apps {
		for _, stage := range a.Stages {
			floor, want, _ := stageBounds(cfg, stage)
			o[i].floor, o[i].want = o[i].floor+floor, o[i].want+want
			capacity -= floor
		}
	}
	return inTime(capacity, apps, o)
}

// weigh is Table 1's weights, from its equations as they are printed, but that Proportional counts
// of the request of who is due later what it needs, where all can be in time on what is left above
// the floors, unless Eq 21 is as printed.
func weigh(strategy string, printed bool, left float64, apps []App, o []oracle) {
	var least, spread, rates, known, timed float64 = math.Inf(1), 0, 0, 0, 0
	for _, a := range apps {
		if a.HasDeadline {
			least = math.Min(least, float64(a.TTC))
			timed++
		}
		if a.Rate > 0 {
			rates, known = rates+float64(a.Rate), known+1
		}
	}
	for _, a := range apps {
		if a.HasDeadline {
			spread += float64(a.TTC) - least + 1
		}
	}
	for i, a := range apps {
		switch {
		case strategy == EDFPure || strategy == EDFAll || strategy == Auto:
		case strategy == Proportional || strategy == EDFProp && !a.HasDeadline:
			o[i].weight = o[i].want - o[i].floor
			if n := need(a, o[i]); strategy == Proportional && !printed && a.HasDeadline && float64(a.TTC) > least && n > 0 && inTime(left, apps, o) {
				o[i].weight = math.Min(o[i].weight, n)
			}
		case strategy == EDFProp && timed > 1:
			o[i].weight = 1 - (float64(a.TTC)-least+1)/spread
		case strategy == Speed && a.Rate > 0:
			o[i].weight = rates / known / float64(a.Rate)
		default:
			o[i].weight = 1
		}
	}
}

// The oracle: grants of applications by filling in steps of a thousandth of a
// core: where order decides, to the first one that is not full, where weights do,
// to the one with the least for its weight; under EDFProp those without a deadline
// come when all others are full, under Auto those behind.
func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, apps := genConfig(t), genApps(t)
		cfg.Gamma = 0
		capacity := rapid.Float64Range(0, 12).Draw(t, "capacity")
		s, _ := New(cfg)
		grants := s.Divide(units.Cores(capacity), apps, nil)
		o := make([]oracle, len(apps))
		left, wants, at := capacity, 0.0, 0
		for i, a := range apps {
			for _, stage := range a.Stages {
				floor, want, use := stageBounds(cfg, stage)
				o[i].floor += floor
				o[i].want += want
				o[i].use += use
				o[i].sum += float64(grants[at])
				at++
			}
			o[i].got = o[i].floor
			left -= o[i].floor
			wants += o[i].want
		}
		if left < 0 {
			t.Skip("the floors do not fit: covered by the invariants")
		}
		weigh(cfg.Strategy, cfg.Eq21 == Eq21Printed, left, apps, o)
		order := make([]int, len(apps))
		for i := range order {
			order[i] = i
		}
		key := func(x App) float64 {
			switch {
			case cfg.Strategy == Auto && x.Behind && x.HasDeadline:
				return 1e6 + float64(x.TTC)
			case cfg.Strategy == Auto && x.Behind:
				return math.Inf(1)
			case x.HasDeadline:
				return float64(x.TTC)
			}
			return 1e5
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key(apps[i]), key(apps[j])) }) // stable: ids grow with the index
		const step = 1e-3
		for ; left > step/2; left -= step {
			best := -1
			for _, i := range order {
				if o[i].got+step/2 >= o[i].limit(cfg.Strategy, wants > capacity) {
					continue
				}
				share := func(k int) float64 { return (o[k].got - o[k].floor) / o[k].weight }
				later := cfg.Strategy == EDFProp && best >= 0 && apps[best].HasDeadline && !apps[i].HasDeadline
				if best < 0 || o[i].weight > 0 && !later && share(i) < share(best) {
					best = i
				}
			}
			if best < 0 {
				break
			}
			o[best].got += step
		}
		for i := range o {
			if math.Abs(o[i].got-o[i].sum) > 5*step*float64(1+len(apps)) {
				t.Fatalf("%s of %v: application %d gets %v, the oracle says %v (%+v)", cfg.Strategy, capacity, i, o[i].sum, o[i].got, apps)
			}
		}
	})
}

func TestConfigFaults(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("default: %v", err)
	}
	bad := Config{Strategy: "fifo", Gamma: 2, Eq21: "read", Floor: -1}
	joined, ok := bad.Validate().(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 4 {
		t.Errorf("faults are %v, want all four", bad.Validate())
	}
	if _, err := New(bad); err == nil {
		t.Error("New takes a bad configuration")
	}
}

// node256 is 64 applications of four stage executors each.
func node256() []App {
	var apps []App
	for i := range 64 {
		a := App{ID: api.AppID(fmt.Sprintf("app-%02d", (i*37)%64)), HasDeadline: true, TTC: units.Seconds((i * 53) % 64), Rate: units.Rate(1 + i%9)}
		for j := range 4 {
			a.Stages = append(a.Stages, Stage{Request: units.Cores(0.3 + 0.1*float64((i+j)%7)), Runnable: 1 + (i+j)%4})
		}
		apps = append(apps, a)
	}
	return apps
}

func TestDivideDoesNotAllocate(t *testing.T) {
	for _, strategy := range Strategies() {
		for _, capacity := range []units.Cores{20, 100, 400} {
			s, apps := supervisor(t, Config{Strategy: strategy, Gamma: 0.5, Floor: 0.1}), node256()
			grants := s.Divide(capacity, apps, nil)
			if n := testing.AllocsPerRun(100, func() { grants = s.Divide(capacity, apps, grants[:0]) }); n != 0 {
				t.Errorf("%s, %v cores: %v allocations", strategy, capacity, n)
			}
		}
	}
}

func BenchmarkDivide256(b *testing.B) {
	for _, strategy := range Strategies() {
		b.Run(strategy, func(b *testing.B) {
			s, apps := supervisor(b, Config{Strategy: strategy, Floor: 0.1}), node256()
			grants := s.Divide(64, apps, nil)
			b.ReportAllocs()
			for b.Loop() {
				grants = s.Divide(64, apps, grants[:0])
			}
		})
	}
}
