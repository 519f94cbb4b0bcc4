package shaped

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/sparkpacer/pacer/sim/des"
	"github.com/sparkpacer/pacer/units"
)

// app is an application that comes.
type app struct {
	id            int
	arrival       units.Instant
	core, elastic int
	request       float64 // Of a component.
	work          float64 // In component-seconds.
	// failures are those of its runs so far.
	failures int
}

const (
	period      = 10 * time.Minute
	machineGB   = 128.0
	requestMost = 32.0 // A few dozen GB.
	elasticOf   = 0.6  // The part of applications with elastic components: the prototype's.
	burstPart   = 0.8  // Of the gaps between arrivals, which are a tenth of the mean.
	timeMedian  = 40   // Periods.
	timeSigma   = 0.8
	timeMost    = 1000
	// load is what applications reserve over what the machines have until the last one comes.
	load = 2.8
)

// trace draws applications for so many machines.
func trace(n, machines int, seed uint64) []app {
	r := des.Random(seed, "applications")
	all, at, reserved := make([]app, n), 0.0, 0.0
	arrivals := make([]float64, n)
	for i := range all {
		a := app{id: i, core: 1 + r.IntN(6), request: logUniform(r, 1, requestMost)}
		if r.Float64() < elasticOf {
			a.core, a.elastic = 1+r.IntN(3), 1+r.IntN(6)
		}
		a.request = min(a.request, 0.25*machineGB*float64(machines)/float64(a.core))
		periods := min(timeMost, timeMedian*math.Exp(timeSigma*r.NormFloat64()))
		a.work = max(0.1, periods) * period.Seconds() * float64(a.core+a.elastic)
		reserved += a.work * a.request
		all[i], arrivals[i] = a, at
		if r.Float64() < burstPart {
			at += 0.1 * r.ExpFloat64()
		} else {
			at += (1 - 0.1*burstPart) / (1 - burstPart) * r.ExpFloat64()
		}
	}
	stretch := reserved / (load * machineGB * float64(machines)) / max(arrivals[n-1], 1e-9)
	for i := range all {
		all[i].arrival = units.Instant(arrivals[i] * stretch * 1e9)
	}
	return all
}

func logUniform(r *rand.Rand, least, most float64) float64 {
	return least * math.Exp(r.Float64()*math.Log(most/least))
}

// course is how a component's use goes, as a part of its request: one of three shapes around a level, and swells.
type course struct {
	r       *rand.Rand
	kind    int
	level   float64
	next    float64 // Of steps the use, of a wander the deviation.
	left    int     // Periods until another step.
	peak    float64 // Of a swell, 0 of none; swell is how many periods of it have been.
	swell   int
	swells  bool
	samples []float64
}

// The shapes: levels that hold, a saw tooth of collections, and AR(1).
const (
	steps = iota
	saw
	wander
	shapes
)

// A part of the applications has swells, which rise and fall by even steps; one begins in so many of their periods.
// noise is by how much a wander moves in a period.
const (
	swelling     = 0.3
	swellPart    = 0.05
	swellPeriods = 8
	noise        = 0.05
)

// newCourse is that of an application, the same in each of its runs.
func newCourse(seed uint64, id int) *course {
	c := &course{r: rand.New(rand.NewPCG(seed, uint64(id)+1))}
	c.level, c.swells = min(0.4, 0.06*math.Exp(0.5*c.r.NormFloat64())), c.r.Float64() < swelling
	if c.kind = c.r.IntN(shapes); c.kind == wander {
		c.level *= 2
	}
	return c
}

// at is the use in a period, from 0 on.
func (c *course) at(i int) float64 {
	for len(c.samples) <= i {
		c.samples = append(c.samples, min(0.95, max(0.005, c.draw()+c.risen())))
	}
	return c.samples[i]
}

// draw is the next sample without swells.
func (c *course) draw() float64 {
	switch c.kind {
	case steps:
		if c.left--; c.left < 0 {
			c.left, c.next = 5+c.r.IntN(40), c.level*(0.5+c.r.Float64())
		}
		return c.next
	case saw:
		const tooth = 12
		return c.level * (0.6 + 0.8*float64(len(c.samples)%tooth)/(tooth-1) + 0.02*c.r.NormFloat64())
	}
	c.next = 0.7*c.next + noise*c.r.NormFloat64()
	return c.level + c.next
}

// risen is what a swell adds.
func (c *course) risen() float64 {
	if c.peak == 0 {
		if c.swells && c.r.Float64() < swellPart {
			c.peak, c.swell = 0.3+0.65*c.r.Float64(), 0
		}
		return 0
	}
	const half = swellPeriods / 2
	c.swell++
	part := 1 - math.Abs(float64(c.swell-half))/half
	if c.swell == swellPeriods {
		c.peak = 0
		return 0
	}
	return c.peak * part
}
