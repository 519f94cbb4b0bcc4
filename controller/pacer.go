package controller

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// pacer is work left over time left; see the package documentation.
type pacer struct{ cfg *Config }

func (l *pacer) request(s *State, v view) units.Cores {
	t := &s.Target
	rate := s.Estimate.rate(t)
	if rate <= 0 || t.Weight <= 0 {
		return fallback(s)
	}
	left := max(t.Weight-v.Done-s.Estimate.Hidden, params.Law.LeastLeft*float64(v.Runnable))
	short := v.setPoint*t.Weight - (t.Weight - left)
	least := params.Law.ShortestHorizon * v.interval
	if v.fine() {
		least = params.Law.FinestHorizon * v.interval
	}
	var want float64
	if len(v.Chains) > 0 {
		// Each chain has as many cores as one task can use: with these for one core it is the same.
		want = v.width() * coresFor(v.Chains, left+params.Law.Trim*max(0, short), rate*v.width()*max(v.left, least))
	} else {
		horizon := max(v.left-tail(float64(s.Level)/v.width(), rate*v.width(), v.Runnable), least)
		want = (left + params.Law.Trim*short) / rate / horizon
	}
	if lag := short - max(params.Law.Allowed*t.Weight, 1); lag > 0 {
		want = max(want, (left/max(v.left, least)+lag/l.catchUp(&v))/rate)
	}
	want = max(0, want) / s.Utilization.share()

	span := l.cfg.Phi * t.Deadline.Sub(t.Start).Seconds()
	pace := max(0, t.Weight-t.Done) / rate / span
	if len(v.Chains) > 0 {
		want = max(want, min(params.Law.LeastPaceSeen*pace, params.Law.LeastOfTask*float64(unfinished(v.Chains))))
	} else {
		want = max(want, params.Law.LeastPace*pace)
	}
	if v.left < least {
		// Too little time for a correction downwards to be worth the risk.
		want = max(want, float64(s.Level))
	}
	return l.follow(s, want, &v)
}

// unfinished is how many chains have anything left.
func unfinished(chains []float64) int {
	n := len(chains)
	for n > 0 && chains[n-1] <= 0 {
		n--
	}
	return n
}

// catchUp is the time constant with which a lag is made up for, in seconds.
func (l *pacer) catchUp(v *view) float64 {
	return max(params.Law.CatchUp*math.Sqrt(l.cfg.Eta)*v.interval/(1-l.cfg.P), params.Law.ShortestHorizon*v.interval)
}

// follow moves the request towards want, so that noise of the measurement does
// not become quota changes. The level never leaves what can be used.
func (l *pacer) follow(s *State, want float64, v *view) units.Cores {
	usable := v.usable().Clamp(v.Min, manyCores)
	level := float64(s.Level.Clamp(0, usable))
	tau := min(params.Law.Smoothing*v.interval, params.Law.SmoothingShare*max(0, v.left))
	if level > 0 {
		off := (want - level) / (params.Law.Noise * level)
		tau /= 1 + off*off
	}
	if v.dt > 0 {
		level += (want - level) * v.dt / (tau + v.dt)
	}
	s.Level = units.Cores(level).Clamp(0, usable)
	return units.Cores(level)
}

// sync sets the level where a target begins. A cut in between changes nothing:
// the law looks at what is left, and CPU not granted is work left.
func (l *pacer) sync(s *State, c units.Cores, start bool) {
	if start {
		s.Level = c
	}
}
