package controller

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/sparkpacer/pacer/units"
)

// zipf is n tasks whose weights fall as rank^-s, with mean 1, in an order that
// random draws.
func zipf(random *rand.Rand, n int, s float64) []float64 {
	w, sum := make([]float64, n), 0.0
	for i := range w {
		w[i] = math.Pow(float64(i+1), -s)
		sum += w[i]
	}
	for i := range w {
		w[i] *= float64(n) / sum
	}
	random.Shuffle(n, func(i, j int) { w[i], w[j] = w[j], w[i] })
	return w
}

// skewed is a stage of 60 s that four cores could do in 50 (the paper's +20 %),
// or that its longest task alone would take so long.
func skewed(seed int64, s float64) (pl *plant, length float64) {
	random := rand.New(rand.NewSource(seed))
	tasks := zipf(random, 100, s)
	rate := 0.4 + 0.2*random.Float64()
	full := &plant{p: 0.3, gain: 1, slots: 4, jump: 1, tasks: tasks, rate: rate}
	full.start()
	for !full.over() {
		full.advance(4, 0.5)
	}
	pl = &plant{p: 0.3, gain: 0.7 + 0.6*random.Float64(), slots: 4, jump: 1, tasks: tasks, longest: slices.Max(tasks)}
	pl.rate = rate / pl.gain
	return pl, 1.2 * full.now
}

// The paper's skew (section 6: 5.44 / -4.31 / -4.50 %) and milder ones, over many
// orders of the tasks and true rates from 0.7 to 1.3 of the nominal one: a stage
// with 20 % more time than at all cores ends on time, because the longest chain on a
// slot is watched. Without that a stage of the same kind is up to 20 % late, as it is by
// the PI.
func TestSkewedStagesEndOnTime(t *testing.T) {
	for _, s := range []float64{0, 0.5, 1, 2, 3} {
		for seed := range int64(40) {
			pl, length := skewed(seed, s)
			o := pace(Default(), pl, length, 4, units.Cores(100/pl.rate/length).CeilTo(0.05))
			if o.errorPct < -0.25 || o.errorPct > 1.5 {
				t.Errorf("s = %v, seed %d: error %+.2f %%", s, seed, o.errorPct)
			}
			if score := o.movement.Score(); score > 6 {
				t.Errorf("s = %v, seed %d: movement %.2f", s, seed, score)
			}
		}
	}
	worst := func(cfg Config, blind bool) (late float64) {
		for seed := range int64(40) {
			pl, length := skewed(seed, 1)
			pl.blind = blind
			late = min(late, pace(cfg, pl, length, 4, units.Cores(100/pl.rate/length).CeilTo(0.05)).errorPct)
		}
		return late
	}
	if blind, pi := worst(Default(), true), worst(paper(0.3), false); blind > -5 || pi > -5 {
		t.Errorf("blind to the chains at worst %.1f %%, the PI %.1f %%: the test is too easy", blind, pi)
	}
}

// Tasks that wait for their input, and pauses of all of them: what is asked for
// is more than what is needed by what cannot be used, and the stage ends on time.
func TestWaitingTasksAndPausesEndOnTime(t *testing.T) {
	for _, s := range scenes([]string{"fetch", "pauses"}, 24, 40, 120) {
		if s.kind == "fetch" && s.cores > 1 {
			continue // The slots cannot do more: half a core-second in 0.8 s.
		}
		if o := s.run(LawPacer); o.errorPct < -0.25 || o.errorPct > 1.5 {
			t.Errorf("%v: error %+.2f %%", s, o.errorPct)
		}
	}
}

// Eq 20: after a loss of cores a stage is back on its ramp, but for
// what is allowed, within 5 tau_r of having them again.
func TestBackOnTrackWithin5TauRAfterALossOfCores(t *testing.T) {
	cfg := Default()
	tauR := math.Sqrt(cfg.Eta) * cfg.Interval.Seconds() / (1 - cfg.P)
	for _, length := range []float64{60, 120, 600} {
		for seed := range int64(20) {
			random := rand.New(rand.NewSource(seed))
			gain := 0.8 + 0.4*random.Float64()
			s := scene{"work", length, 1.2, gain}
			pl := s.plant()
			pl.noise = random
			pl.slots = 4
			from := length * (0.2 + 0.2*random.Float64())
			span := 5 + 3*random.Float64()
			pl.lost = func(now float64) float64 {
				if now >= from && now < from+span {
					return 3.5 // half a core of four is left
				}
				return 0
			}
			o := pace(cfg, pl, length, 4, units.Cores(1.2/gain).CeilTo(0.05))
			back := int(math.Ceil((from + span + 5*tauR) / cfg.Interval.Seconds()))
			most := max(params.Law.Allowed, 1/pl.weight)*100 + 0.5
			for k := back; k < len(o.lag)-int(4/cfg.Interval.Seconds()); k++ {
				if o.lag[k] > most {
					t.Errorf("%v s, seed %d: %.2f %% behind %.1f s after the loss, want at most %.2f", length, seed, o.lag[k], float64(k+1)/2-from-span, most)
					break
				}
			}
			if math.Abs(o.errorPct) > 1 {
				t.Errorf("%v s, seed %d: error %+.2f %%", length, seed, o.errorPct)
			}
		}
	}
}

// Many stages of all kinds by chance, by assertion: error, overshoot, movement,
// settling. Settled is a stage that stays within 3 % of its ramp, or ahead of it.
func TestPacerOverSeeds(t *testing.T) {
	var score, pi float64
	const seeds = 150
	for seed := range int64(seeds) {
		random := rand.New(rand.NewSource(seed))
		s := scene{kinds[random.Intn(len(kinds))], 30 + 200*random.Float64(), 0.4 + 1.2*random.Float64(), 0.7 + 0.6*random.Float64()}
		if random.Intn(2) == 0 && s.kind != "warm" {
			s.cores += 1.6 // Of four slots; below two cores there are two.
		}
		o := s.run(LawPacer)
		if math.Abs(o.errorPct) > 1 {
			t.Errorf("seed %d, %v: error %+.2f %%", seed, s, o.errorPct)
		}
		if o.overshoot > 14 {
			t.Errorf("seed %d, %v: %.1f %% ahead of the ramp", seed, s, o.overshoot)
		}
		settled := 0.0
		for k, lag := range o.lag[:max(0, len(o.lag)-4)] {
			if lag > 3+100*4/(s.length*s.cores/0.5) {
				settled = float64(k+1) / 2
			}
		}
		if most := 0.3*s.length + 12; settled > most && s.kind != "warm" {
			t.Errorf("seed %d, %v: settled after %.1f s, want at most %.1f", seed, s, settled, most)
		}
		score += o.movement.Score() / seeds
		pi += s.run(LawPI).movement.Score() / seeds
	}
	t.Logf("mean movement %.2f, the PI's %.2f", score, pi)
	if score > 1 || score > pi/2 {
		t.Errorf("mean movement %.2f, the PI's %.2f", score, pi)
	}
}

// In the last moments the request falls to what is needed where tasks are alike, and
// stands where one task may decide.
func TestTheLastMomentsAreSteeredWhereTasksAreAlike(t *testing.T) {
	last := func(alike bool) (before, after units.Cores) {
		c, err := New(Default(), Target{Deadline: units.Instant(20e9), Weight: 40, Rate: 1, Init: 2}, 2)
		if err != nil {
			t.Fatal(err)
		}
		chains := []float64{0.9, 0.9, 0.8, 0.8}
		for at := 0.5; at <= 18.5; at += 0.5 {
			out, err := c.Step(Input{At: units.Instant(at * 1e9), Dt: 5e8, Done: 2 * at, Runnable: 4, Max: 4, Used: 2, Chains: chains, Alike: alike})
			if err != nil {
				t.Fatal(err)
			}
			before = out.Request
		}
		out, err := c.Step(Input{At: units.Instant(19e9), Dt: 5e8, Done: 39, Runnable: 4, Max: 4, Used: 2, Chains: []float64{0.25, 0.25, 0.25, 0.25}, Alike: alike})
		if err != nil {
			t.Fatal(err)
		}
		return before, out.Request
	}
	if before, after := last(true); after > 0.8*before {
		t.Errorf("tasks alike: %v after %v, want less", after, before)
	}
	if before, after := last(false); after < before {
		t.Errorf("not alike: %v after %v, want no less", after, before)
	}
}
