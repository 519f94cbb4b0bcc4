package controller

import "github.com/sparkpacer/pacer/units"

// The law's constants.
const (
	// trim is how much of the distance to the set point is added to the work
	// left: an error decays as (time left)^(1 + trim).
	trim = 1.5
	// shortestHorizon, in intervals, keeps the division by the time left finite
	// and the loop's gain (1 + trim)/shortestHorizon below 1.
	shortestHorizon = 3
	// smoothing is the time constant with which the request follows, in intervals;
	// never more than smoothingShare of the time left.
	smoothing, smoothingShare = 2, 0.1
	// noise is the relative change of the request that is smoothed fully; the more
	// a change exceeds it, the faster it passes.
	noise = 0.25
	// leastPace bounds the request from below, as a share of the pace that the
	// whole stage needs: what looks nearly done may not be.
	leastPace = 0.5
	// leastLeft is the weight that an unfinished task has left at least: a
	// running task never counts as more than 0.95 done.
	leastLeft = 0.05
)

// feedforward is work left over time left; see the package documentation.
type feedforward struct{ cfg Config }

func (l *feedforward) request(s *State, v *view) units.Cores {
	t := &s.Target
	rate := s.Estimate.rate(t)
	if rate <= 0 || t.Weight <= 0 {
		return fallback(s)
	}
	left := max(t.Weight-v.Done-s.Estimate.Hidden, leastLeft*float64(v.Runnable))
	short := v.setPoint*t.Weight - (t.Weight - left)
	horizon := max(v.left-tail(float64(s.Level), rate, v.Runnable), shortestHorizon*v.interval)
	want := max(0, left+trim*short) / rate / horizon

	span := l.cfg.Phi * t.Deadline.Sub(t.Start).Seconds()
	want = max(want, leastPace*max(0, t.Weight-t.Done)/rate/span)
	if v.left < shortestHorizon*v.interval {
		// Too little time for a correction downwards to be worth the risk.
		want = max(want, float64(s.Level))
	}
	return l.follow(s, want, v)
}

// follow moves the request towards want, so that noise of the measurement does
// not become quota changes. The level never leaves what can be used.
func (l *feedforward) follow(s *State, want float64, v *view) units.Cores {
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
func (l *feedforward) sync(s *State, c units.Cores, start bool) {
	if start {
		s.Level = c
	}
}

// tail is how much longer, in seconds, the last tasks take than their work over
// the request says, because a task cannot use more than one core: with r tasks
// that end evenly staggered, one task's time times (c - 1)/2r (the sum over the
// last j < c tasks of (1 - j/c)/r).
func tail(c, rate float64, running int) float64 {
	if c <= 1 || running < 1 {
		return 0
	}
	return (min(c, float64(running)) - 1) / (2 * float64(running) * rate)
}
