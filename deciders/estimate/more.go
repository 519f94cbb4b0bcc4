package estimate

import "math"

// Before its own queries and jobs say, a run has one that its profile lacks in so many that this has: moreOf, as if
// that many had been seen in moreIn.
const moreOf, moreIn = 0.1, 5.0

// mostFurther is how many come at most in so many further ones with that certainty, where shape have come in rate.
func mostFurther(shape, rate, further, certainty float64) (n int) {
	none := rate / (rate + further)
	likely := math.Pow(none, shape)
	for below := likely; below < certainty && n < mostLegs; n++ {
		likely *= (shape + float64(n)) / float64(n+1) * (1 - none)
		below += likely
	}
	return n
}

// mostLegs bounds what may still come.
const mostLegs = 1000
