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

// Drain is how long so many bytes take from a moment on over a device of a rate, beside others that run then. Whatever
// these do not get in their time they want after it.
func Drain(bytes, from, rate float64, device int, others []Span) float64 {
	if !(bytes > 0) || !(rate > 0) {
		return 0
	}
	rest := make([]float64, len(others))
	for i, s := range others {
		rest[i] = s.Rate[device] * (s.To - max(s.From, from))
	}
	for now := from; ; {
		var wants []float64
		next := math.Inf(1)
		for i, s := range others {
			if s.From > now && rest[i] > 0 {
				next = min(next, s.From)
			} else if rest[i] > 0 {
				wants = append(wants, s.Rate[device])
			}
		}
		left := Left(rate, wants)
		for i, s := range others {
			if s.From <= now && rest[i] > 0 {
				next = min(next, now+rest[i]/min(s.Rate[device], left))
			}
		}
		if end := now + bytes/left; end <= next {
			return end - from
		}
		bytes -= left * (next - now)
		for i, s := range others {
			if s.From > now || !(rest[i] > 0) {
				continue
			}
			if rest[i] -= min(s.Rate[device], left) * (next - now); rest[i] < rate*resolution {
				rest[i] = 0
			}
		}
		now = next
	}
}

// resolution is a time, in seconds, in which nothing is moved that counts.
const resolution = 1e-6
