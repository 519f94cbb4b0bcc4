package trace

import (
	"maps"
	"math"
	"slices"
)

// binWidth is how much greater the upper border of a bin is than its lower one.
const binWidth = 1.01

// Distribution sums up values of 0 and more: exact but for the quantiles, which are within 1 %.
type Distribution struct {
	Count     int     `json:"count"`
	Mean      float64 `json:"mean"`
	Least     float64 `json:"min"`
	Most      float64 `json:"max"`
	P5        float64 `json:"p5"`
	P50       float64 `json:"p50"`
	P95       float64 `json:"p95"`
	Variation float64 `json:"variation"`
}

// histogram takes values one by one.
type histogram struct {
	bins         map[int]int
	n            int
	sum, squares float64
	least, most  float64
}

func (h *histogram) add(x float64) {
	if h.n == 0 {
		h.bins, h.least, h.most = map[int]int{}, x, x
	}
	h.n, h.sum, h.squares = h.n+1, h.sum+x, h.squares+x*x
	h.least, h.most = min(h.least, x), max(h.most, x)
	bin := math.MinInt
	if x > 0 {
		bin = int(math.Floor(math.Log(x) / math.Log(binWidth)))
	}
	h.bins[bin]++
}

// quantile is the value below which the part q of all is.
func (h *histogram) quantile(q float64) float64 {
	rank, seen := int(math.Ceil(q*float64(h.n))), 0
	for _, bin := range slices.Sorted(maps.Keys(h.bins)) {
		if seen += h.bins[bin]; seen >= rank {
			if bin == math.MinInt {
				return min(0, h.most)
			}
			return min(h.most, max(h.least, math.Pow(binWidth, float64(bin)+0.5)))
		}
	}
	return 0
}

// sums are the sums of the values; nil without any.
func (h *histogram) sums() *Distribution {
	if h.n == 0 {
		return nil
	}
	n := float64(h.n)
	d := &Distribution{Count: h.n, Mean: h.sum / n, Least: h.least, Most: h.most,
		P5: h.quantile(0.05), P50: h.quantile(0.5), P95: h.quantile(0.95)}
	if d.Mean != 0 {
		d.Variation = math.Sqrt(max(0, h.squares/n-d.Mean*d.Mean)) / math.Abs(d.Mean)
	}
	return d
}
