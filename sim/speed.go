package sim

import (
	"math"

	"github.com/sparkpacer/pacer/physics"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// pulse is the page's period: the noise moves on and the page is written, if
// somebody will read it before the next one.
func (p *process) pulse(now units.Instant) {
	plant := &p.m.w.cfg.Plant
	period := plant.Page
	p.beat = p.beat.Add(period)
	if p.beat <= now {
		p.beat += units.Instant(period) * ((now-p.beat)/units.Instant(period) + 1)
	}
	if plant.Noise > 0 {
		w := p.m.w
		p.wobble = w.keep*p.wobble + w.fresh*p.rand.NormFloat64()
		p.factor = max(0.1, 1+plant.Noise*p.wobble)
	}
	if p.m.tickAt <= p.beat && p.starting == 0 {
		p.publish(now)
	}
}

// noiseTime is the time constant of the noise, in seconds.
const noiseTime = 2

// warmth is the part of its full rate that the compiler has reached.
func (p *process) warmth() float64 {
	plant := &p.m.w.cfg.Plant
	if plant.Warm <= 1 || plant.WarmWork <= 0 {
		return 1
	}
	x := p.worked / (float64(plant.WarmWork) * float64(p.slots))
	if x > 20 {
		return 1
	}
	return 1 - (1-1/plant.Warm)*math.Exp(-x)
}

// plan works out how fast it goes and when something will happen.
func (p *process) plan(now units.Instant) {
	if p.exited || !p.busy() {
		p.m.w.clock.Cancel(&p.timer)
		return
	}
	if p.beat <= now {
		p.pulse(now)
	}
	next := p.beat
	switch {
	case p.starting != 0:
		next = min(next, des.Later(now, p.starting/p.got))
	case p.pausing != 0:
		next = min(next, des.Later(now, p.pausing/p.got))
	case len(p.computing) > 0:
		next = min(next, p.planTasks(now))
	}
	for _, t := range p.waiting {
		next = min(next, t.wake)
	}
	p.m.w.clock.Set(&p.timer, max(next, now+1))
}

// planTasks sets the rate and returns when the first task will be done.
func (p *process) planTasks(now units.Instant) units.Instant {
	cfg := &p.m.w.cfg.Plant
	eff := p.eff
	if eff != p.got {
		// The mean until the next beat, nearly.
		eff = physics.Follow(eff, p.got, cfg.Lag, des.Seconds(now, p.beat)/2)
	}
	n := float64(len(p.computing))
	p.rate = physics.Bent(eff, float64(p.slots), p.driver.bend) / n * p.m.speed * p.warmth() * p.factor * p.driver.pace
	return min(des.Later(now, (p.first-p.service)/p.rate), des.Later(now, (p.nextPause-p.cpu)/p.got))
}

// pauseAfter is the CPU time until the next collection.
func (p *process) pauseAfter() float64 {
	plant := &p.m.w.cfg.Plant
	if plant.PauseEvery <= 0 || plant.PauseWork <= 0 {
		return math.Inf(1)
	}
	return float64(plant.PauseEvery) * float64(p.slots) * des.Around(p.rand, 0.3)
}

// read is how many records a computing task has read: all after the part of its
// work in which it reads.
func (t *task) read(service float64) float64 {
	return t.records * t.sway(min(1, (service-t.start)/(t.work*t.reading())))
}

// reading is the share of its work in which a task reads.
func (t *task) reading() float64 {
	if share := float64(t.run.spec.Read); share > 0 {
		return share
	}
	return 1
}

// sway is the share of its records that a task has read after that share of its
// reading.
func (t *task) sway(x float64) float64 {
	if t.faster == 0 {
		return x
	}
	return (min(x, t.knee) + t.faster*max(0, x-t.knee)) / (t.knee + t.faster*(1-t.knee))
}
