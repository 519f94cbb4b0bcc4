package controller

import (
	"math"

	"github.com/sparkpacer/pacer/units"
)

// The law's constants.
const (
	// trim is how much of the distance to the set point is added to the work
	// left: an error decays as (time left)^(1 + trim).
	trim = 1.5
	// shortestHorizon, in intervals, keeps the division by the time left finite
	// and the loop's gain (1 + trim)/shortestHorizon below 1.
	shortestHorizon = 3
	// finestHorizon is the same where what is left of each task is seen and they are
	// alike: the whole error of what was predicted is then that of many tasks.
	finestHorizon = 1
	// allowed is how far a stage may lag behind its set point, as a share of it and at least a task. Then the lag is made
	// up for with the time constant catchUp tau_r (Eq 20). After 5 tau_r 2 % of it are left.
	allowed, catchUp = 0.01, 1.25
	// smoothing is the time constant with which the request follows, in intervals;
	// never more than smoothingShare of the time left.
	smoothing, smoothingShare = 2, 0.1
	// noise is the relative change of the request that is smoothed fully; the more
	// a change exceeds it, the faster it passes.
	noise = 0.25
	// leastPace bounds the request from below, as a share of the pace that the
	// whole stage needs: what looks nearly done may not be. leastPaceSeen is the same
	// where what is left of each task is seen; a task that is alone then may be
	// slower, but gets leastOfTask of a core.
	leastPace, leastPaceSeen, leastOfTask = 0.5, 0.2, 0.25
	// leastLeft is the weight that an unfinished task has left at least: a
	// running task never counts as more than 0.95 done.
	leastLeft = 0.05
)

// pacer is work left over time left; see the package documentation.
type pacer struct{ cfg *Config }

func (l *pacer) request(s *State, v view) units.Cores {
	t := &s.Target
	rate := s.Estimate.rate(t)
	if rate <= 0 || t.Weight <= 0 {
		return fallback(s)
	}
	left := max(t.Weight-v.Done-s.Estimate.Hidden, leastLeft*float64(v.Runnable))
	short := v.setPoint*t.Weight - (t.Weight - left)
	least := shortestHorizon * v.interval
	if v.fine() {
		least = finestHorizon * v.interval
	}
	var want float64
	if len(v.Chains) > 0 {
		// Each chain has as many cores as one task can use: with these for one core it is the same.
		want = v.width() * coresFor(v.Chains, left+trim*max(0, short), rate*v.width()*max(v.left, least))
	} else {
		horizon := max(v.left-tail(float64(s.Level)/v.width(), rate*v.width(), v.Runnable), least)
		want = (left + trim*short) / rate / horizon
	}
	if lag := short - max(allowed*t.Weight, 1); lag > 0 {
		want = max(want, (left/max(v.left, least)+lag/l.catchUp(&v))/rate)
	}
	want = max(0, want) / s.Utilization.share()

	span := l.cfg.Phi * t.Deadline.Sub(t.Start).Seconds()
	pace := max(0, t.Weight-t.Done) / rate / span
	if len(v.Chains) > 0 {
		want = max(want, min(leastPaceSeen*pace, leastOfTask*float64(unfinished(v.Chains))))
	} else {
		want = max(want, leastPace*pace)
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
	return max(catchUp*math.Sqrt(l.cfg.Eta)*v.interval/(1-l.cfg.P), shortestHorizon*v.interval)
}

// follow moves the request towards want, so that noise of the measurement does
// not become quota changes. The level never leaves what can be used.
func (l *pacer) follow(s *State, want float64, v *view) units.Cores {
	usable := v.usable().Clamp(v.Min, manyCores)
	level := float64(s.Level.Clamp(0, usable))
	tau := min(smoothing*v.interval, smoothingShare*max(0, v.left))
	if level > 0 {
		off := (want - level) / (noise * level)
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
