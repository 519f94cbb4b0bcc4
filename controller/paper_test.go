package controller

import (
	"math"
	"math/cmplx"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/units"
)

const q = 500 * time.Millisecond

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v +- %v", what, got, want, tolerance)
	}
}

func paper(p float64) Config {
	cfg := Default()
	cfg.Law, cfg.P = LawPI, p
	return cfg
}

// target is a stage of weight units that takes length seconds.
func target(weight, rate, length float64) Target {
	return Target{Deadline: units.Instant(0).Add(units.Seconds(length).Duration()), Weight: weight, Rate: rate}
}

func mustNew(t *testing.T, cfg Config, tg Target, granted units.Cores) *Controller {
	t.Helper()
	c, err := New(cfg, tg, granted)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustStep(t *testing.T, c *Controller, in Input) Output {
	t.Helper()
	out, err := c.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wide is an input that clamps nothing at step k.
func wide(k int, done float64) Input {
	return Input{At: units.Instant(0).Add(time.Duration(k) * q), Dt: q, Done: done, Runnable: 100, Max: units.Unlimited}
}

// Sec 5, Fig 5: a ramp from what is done at the start to 1 at phi tco.
func TestFig5SetPoint(t *testing.T) {
	tg := target(10, 1, 100)
	for _, tc := range []struct {
		phi, done, at, want float64
	}{
		{1, 0, 0, 0}, {1, 0, 50, 0.5}, {1, 0, 100, 1}, {1, 0, 120, 1}, {1, 0, -3, 0},
		{0.8, 0, 40, 0.5}, {0.8, 0, 80, 1}, {1, 5, 0, 0.5}, {1, 5, 50, 0.75},
	} {
		tg.Done = tc.done
		got := tg.setPoint(tc.phi, units.Instant(0).Add(units.Seconds(tc.at).Duration()))
		near(t, "set point", float64(got), tc.want, 1e-12)
	}
	past := Target{Start: 5, Deadline: 5, Weight: 1}
	if got := past.setPoint(1, 5); got != 1 {
		t.Errorf("set point of a passed deadline = %v, want 1", got)
	}
}

// Eq 8-10: the plant of this package's tests is the paper's. The simulator's is tested
// in package sim.
func TestEq8To10OnTheTestsPlant(t *testing.T) {
	const p, kf, do, cores = 0.3, 2.0, 100.0, 1.5
	pl := &plant{p: p, gain: 1, rate: kf, slots: 4, weight: do}
	rho, a := 0.0, 0.0
	for k := range 20 {
		pl.advance(cores, q.Seconds())
		rho = p*rho + (1-p)*kf*cores
		a += 100 * q.Seconds() / do * rho
		near(t, "a% at step "+string(rune('a'+k)), 100*pl.done/do, a, 1e-6)
	}
}

// Eq 13: C(z) = K (z-a)/(z-1) answers a step of the error with K, then
// ramps by K(1-a) a step.
func TestEq13StepResponse(t *testing.T) {
	cfg := paper(0.3)
	tg := target(100, 1, 1e6)
	c := mustNew(t, cfg, tg, 50)
	k, a := cfg.gains(tg.Weight, tg.Rate)
	const e = -10 // per cent: progress is 10 % ahead
	for i := range 6 {
		out := mustStep(t, c, wide(0, 10))
		near(t, "request", float64(out.Request), 50+k*e*(1+float64(i)*(1-a)), 1e-9)
	}
}

// Eq 14-15 and 17: the gains are those that make tau_C = eta tau_P with the
// cut-off at the geometric mean of both, where the loop's gain is 1.
func TestEq14To17Gains(t *testing.T) {
	for _, p := range []float64{0, 0.3, 0.7} {
		for _, eta := range []float64{4, 10, 20} {
			cfg := paper(p)
			cfg.Eta = eta
			const do, kf = 40.0, 2.5
			k, a := cfg.gains(do, kf)
			near(t, "K", k, do*(1-p)/(100*0.5*kf*math.Sqrt(eta)), 1e-12)
			near(t, "a", a, (eta+p-1)/eta, 1e-12)
			tauP, tauC := 0.5/(1-p), 0.5/(1-a)
			near(t, "tau_C/tau_P", tauC/tauP, eta, 1e-9)
			wc := 1 / (math.Sqrt(eta) * tauP)
			near(t, "geometric mean", wc, math.Sqrt(1/tauC/tauP), 1e-12)
			muP, muC := 100*kf/do, k*(1-a)/0.5
			s := complex(0, wc)
			loop := complex(muP, 0) / (s * (1 + s*complex(tauP, 0))) * complex(muC, 0) * (1 + s*complex(tauC, 0)) / s
			near(t, "|L(jw_c)|", cmplx.Abs(loop), 1, 1e-9)
			margin := math.Pi + cmplx.Phase(loop)
			near(t, "phase margin (Eq 16)", margin, math.Atan(math.Sqrt(eta))-math.Atan(1/math.Sqrt(eta)), 1e-9)
		}
	}
}

// Eq 16: eta = 10 gives 55 degrees, and sampling (3/2 q w_c, the stability bound
// of section 5) takes less than that.
func TestEq16PhaseMargin(t *testing.T) {
	cfg := Default()
	margin := math.Atan(math.Sqrt(cfg.Eta)) - math.Atan(1/math.Sqrt(cfg.Eta))
	near(t, "phase margin in degrees", margin*180/math.Pi, 55, 0.5)
	wc := (1 - cfg.P) / (math.Sqrt(cfg.Eta) * q.Seconds())
	if bound := 2 * margin / (3 * wc); q.Seconds() > bound {
		t.Errorf("q = %v is above the bound %v s", q, bound)
	}
}

// poles are the roots of (z-p)(z-1)^2 + loop (1-p) (z-a): plant and controller
// closed, with the true gain as a multiple of the nominal one.
func poles(cfg Config, gain float64) []complex128 {
	k, a := cfg.gains(1, 1)
	loop := k * 100 * cfg.Interval.Seconds() * (1 - cfg.P) * gain
	p := cfg.P
	f := func(z complex128) complex128 {
		return (z-complex(p, 0))*(z-1)*(z-1) + complex(loop, 0)*(z-complex(a, 0))
	}
	roots := []complex128{1, complex(0.4, 0.9), cmplx.Pow(complex(0.4, 0.9), 2)}
	for range 500 { // Durand-Kerner
		for i := range roots {
			d := complex128(1)
			for j := range roots {
				if i != j {
					d *= roots[i] - roots[j]
				}
			}
			roots[i] -= f(roots[i]) / d
		}
	}
	return roots
}

// The closed loop of plant and law "pi". With the nominal gain the poles are .53, .68 and .79
// at p = 0. With 3 times that gain the largest |z| is .98 at p = 0, and less at p = 0.3.
func TestClosedLoopPoles(t *testing.T) {
	for _, want := range []float64{0.53, 0.68, 0.79} {
		found := false
		for _, z := range poles(paper(0), 1) {
			found = found || (math.Abs(real(z)-want) < 0.005 && math.Abs(imag(z)) < 1e-6)
		}
		if !found {
			t.Errorf("no pole at %v among %v", want, poles(paper(0), 1))
		}
	}
	worst := 0.0
	for _, z := range poles(paper(0), 3) {
		worst = max(worst, cmplx.Abs(z))
	}
	near(t, "|z| at 3x gain", worst, 0.98, 0.005)
	for _, z := range poles(paper(0.3), 3) {
		if cmplx.Abs(z) >= 0.98 {
			t.Errorf("p = 0.3, 3x gain: |z| = %v, want the default to be calmer than p = 0", cmplx.Abs(z))
		}
	}
}

// Eq 18, against a transcription of it.
func TestEq18Requests(t *testing.T) {
	cfg := paper(0.3)
	tg := target(60, 1.2, 120)
	c := mustNew(t, cfg, tg, 0.4)
	k, a := cfg.gains(60, 1.2)
	xc, before, done := 0.4/k, 0.0, 0.0
	for i := 1; i <= 100; i++ {
		done += 0.24 * (1 + 0.3*math.Sin(float64(i)))
		e := 100*0.5*float64(i)/120 - 100*done/60
		xc += (1 - a) * before
		out := mustStep(t, c, wide(i, done))
		if want := k*xc + k*e; want >= 0 {
			near(t, "rc", float64(out.Request), want, 1e-9)
		} else {
			t.Fatalf("step %d: the scenario must not clamp, want %v", i, want)
		}
		before = e
	}
}

// Eq 18 after skipped slots: the integral covers the real interval.
func TestEq18SkippedSlots(t *testing.T) {
	each, skipped := mustNew(t, paper(0.3), target(100, 1, 1e6), 50), mustNew(t, paper(0.3), target(100, 1, 1e6), 50)
	mustStep(t, each, wide(0, 5))
	mustStep(t, skipped, wide(0, 5))
	var a Output
	for range 3 {
		a = mustStep(t, each, wide(0, 5))
	}
	in := wide(0, 5)
	in.Dt = 3 * q
	near(t, "request", float64(mustStep(t, skipped, in).Request), float64(a.Request), 1e-9)
}

// Eq 19: no bump at the start, after a clamp, after a cut, with a new target.
func TestEq19Bumpless(t *testing.T) {
	for _, law := range Laws() {
		cfg := Default()
		cfg.Law = law
		c := mustNew(t, cfg, target(40, 1, 40), 1)
		in := wide(1, 0.5)
		in.Used = 1
		out := mustStep(t, c, in)
		near(t, law+": first request", float64(out.Request), 1, 0.02)
	}

	c := mustNew(t, paper(0.3), target(40, 1, 40), 1)
	for k := 1; k <= 20; k++ { // No progress at all: the request would wind up.
		in := wide(k, 0)
		in.Max = 1.5
		if out := mustStep(t, c, in); float64(out.Request) > 1.5 {
			t.Fatalf("request %v above the bound", out.Request)
		}
	}
	s := c.State()
	near(t, "K xC + K e after the clamp", s.K*s.XC+s.K*s.Error, 1.5, 1e-9)

	c.Granted(0.7)
	s = c.State()
	near(t, "K xC + K e after a cut", s.K*s.XC+s.K*s.Error, 0.7, 1e-9)

	c.Retarget(Target{Start: s.At, Deadline: s.At.Add(80 * time.Second), Weight: 30, Rate: 1}, 0.7)
	out := mustStep(t, c, Input{At: s.At, Dt: q, Runnable: 9, Max: 9})
	near(t, "request after a new target", float64(out.Request), 0.7, 1e-9)
}

// Eq 20: 5 tau_r is 11.3 s at p = 0.3, and the PI needs it: a disturbance has lost 95 % of its
// peak after that time.
func TestEq20Settling(t *testing.T) {
	cfg := paper(0.3)
	tau := math.Sqrt(cfg.Eta) * q.Seconds() / (1 - cfg.P)
	near(t, "5 tau_r", 5*tau, 11.3, 0.05)
	tg := target(200, 1, 200)
	c := mustNew(t, cfg, tg, 1)
	done, rho, grant := 4.0, 1.0, units.Cores(1) // 2 % ahead of the ramp
	peak, last := 0.0, 0.0
	for k := 1; k <= int(5*tau/q.Seconds()); k++ {
		done += q.Seconds() * rho
		rho = cfg.P*rho + (1-cfg.P)*float64(grant)
		out := mustStep(t, c, wide(k, done))
		grant = out.Request
		last = math.Abs(float64(out.SetPoint - out.Progress))
		peak = max(peak, last)
	}
	if last > 0.05*peak {
		t.Errorf("error after 5 tau_r is %.4f of a peak of %.4f", last, peak)
	}
}

// Synchronising every tick with the rounded quota in force makes a dead zone of cq/(K(1-a)):
// 4 % for 20 core-seconds, 8 % for 10, at p = 0 (docs/decisions/006).
func TestDeadZoneOfRoundedSync(t *testing.T) {
	const quantum = 0.05
	for _, tc := range []struct{ coreSeconds, zone float64 }{{20, 4}, {10, 8}} {
		cfg := paper(0)
		k, a := cfg.gains(tc.coreSeconds, 1)
		zone := quantum / (k * (1 - a))
		near(t, "dead zone in per cent", zone, tc.zone, 0.1)
		for _, share := range []float64{0.95, 1.05} {
			moves := func(rounded bool) bool {
				c := mustNew(t, cfg, target(tc.coreSeconds, 1, 1e6), 0.5)
				// Behind by share of the zone: the ramp is at 50 %.
				c.s.Target.Done = tc.coreSeconds / 2
				done := tc.coreSeconds * (0.5 - share*zone/100)
				mustStep(t, c, wide(0, done))
				c.Granted(0.5)
				for range 50 {
					out := mustStep(t, c, wide(0, done))
					if float64(out.Request) >= 0.5+quantum-1e-12 {
						return true
					}
					if rounded {
						c.Granted(0.5)
					}
				}
				return false
			}
			if got, want := moves(true), share > 1; got != want {
				t.Errorf("%v core-seconds, %v of the zone, rounded: moved %v, want %v", tc.coreSeconds, share, got, want)
			}
			if !moves(false) {
				t.Errorf("%v core-seconds, %v of the zone, without rounding: did not move", tc.coreSeconds, share)
			}
		}
	}
}

// The authors' published code: K = 50 cores for the whole stage, Ti = 12 s.
func TestTheAuthorsGains(t *testing.T) {
	cfg := paper(0.3)
	cfg.K, cfg.Ti = 50, 12*time.Second
	c := mustNew(t, cfg, target(1000, 0, 1000), 3) // needs no rate
	for i := range 4 {
		out := mustStep(t, c, wide(0, 10)) // 1 % ahead
		near(t, "request", float64(out.Request), 3-50*0.01*(1+float64(i)*0.5/12), 1e-9)
	}
}

// Once the set point is 1, the request is all that the stage can use: min(Max, Runnable).
func TestAfterTheDeadline(t *testing.T) {
	for _, law := range Laws() {
		cfg := Default()
		cfg.Law = law
		c := mustNew(t, cfg, target(100, 1, 10), 1)
		for _, tc := range []struct {
			runnable int
			want     units.Cores
		}{{8, 4}, {3, 3}, {1, 1}, {0, 0.1}} {
			in := Input{At: units.Instant(0).Add(11 * time.Second), Dt: q, Done: 50, Runnable: tc.runnable, Min: 0.1, Max: 4}
			if out := mustStep(t, c, in); out.Request != tc.want || out.SetPoint != 1 {
				t.Errorf("%s, %d runnable: %+v, want request %v", law, tc.runnable, out, tc.want)
			}
		}
		passed := mustNew(t, cfg, Target{Start: 7, Deadline: 7, Weight: 5, Rate: 1}, 0)
		if out := mustStep(t, passed, Input{At: 7, Dt: q, Runnable: 2, Max: 4}); out.Request != 2 {
			t.Errorf("%s, passed deadline: request %v, want 2", law, out.Request)
		}
	}
}

// With weight or rate unknown the request is Eq 7, until a rate has been measured.
func TestUnknownRateStartsWithEq7(t *testing.T) {
	for _, law := range Laws() {
		cfg := Default()
		cfg.Law = law
		tg := target(40, 0, 40)
		tg.Init = 1.5
		c := mustNew(t, cfg, tg, 1.5)
		if out := mustStep(t, c, wide(1, 0)); out.Request != 1.5 {
			t.Errorf("%s: request %v, want Eq 7", law, out.Request)
		}
		in := wide(2, 10) // far ahead of 1/40 of the ramp, 1 core-second used
		in.Used = 2
		mustStep(t, c, in)
		for k := 3; k < 12; k++ {
			in := wide(k, 10)
			in.Min = 0.01
			mustStep(t, c, in)
		}
		if out := c.State().Output; out.Request >= 1.2 {
			t.Errorf("%s: request %v although far ahead: the measured rate is not used", law, out.Request)
		}
		tg.Weight = 0
		c = mustNew(t, cfg, tg, 1.5)
		if out := mustStep(t, c, wide(1, 7)); out.Request != 1.5 {
			t.Errorf("%s, weight unknown: request %v, want Eq 7", law, out.Request)
		}
	}
}
