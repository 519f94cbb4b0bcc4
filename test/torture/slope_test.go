package torture

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSlopeIsThatOfLeastSquares(t *testing.T) {
	// By hand: means 2 and 3, 10/10, residuals 0.
	if slope, err := Slope([]float64{0, 1, 2, 3, 4}, []float64{1, 2, 3, 4, 5}); slope != 1 || err != 0 {
		t.Errorf("slope %v, error %v", slope, err)
	}
	// Means 1 and 1, 1.5/2 with residuals 0.25, -0.5, 0.25: sqrt(0.375/1/2).
	slope, err := Slope([]float64{0, 1, 2}, []float64{0.5, 0.5, 2})
	if slope != 0.75 || math.Abs(err-math.Sqrt(0.375/2)) > 1e-12 {
		t.Errorf("slope %v, error %v", slope, err)
	}
	for _, few := range [][]float64{{}, {1, 2}, {3, 3, 3}} {
		if slope, err := Slope(few, make([]float64, len(few))); slope != 0 || err != 0 {
			t.Errorf("of %v: slope %v, error %v", few, slope, err)
		}
	}
}

// Noise is flat, a leak in the same noise is not.
func TestNoiseIsFlatAndALeakIsNot(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var x, noise, leak []float64
	for i := range 360 {
		x = append(x, float64(i)/720)
		noise = append(noise, 100+random.NormFloat64())
		leak = append(leak, noise[i]+8*x[i])
	}
	if slope, err := Slope(x, noise); !Flat(slope, err, 1) {
		t.Errorf("noise grows by %v +- %v", slope, err)
	}
	if slope, err := Slope(x, leak); Flat(slope, err, 1) || math.Abs(slope-8) > 4*err {
		t.Errorf("a leak of 8 grows by %v +- %v", slope, err)
	}
}
