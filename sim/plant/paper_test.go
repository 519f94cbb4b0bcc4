package plant

import (
	"math"
	"testing"
)

func TestZipfWeightsAreThoseOfTheLaw(t *testing.T) {
	for _, s := range []float64{1, 2, 3} {
		w := zipf(1000, s)
		sum, h := 0.0, 0.0
		for _, x := range w {
			sum += x
		}
		for k := 1; k <= 2000; k++ {
			h += math.Pow(float64(k), -s)
		}
		if math.Abs(sum-1000) > 1e-6 || math.Abs(w[1]-1000*(1+math.Pow(1001, -s))/h) > 1e-6 {
			t.Errorf("s = %v: sum %v, largest %v", s, sum, w[1])
		}
	}
}
