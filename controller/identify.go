package controller

import (
	"fmt"
	"math"
	"time"

	"github.com/sparkpacer/pacer/units"
)

// Response is one point of a recorded step response of a stage executor.
type Response struct {
	// At is when it was measured; points are in order of time.
	At units.Seconds
	// Cores is what was in force from the point before to this one.
	Cores units.Cores
	// Done is the weight, or share of the stage, that is done.
	Done float64
}

// Identified is a plant as Eq 8 has it.
type Identified struct {
	// P is the pole per interval, in [0, 1).
	P float64
	// Gain is Kf: what is done per core-second, in the unit of Response.Done.
	Gain float64
	// Fit is the share of the rate's variance that the model explains, at most 1;
	// below a half the response says next to nothing about P.
	Fit float64
	// Points is how many rates it rests on.
	Points int
}

// Identify fits Eq 8 with f(c) = Kf c,
//
//	rho(k) = p rho(k-1) + (1-p) Kf c(k-1),
//
// to a recorded step response, q being the interval of p. It minimises the error of the simulated response (not that of
// predicting a noisy rate from a noisy rate, which would make p too small). For a given p the best Kf is a ratio of two
// sums, so p alone is searched. Points need not be evenly spaced; those with no time between them are skipped, falling
// progress is no rate. It returns an error where the cores were not changed enough or the points are too few or no
// numbers.
func Identify(points []Response, q time.Duration) (Identified, error) {
	if q <= 0 {
		return Identified{}, fmt.Errorf("identify: interval is %v, want more than 0", q)
	}
	r, err := rates(points, q.Seconds())
	if err != nil {
		return Identified{}, fmt.Errorf("identify: %w", err)
	}
	best, at := math.Inf(1), 0.0
	for p := 0.0; p < 1-params.Step.Grid/2; p += params.Step.Grid {
		if e, _ := residual(r, p); e < best {
			best, at = e, p
		}
	}
	// The residual is smooth in p: thirds of the interval around the best point.
	for low, high := max(0, at-params.Step.Grid), min(1-params.Step.Grid/2, at+params.Step.Grid); high-low > 1e-5; {
		a, b := low+(high-low)/3, high-(high-low)/3
		ea, _ := residual(r, a)
		eb, _ := residual(r, b)
		if ea < eb {
			high = b
		} else {
			low = a
		}
		at = (low + high) / 2
	}
	left, gain := residual(r, at)
	if !(gain > 0) {
		return Identified{}, fmt.Errorf("identify: progress does not follow the cores")
	}
	return Identified{P: at, Gain: gain, Fit: fit(r, left), Points: len(r)}, nil
}

// rate is one observed rate of progress: over span intervals with cores in force.
type rate struct{ span, cores, value float64 }

func rates(points []Response, q float64) ([]rate, error) {
	var all []rate
	low, high := math.Inf(1), 0.0
	for i, pt := range points {
		if !finite(float64(pt.At), float64(pt.Cores), pt.Done) || pt.Cores < 0 || pt.Done < 0 {
			return nil, fmt.Errorf("point %d holds %v s, %v cores, %v done: want finite numbers >= 0", i, float64(pt.At),
				float64(pt.Cores), pt.Done)
		}
		if i == 0 {
			continue
		}
		dt := float64(pt.At - points[i-1].At)
		if dt < 0 {
			return nil, fmt.Errorf("point %d is %v s before the one before it", i, -dt)
		}
		gained := pt.Done - points[i-1].Done
		if dt == 0 || gained < 0 {
			continue
		}
		all = append(all, rate{dt / q, float64(pt.Cores), gained / dt})
		low, high = min(low, float64(pt.Cores)), max(high, float64(pt.Cores))
	}
	switch {
	case len(all) < params.Step.Points:
		return nil, fmt.Errorf("%d rates, want at least %d", len(all), params.Step.Points)
	case high < params.Step.Ratio*low || high == 0:
		return nil, fmt.Errorf("cores between %.2f and %.2f: want a step of at least a factor of %v", low, high,
			params.Step.Ratio)
	}
	return all, nil
}

// residual is the sum of squares between the rates and the response of a plant with
// pole p and its best gain, which it returns too. The plant starts settled.
func residual(r []rate, p float64) (sum, gain float64) {
	var xx, xy, yy float64
	x := r[0].cores
	for _, o := range r {
		// The mean of the lag's response over the span, by intervals.
		mean, whole := 0.0, max(1, int(math.Round(o.span)))
		for range whole {
			x = p*x + (1-p)*o.cores
			mean += x / float64(whole)
		}
		xx, xy, yy = xx+mean*mean, xy+mean*o.value, yy+o.value*o.value
	}
	if xx == 0 {
		return yy, 0
	}
	return yy - xy*xy/xx, xy / xx
}

func fit(r []rate, left float64) float64 {
	var mean, all float64
	for _, o := range r {
		mean += o.value / float64(len(r))
	}
	for _, o := range r {
		all += (o.value - mean) * (o.value - mean)
	}
	if all == 0 {
		return 0
	}
	return 1 - left/all
}
