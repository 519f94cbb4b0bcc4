package sim

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// random returns the source of one part of the world: what it draws depends on
// the seed and its name only, not on what others draw.
func random(seed uint64, name string) *rand.Rand {
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

// around draws a factor whose logarithm has the given standard deviation and
// whose mean is 1.
func around(r *rand.Rand, sigma float64) float64 {
	if sigma == 0 {
		return 1
	}
	return math.Exp(sigma*r.NormFloat64() - sigma*sigma/2)
}

// zipf returns the weights of n tasks that hold keys of Zipf-distributed
// frequency with exponent s: the k-th most frequent of twice as many keys as
// tasks has 1/k^s of the sum (source section 7.1.1). The keys are the integers in
// order of frequency, which Spark's HashPartitioner puts on partition k mod n: the
// largest come first. The weights sum up to n.
func zipf(n int, s float64) []float64 {
	keys := 2 * n
	weights := make([]float64, n)
	sum := 0.0
	for k := 1; k <= keys; k++ {
		sum += math.Pow(float64(k), -s)
	}
	for k := 1; k <= keys; k++ {
		weights[k%n] += float64(n) * math.Pow(float64(k), -s) / sum
	}
	return weights
}
