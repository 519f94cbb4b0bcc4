package controller

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sparkpacer/pacer/units"
)

func genTarget(t *rapid.T) Target {
	start := rapid.Int64Range(0, 1e15).Draw(t, "start")
	weight := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 1e5)).Draw(t, "weight")
	return Target{
		Start:    units.Instant(start),
		Deadline: units.Instant(start + rapid.Int64Range(-1e9, 1e12).Draw(t, "length")),
		Weight:   weight,
		Rate:     rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-4, 1e4)).Draw(t, "rate"),
		Init:     units.Cores(rapid.OneOf(rapid.Float64Range(0, 64), rapid.Just(math.Inf(1))).Draw(t, "init")),
		Done:     weight * rapid.Float64Range(0, 1).Draw(t, "done"),
	}
}

func genConfig(t *rapid.T) Config {
	cfg := Default()
	cfg.Law = rapid.SampledFrom(Laws()).Draw(t, "law")
	cfg.Phi = rapid.Float64Range(0.1, 1).Draw(t, "phi")
	cfg.P = rapid.Float64Range(0, 0.9).Draw(t, "p")
	if rapid.Bool().Draw(t, "authors") {
		cfg.K, cfg.Ti = 50, 12*time.Second
	}
	return cfg
}

func genInput(t *rapid.T, after Input) Input {
	dt := time.Duration(rapid.Int64Range(0, 3e9).Draw(t, "dt"))
	done := after.Done + rapid.Float64Range(-1, 20).Draw(t, "gained")
	return Input{
		At: after.At.Add(dt), Dt: dt, Done: max(0, done),
		Runnable: rapid.IntRange(0, 64).Draw(t, "runnable"),
		Min:      units.Cores(rapid.Float64Range(0, 0.5).Draw(t, "min")),
		Max:      units.Cores(rapid.OneOf(rapid.Float64Range(0, 64), rapid.Just(math.Inf(1))).Draw(t, "max")),
		Used:     units.Cores(rapid.Float64Range(0, 64).Draw(t, "used")),
	}
}

// Whatever is measured, the request is a number within [Min, min(Max,
// Runnable)], Min winning, and a State goes through JSON unchanged: two
// controllers, one of them saved and restored at every step, always agree.
func TestRequestsAreBoundedAndStatesRestoreExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, tg := genConfig(t), genTarget(t)
		c, err := New(cfg, tg, units.Cores(rapid.OneOf(rapid.Float64Range(0, 64), rapid.Just(math.Inf(1))).Draw(t, "granted")))
		if err != nil {
			t.Fatal(err)
		}
		in := Input{At: tg.Start, Done: tg.Done}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			saved, err := json.Marshal(c.State())
			if err != nil {
				t.Fatal(err)
			}
			var s State
			if err := json.Unmarshal(saved, &s); err != nil {
				t.Fatal(err)
			}
			other, err := Restore(cfg, s)
			if err != nil {
				t.Fatal(err)
			}
			in = genInput(t, in)
			out, err := c.Step(in)
			if err != nil {
				t.Fatal(err)
			}
			again, err := other.Step(in)
			if err != nil || again != out {
				t.Fatalf("restored: %+v, %v; want %+v", again, err, out)
			}
			hi := max(in.Min, min(in.Max, units.Cores(in.Runnable)))
			if !(out.Request >= in.Min && out.Request <= hi) {
				t.Fatalf("request %v outside [%v, %v]", out.Request, in.Min, hi)
			}
			for _, f := range []units.Fraction{out.SetPoint, out.Progress} {
				if !(f >= 0 && f <= 1) {
					t.Fatalf("fraction %v", f)
				}
			}
			switch rapid.IntRange(0, 5).Draw(t, "then") {
			case 0:
				cut := units.Cores(rapid.Float64Range(0, 1).Draw(t, "cut")) * out.Request
				c.Granted(cut)
			case 1:
				next := genTarget(t)
				next.Start, next.Deadline = in.At, in.At.Add(next.Deadline.Sub(next.Start))
				c.Retarget(next, out.Request)
			}
		}
	})
}

// More progress never asks for more cores, less time never for fewer (the
// paper's law, one step from the same state).
func TestPIMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := paper(rapid.Float64Range(0, 0.9).Draw(t, "p"))
		length := rapid.Float64Range(5, 500).Draw(t, "length")
		tg := target(rapid.Float64Range(5, 500).Draw(t, "weight"), 1, length)
		granted := units.Cores(rapid.Float64Range(0.1, 8).Draw(t, "granted"))
		request := func(done float64, tg Target) float64 {
			c, _ := New(cfg, tg, granted)
			out, err := c.Step(Input{At: tg.Start.Add(2 * time.Second), Dt: q, Done: done, Runnable: 16, Max: 16})
			if err != nil {
				t.Fatal(err)
			}
			return float64(out.Request)
		}
		a := rapid.Float64Range(0, tg.Weight).Draw(t, "a")
		b := rapid.Float64Range(a, tg.Weight).Draw(t, "b")
		if request(a, tg) < request(b, tg)-1e-9 {
			t.Fatalf("done %v asks for less than done %v", a, b)
		}
		sooner := tg
		sooner.Deadline = tg.Deadline.Add(-time.Second)
		if request(a, sooner) < request(a, tg)-1e-9 {
			t.Fatal("an earlier deadline asks for less")
		}
	})
}

// The paper's law against an oracle: a plain transcription of Eq 17-19 in floating
// point, clamps included.
func TestPIAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := paper(rapid.Float64Range(0, 0.9).Draw(t, "p"))
		do, kf := rapid.Float64Range(1, 1000).Draw(t, "do"), rapid.Float64Range(0.1, 100).Draw(t, "kf")
		tco := rapid.Float64Range(5, 300).Draw(t, "tco")
		c0 := rapid.Float64Range(0, 8).Draw(t, "c0")
		c, err := New(cfg, target(do, kf, tco), units.Cores(c0))
		if err != nil {
			t.Fatal(err)
		}
		gain := do * (1 - cfg.P) / (100 * 0.5 * kf * math.Sqrt(cfg.Eta))
		a := (cfg.Eta + cfg.P - 1) / cfg.Eta
		xc, before, done := c0/gain, 0.0, 0.0
		for k := 1; float64(k)*0.5 < tco-0.5; k++ {
			done += rapid.Float64Range(0, 2*do/tco).Draw(t, "gained") * 0.5
			e := 100*(float64(k)*0.5/tco) - 100*min(1, done/do)
			xc += (1 - a) * before
			want := gain*xc + gain*e
			if clamped := min(max(want, 0.1), 4); clamped != want {
				want = clamped
				xc = want/gain - e
			}
			before = e
			out, err := c.Step(Input{At: units.Instant(0).Add(time.Duration(k) * q), Dt: q, Done: done, Runnable: 4, Min: 0.1, Max: 8})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(float64(out.Request)-want) > 1e-6*(1+want) {
				t.Fatalf("step %d: request %v, want %v", k, out.Request, want)
			}
		}
	})
}

// A refused sample changes nothing and returns the last good output.
func TestStepRefusesBadSamples(t *testing.T) {
	good := Input{At: 2e9, Dt: q, Done: 1, Runnable: 2, Min: 0.1, Max: 4, Used: 1}
	for name, spoil := range map[string]func(*Input){
		"done NaN":      func(in *Input) { in.Done = math.NaN() },
		"done Inf":      func(in *Input) { in.Done = math.Inf(1) },
		"done negative": func(in *Input) { in.Done = -1 },
		"used NaN":      func(in *Input) { in.Used = units.Cores(math.NaN()) },
		"used Inf":      func(in *Input) { in.Used = units.Unlimited },
		"used negative": func(in *Input) { in.Used = -1 },
		"min Inf":       func(in *Input) { in.Min = units.Unlimited },
		"max NaN":       func(in *Input) { in.Max = units.Cores(math.NaN()) },
		"max negative":  func(in *Input) { in.Max = -1 },
		"runnable":      func(in *Input) { in.Runnable = -1 },
		"dt negative":   func(in *Input) { in.Dt = -1 },
		"time travel":   func(in *Input) { in.At = 1e9 },
	} {
		for _, law := range Laws() {
			cfg := Default()
			cfg.Law = law
			c := mustNew(t, cfg, target(20, 1, 20), 1)
			want := mustStep(t, c, good)
			before := c.State()
			in := good
			in.At += 1e9
			spoil(&in)
			out, err := c.Step(in)
			if err == nil {
				t.Errorf("%s, %s: no error", law, name)
			}
			if out != want {
				t.Errorf("%s, %s: output %+v, want the last good %+v", law, name, out, want)
			}
			if diff := cmp.Diff(before, c.State()); diff != "" {
				t.Errorf("%s, %s: the state changed: %s", law, name, diff)
			}
		}
	}
}

// Lost work (a failed task) is no kick: the request goes on from where it was.
func TestLostWorkIsNoKick(t *testing.T) {
	for _, law := range Laws() {
		cfg := Default()
		cfg.Law = law
		c := mustNew(t, cfg, target(40, 1, 40), 1)
		for k := 1; k <= 20; k++ {
			in := wide(k, 0.5*float64(k))
			in.Used = 1
			mustStep(t, c, in)
		}
		before := c.State().Output.Request
		in := wide(21, 9)
		in.Used = 1
		after := mustStep(t, c, in).Request
		near(t, law+": request after the loss", float64(after), float64(before), 0.12)
		if after < before {
			t.Errorf("%s: request fell from %v to %v although work was lost", law, before, after)
		}
	}
}

// Another law takes a running stage over without a jump.
func TestRestoreWithAnotherLaw(t *testing.T) {
	pi := paper(0.3)
	c := mustNew(t, pi, target(40, 1, 40), 1)
	for k := 1; k <= 20; k++ {
		in := wide(k, 0.45*float64(k))
		in.Used = 0.9
		mustStep(t, c, in)
	}
	request := float64(c.State().Output.Request)
	faster := pi
	faster.Eta = 5
	for name, cfg := range map[string]Config{"pacer": Default(), "other gains": faster} {
		other, err := Restore(cfg, c.State())
		if err != nil {
			t.Fatal(err)
		}
		in := wide(20, 9)
		in.Dt = 0
		near(t, name+": request", float64(mustStep(t, other, in).Request), request, 1e-9)
	}
}

func TestConfigFaults(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("default: %v", err)
	}
	bad := Config{Law: "bang-bang", Phi: 2, P: 1, Eta: 1, Interval: 0, K: -1, Ti: -1}
	err := bad.Validate()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 7 {
		t.Errorf("faults are %v, want all seven", err)
	}
	if _, err := New(bad, Target{}, 0); err == nil {
		t.Error("New takes a bad configuration")
	}
	for _, tg := range []Target{{Weight: math.NaN()}, {Rate: -1}, {Done: math.Inf(1)}, {Init: -1}} {
		if _, err := New(Default(), tg, 1); err == nil {
			t.Errorf("New takes %+v", tg)
		}
	}
	if _, err := Restore(Default(), State{XC: math.NaN()}); err == nil {
		t.Error("Restore takes a state that is not finite")
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	for _, law := range Laws() {
		cfg := Default()
		cfg.Law = law
		c := mustNew(t, cfg, target(1e6, 1, 1e6), 1)
		k := 0
		if n := testing.AllocsPerRun(1000, func() {
			k++
			in := wide(k, 0.5*float64(k))
			in.Used, in.Max = 1, 1.2
			if _, err := c.Step(in); err != nil {
				t.Fatal(err)
			}
			c.Granted(0.9)
		}); n != 0 {
			t.Errorf("%s: %v allocations a step", law, n)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, law := range Laws() {
		b.Run(law, func(b *testing.B) {
			cfg := Default()
			cfg.Law = law
			c, _ := New(cfg, target(1e9, 1, 1e9), 1)
			b.ReportAllocs()
			k := 0
			for b.Loop() {
				k++
				if _, err := c.Step(Input{At: units.Instant(k) * 5e8, Dt: q, Done: 0.5 * float64(k), Runnable: 4, Min: 0.1, Max: 4, Used: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A first rate rests on CPU time that is measured: out of next to none it would
// overflow, and good samples would be refused from then on.
func TestARateIsNotLearnedFromNoTime(t *testing.T) {
	cfg := Default()
	cfg.Law = LawPI
	c, err := New(cfg, Target{Deadline: units.Instant(time.Minute), Weight: 10}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, used := range []units.Cores{5e-324, 0, 1} {
		in := Input{At: units.Instant(i+1) * units.Instant(time.Second), Dt: time.Second, Done: float64(i + 1), Runnable: 4, Max: 4, Used: used}
		if _, err := c.Step(in); err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
	if rate := c.s.Estimate.rate(&c.s.Target); rate < 0.5 || rate > 5 {
		t.Errorf("rate %v, want about 1 per core-second", rate)
	}
}
