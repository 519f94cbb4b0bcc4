package devices

import (
	"math"
	"slices"
)

// Span is a stage: when it runs, in seconds, and the rates at which it reads and writes meanwhile. Unknown says that
// nobody has told these.
type Span struct {
	From, To float64
	Rate     Rates
	Unknown  bool
}

// Left is what a device of that rate gives to one that wants all of it, beside others that want so much.
func Left(rate float64, wants []float64) float64 {
	wants = slices.Sorted(slices.Values(wants))
	for i, want := range wants {
		if fair := rate / float64(len(wants)-i+1); want >= fair {
			return fair
		}
		rate -= max(0, want)
	}
	return rate
}

// Drain is how long so many bytes take from a moment on over a device of a rate, beside others that run then.
func Drain(bytes, from, rate float64, device int, others []Span) float64 {
	if !(bytes > 0) || !(rate > 0) {
		return 0
	}
	for now := from; ; {
		var wants []float64
		next := math.Inf(1)
		for _, s := range others {
			if s.From > now {
				next = min(next, s.From)
			} else if s.To > now {
				next = min(next, s.To)
				wants = append(wants, s.Rate[device])
			}
		}
		left := Left(rate, wants)
		if end := now + bytes/left; end <= next {
			return end - from
		}
		bytes -= left * (next - now)
		now = next
	}
}
