package hosts

import (
	"math"
	"math/rand/v2"

	"github.com/sparkpacer/pacer/deciders/consolidation"
	"github.com/sparkpacer/pacer/sim/des"
)

// Use is a part of CPU and memory.
type Use = consolidation.Use

// Load says what VMs use of what they were given.
type Load struct {
	// Mean is what all use in the mean, Spread how far apart the VMs' own means are: the standard deviation of their
	// logarithms.
	Mean   Use
	Spread float64
	// Wave is how far the demand of all rises and falls, as a part of it, Period in how many rounds.
	Wave   Use
	Period int
	// Noise is the standard deviation of what comes on top, Stays the part of it that is there a round later.
	Noise Use
	Stays float64
	// Bursts is the part of its time in which a VM uses Height more, for Length rounds in the mean.
	Bursts, Length float64
	Height         Use
}

// Demands is the load of the source's experiments, made up.
func Demands() Load {
	return Load{Mean: Use{CPU: 0.25, Memory: 0.45}, Spread: 0.4, Wave: Use{CPU: 0.05, Memory: 0.05}, Period: 720,
		Noise: Use{CPU: 0.08, Memory: 0.05}, Stays: 0.9, Bursts: 0.2, Length: 8, Height: Use{CPU: 0.6, Memory: 0.2}}
}

// DrawnDemands are those with bursts that are drawn: how often, how long and how high.
func DrawnDemands(seed uint64) Load {
	l, r := Demands(), des.Random(seed, "bursts")
	l.Bursts, l.Length = 0.05+0.35*r.Float64(), 2+28*r.Float64()
	height := func(mean float64) float64 { return r.Float64() * min(0.8, 0.8*mean/l.Bursts) } // Some of the mean is left.
	l.Height = Use{CPU: height(l.Mean.CPU), Memory: height(l.Mean.Memory)}
	return l
}

// demand is what makes up the use of one VM.
type demand struct {
	own, noise Use
	bursts     bool
}

// begin draws a VM's own mean.
func (l Load) begin(r *rand.Rand) demand {
	around := func(mean, height float64) float64 {
		return min(0.9, (mean-l.Bursts*height)*des.Around(r, l.Spread))
	}
	return demand{own: Use{CPU: around(l.Mean.CPU, l.Height.CPU), Memory: around(l.Mean.Memory, l.Height.Memory)},
		bursts: r.Float64() < l.Bursts}
}

// step is what a VM uses in a round, as a part of what it was given.
func (l Load) step(d *demand, round int, r *rand.Rand) Use {
	fresh := math.Sqrt(1 - l.Stays*l.Stays)
	d.noise = Use{CPU: l.Stays*d.noise.CPU + fresh*l.Noise.CPU*r.NormFloat64(),
		Memory: l.Stays*d.noise.Memory + fresh*l.Noise.Memory*r.NormFloat64()}
	ends := 1 / l.Length
	if chance := r.Float64(); d.bursts {
		d.bursts = chance >= ends
	} else { // As many begin as end.
		d.bursts = chance < ends*l.Bursts/(1-l.Bursts)
	}
	wave := math.Sin(2 * math.Pi * float64(round) / float64(l.Period))
	u := Use{CPU: d.own.CPU * (1 + l.Wave.CPU*wave), Memory: d.own.Memory * (1 + l.Wave.Memory*wave)}.Plus(d.noise)
	if d.bursts {
		u = u.Plus(l.Height)
	}
	return Use{CPU: min(max(u.CPU, 0.01), 1), Memory: min(max(u.Memory, 0.01), 1)}
}
