package controller

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// pi is the paper's law: C(z) = K (z - a)/(z - 1) of Eq 13, in the incremental
// form of Eq 18 with the state made consistent by Eq 19.
type pi struct{ cfg *Config }

// request is Eq 18. When slots were skipped the integral covers the real
// interval, with the error that was known during it.
func (l *pi) request(s *State, v view) units.Cores {
	if s.K == 0 && !l.tune(s) {
		return fallback(s)
	}
	s.XC += (1 - s.A) * v.dt / v.interval * s.Error
	return units.Cores(s.K*s.XC + s.K*v.err)
}

// sync is Eq 19.
func (l *pi) sync(s *State, c units.Cores, start bool) {
	if start {
		s.K = 0
		l.tune(s)
	}
	if s.K > 0 {
		s.XC = float64(c)/s.K - s.Error
	}
}

// tune sets the gains, by Eq 17 where the configuration does not give them, and
// reports whether it could. Where the nominal rate is unknown the measured one
// takes its place once there is one, without a jump.
func (l *pi) tune(s *State) bool {
	k, a := l.cfg.gains(s.Target.Weight, s.Target.Rate)
	if k == 0 && s.Estimate.ready() {
		k, a = l.cfg.gains(s.Target.Weight, s.Estimate.rate(&s.Target))
	}
	if k == 0 {
		return false
	}
	s.K, s.A = k, a
	s.XC = float64(s.Granted)/k - s.Error
	return true
}

// gains is Eq 17: K in cores per per cent and a; K is 0 when weight or rate is
// unknown.
func (c Config) gains(weight, rate float64) (k, a float64) {
	a = (c.Eta + c.P - 1) / c.Eta
	if c.Ti > 0 {
		a = 1 - c.Interval.Seconds()/c.Ti.Seconds()
	}
	switch {
	case weight <= 0:
		return 0, a
	case c.K > 0:
		return c.K / 100, a
	case rate <= 0:
		return 0, a
	}
	return weight * (1 - c.P) / (100 * c.Interval.Seconds() * rate * math.Sqrt(c.Eta)), a
}

// fallback is what is requested while nothing is known: Eq 7, or whatever can
// be used when the planner had no estimate either.
func fallback(s *State) units.Cores {
	if s.Target.Init > 0 {
		return s.Target.Init
	}
	return manyCores
}
