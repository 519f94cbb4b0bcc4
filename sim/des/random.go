package des

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Random returns the source of one part of the world: what it draws depends on
// the seed and its name only, not on what others draw.
func Random(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	r := &struct { // In one piece, for a world draws from thousands of sources in turn.
		rand.Rand
		pcg rand.PCG
	}{}
	r.pcg.Seed(seed, h.Sum64())
	r.Rand = *rand.New(&r.pcg)
	return &r.Rand
}

// Around draws a factor whose logarithm has the given standard deviation and
// whose mean is 1.
func Around(r *rand.Rand, sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return math.Exp(sigma*r.NormFloat64() - sigma*sigma/2)
}
