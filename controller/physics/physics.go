package physics

import (
	"cmp"
	"math"
	"slices"
)

// LagInterval is the interval that p of Eq 8 is for, in seconds.
const LagInterval = 0.5

// Divide lowers shares, which are what each may use at most, so that they add up to
// cores: max-min by weight, the least share for its weight first. Shares that add up to no
// more are left as they are. Weights are positive; nil is the same for all. order is room to
// work in, which is returned to be used again; it may be nil.
func Divide(shares, weights []float64, cores float64, order []int) []int {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	if sum <= cores {
		return order
	}
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	order = order[:0]
	all := 0.0
	for i := range shares {
		order = append(order, i)
		all += weight(i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[a]/weight(a), shares[b]/weight(b)) })
	for n, i := range order {
		part := 1.0 // The last one's, whatever rounding has made of the weights.
		if n < len(order)-1 {
			part = weight(i) / all
		}
		shares[i] = min(shares[i], max(0, cores)*part)
		cores -= shares[i]
		all -= weight(i)
	}
	return order
}

// Follow is Eq 8 between two moments: where effective cores are dt seconds after
// they were at, with c obtained in between. p is in [0, 1); with 0 they follow at once.
func Follow(at, c, p, dt float64) float64 {
	if p == 0 {
		return c
	}
	return c + (at-c)*math.Pow(p, dt/LagInterval)
}

// Bent is f with bend k: what c cores of an executor with that many slots are
// worth. Code that fits a bend to measurements calls it as well.
func Bent(c, slots, k float64) float64 {
	if k == 0 {
		return c
	}
	return c * (1 + k) / (1 + k*c/slots)
}
