package plant

import (
	"math"

	"github.com/sparkpacer/pacer/controller/physics"
	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// pulse is the page's period: the noise moves on and the page is written, if
// somebody will read it before the next one.
func (p *Process) pulse(now units.Instant) {
	plant := p.Machine.Plant
	period := plant.cfg.Page
	p.pace.beat = p.pace.beat.Add(period)
	if p.pace.beat <= now {
		p.pace.beat += units.Instant(period) * ((now-p.pace.beat)/units.Instant(period) + 1)
	}
	if plant.cfg.Noise > 0 {
		p.pace.wobble = plant.keep*p.pace.wobble + plant.fresh*p.rand.NormFloat64()
		p.pace.factor = max(0.1, 1+plant.cfg.Noise*p.pace.wobble)
	}
	if p.Machine.ReadAt <= p.pace.beat && p.pace.starting == 0 {
		p.publish(now)
	}
}

// noiseTime is the time constant of the noise, in seconds.
const noiseTime = 2

// warmth is the part of its full rate that the compiler of a process has reached.
func (p *Plant) warmth(x *Process) float64 {
	if p.cfg.Warm <= 1 || p.cfg.WarmWork <= 0 {
		return 1
	}
	n := x.pace.worked / (float64(p.cfg.WarmWork) * float64(x.slots))
	if n > 20 {
		return 1
	}
	return 1 - (1-1/p.cfg.Warm)*math.Exp(-n)
}

// plan works out how fast it goes and when something will happen.
func (p *Process) plan(now units.Instant) {
	if p.Exited || !p.busy() {
		p.Machine.Plant.clock.Cancel(&p.timer)
		return
	}
	if p.pace.beat <= now {
		p.pulse(now)
	}
	next := p.pace.beat
	switch {
	case p.pace.starting != 0:
		next = min(next, des.Later(now, p.pace.starting/p.has.got))
	case p.pace.pausing != 0:
		next = min(next, des.Later(now, p.pace.pausing/p.has.got))
	case len(p.tasks.computing) > 0:
		next = min(next, p.planTasks(now))
	}
	for _, t := range p.tasks.waiting {
		next = min(next, t.wake)
	}
	p.Machine.Plant.clock.Set(&p.timer, max(next, now+1))
}

// planTasks sets the rate and returns when the first task will be done.
func (p *Process) planTasks(now units.Instant) units.Instant {
	cfg := &p.Machine.Plant.cfg
	eff := p.has.eff
	if eff != p.has.got {
		// The mean until the next beat, nearly.
		eff = physics.Follow(eff, p.has.got, cfg.Lag, des.Seconds(now, p.pace.beat)/2)
	}
	n := float64(len(p.tasks.computing))
	worth := physics.Bent(eff, float64(p.slots), p.Driver.bend)
	p.pace.rate = worth / n * p.Machine.Speed * p.Machine.Plant.warmth(p) * p.pace.factor * p.Driver.pace
	return min(des.Later(now, (p.tasks.first-p.pace.service)/p.pace.rate),
		des.Later(now, (p.pace.nextPause-p.has.cpu)/p.has.got))
}

// pauseAfter is the CPU time until the next collection.
func (p *Plant) pauseAfter(x *Process) float64 {
	if p.cfg.PauseEvery <= 0 || p.cfg.PauseWork <= 0 {
		return math.Inf(1)
	}
	return float64(p.cfg.PauseEvery) * float64(x.slots) * des.Around(x.rand, 0.3)
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
